/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of DNS queries: a message, how it is wrapped, the reason expected; and every answer,
 * byte by byte. A new case is one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "support/dns.h"
#include "support/rig.h"

/* What a row leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static struct rig rig;
static int program;

#define COUNTS	  "0001 0000 0000 0000 "
#define ASK(name) "1234 0100 " COUNTS "'" name "' 00 0001 0001 "
/* With labels in hexadecimal, the root too. */
#define ASK_RAW(labels) "1234 0100 " COUNTS labels " 0001 0001 "
#define ASK_EDNS(name)	"1234 0100 0001 0000 0000 0001 '" name "' 00 0001 0001 "
#define OPT(fixed)	"00 0029 " fixed " "

/* Extension headers of 8 bytes: what is next, then the rest. */
#define PADS	 " 00 0104 00000000 "
#define TO_UDP	 "11" PADS
#define THREE(x) x x x

struct row {
	const char *name;
	const char *message;
	enum xb_reason reason;
	struct dns_shape shape;
	void (*alter)(struct dns_frame *frame);
	int only; /* 4 or 6; 0: both */
};

static void check_reason(const char *name, const struct dns_frame *frame, enum xb_reason reason)
{
	uint32_t expected = xb_reason_drops(reason)	? XDP_DROP
			    : xb_reason_answers(reason) ? XDP_TX
							: XDP_PASS;
	struct xb_counts before, after;
	uint8_t out[DNS_FRAME_MAX];
	uint32_t verdict, size = sizeof(out);

	rig_counts(&rig, &before);
	verdict = rig_run_out(program, frame->byte, frame->size, out, &size);
	rig_counts(&rig, &after);
	for (int i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t packets = after.reason[i].packets - before.reason[i].packets;
		uint64_t bytes = after.reason[i].bytes - before.reason[i].bytes;
		uint64_t one = i == (int)reason;

		if (packets != one || bytes != one * size)
			fail_msg("%s: reason %d counted %lu packets, %lu bytes; expected %d", name,
				 i, packets, bytes, reason);
	}
	if (verdict != expected)
		fail_msg("%s: verdict %u, expected %u", name, verdict, expected);
	if (verdict == XDP_PASS && (size != frame->size || memcmp(out, frame->byte, size)))
		fail_msg("%s: it passed, but not as it came", name);
}

static void check_row(const struct row *row, bool ipv6, uint32_t tags)
{
	struct dns_shape shape = row->shape;
	struct dns_frame frame;
	uint8_t message[DNS_FRAME_MAX];
	char name[256];

	shape.ipv6 = ipv6;
	shape.tags = tags;
	snprintf(name, sizeof(name), "%s, IPv%d, %u tags", row->name, ipv6 ? 6 : 4, tags);
	dns_wrap(&shape, message, dns_bytes(row->message, message), &frame);
	if (row->alter)
		row->alter(&frame);
	check_reason(name, &frame, row->reason);
}

static void check_table(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t tags = 0; tags < 3; tags++)
			for (int ipv6 = 0; ipv6 < 2; ipv6++)
				if (!rows[i].only || rows[i].only == (ipv6 ? 6 : 4))
					check_row(&rows[i], ipv6, tags);
}

#define CHECK(table) check_table(table, sizeof(table) / sizeof((table)[0]))

/* A query for the name in text. */
static void check_name(const char *name, enum xb_reason reason)
{
	struct dns_frame frame;

	dns_query(name, false, &frame);
	check_reason(name, &frame, reason);
}

/* ---- Names ---- */

static const struct row names_table[] = {
	{"listed", ASK("example.com"), XB_NAME_DROPPED},
	{"below it", ASK("www.example.com"), XB_NAME_DROPPED},
	{"far below it", ASK("a.b.c.d.e.f.g.h.i.j.k.example.com"), XB_NAME_DROPPED},
	{"capitals", ASK("eXaMPle.CoM"), XB_NAME_DROPPED},
	{"all capitals", ASK("WWW.EXAMPLE.COM"), XB_NAME_DROPPED},
	{"above it", ASK("com"), XB_NAME_CLEAN},
	{"the root", ASK_RAW("00"), XB_NAME_CLEAN},
	{"beside it", ASK("example.org"), XB_NAME_CLEAN},
	{"no boundary", ASK("aexample.com"), XB_NAME_CLEAN},
	{"no boundary, below", ASK("www.aexample.com"), XB_NAME_CLEAN},
	{"no boundary at the end", ASK("example.comm"), XB_NAME_CLEAN},
	{"it is a prefix", ASK("example.com.net"), XB_NAME_CLEAN},
	{"shorter label", ASK("xample.com"), XB_NAME_CLEAN},
	{"turned round", ASK("com.example"), XB_NAME_CLEAN},
	{"dot in a label", ASK_RAW("0b 6578616d706c652e636f6d 00"), XB_NAME_CLEAN},
	{"dot in the label in front", ASK_RAW("09 612e6578616d706c65 03 636f6d 00"), XB_NAME_CLEAN},
	{"zero behind a label", ASK_RAW("08 6578616d706c6500 03 636f6d 00"), XB_NAME_CLEAN},
	{"zero behind the last label", ASK_RAW("07 6578616d706c65 04 636f6d00 00"), XB_NAME_CLEAN},
	{"zeros behind the last label", ASK_RAW("07 6578616d706c65 07 636f6d00000000 00"),
	 XB_NAME_CLEAN},
	{"zero in front", ASK_RAW("08 006578616d706c65 03 636f6d 00"), XB_NAME_CLEAN},
	{"zeros below it", ASK_RAW("03 000000 07 6578616d706c65 03 636f6d 00"), XB_NAME_DROPPED},
	{"any bytes below it", ASK_RAW("04 ff2e00c0 07 6578616d706c65 03 636f6d 00"),
	 XB_NAME_DROPPED},
	{"high bit on a letter", ASK_RAW("07 c578616d706c65 03 636f6d 00"), XB_NAME_CLEAN},
	{"'@' is no capital", ASK("@.signs.test"), XB_NAME_CLEAN},
	{"'[' is no capital", ASK_RAW("01 5b 05 7369676e73 04 74657374 00"), XB_NAME_CLEAN},
	{"Z", ASK("Z.letters.test"), XB_NAME_DROPPED},
	{"A", ASK("A.LETTERS.TEST"), XB_NAME_DROPPED},
	{"digits and signs", ASK("0-9_.LETTERS.test"), XB_NAME_DROPPED},
	{"a sign with another bit", ASK_RAW("04 300d395f 07 6c657474657273 04 74657374 00"),
	 XB_NAME_CLEAN},
	{"exact", ASK("exact.test"), XB_NAME_DROPPED},
	{"exact, below", ASK("a.exact.test"), XB_NAME_CLEAN},
	{"exact, beside", ASK("exacu.test"), XB_NAME_CLEAN},
	{"exact, above", ASK("test"), XB_NAME_CLEAN},
	{"exact with a listed child", ASK("parent.test"), XB_NAME_DROPPED},
	{"the listed child", ASK("child.parent.test"), XB_NAME_DROPPED},
	{"below the child", ASK("a.child.parent.test"), XB_NAME_DROPPED},
	{"beside the child", ASK("other.parent.test"), XB_NAME_CLEAN},
	{"exact and whole", ASK("whole.test"), XB_NAME_REFUSED},
	{"below exact and whole", ASK("a.whole.test"), XB_NAME_COUNTED},
	{"allowed below listed", ASK("allowed.example.com"), XB_NAME_ALLOWED},
	{"below it", ASK("a.b.ALLOWED.example.com"), XB_NAME_ALLOWED},
	{"allowed exactly", ASK("only.example.com"), XB_NAME_ALLOWED},
	{"below what is allowed exactly", ASK("a.only.example.com"), XB_NAME_DROPPED},
	{"no boundary before the allowed", ASK("nallowed.example.com"), XB_NAME_DROPPED},
	{"listed below allowed", ASK("bad.safe.test"), XB_NAME_ALLOWED},
	{"allowed, not listed", ASK("good.safe.test"), XB_NAME_CLEAN},
	{"listed and allowed", ASK("same.test"), XB_NAME_ALLOWED},
	{"listed, allowed exactly", ASK("half.test"), XB_NAME_ALLOWED},
	{"below listed, allowed exactly", ASK("a.half.test"), XB_NAME_DROPPED},
	{"refused and allowed", ASK("ok.refused.test"), XB_NAME_ALLOWED},
	{"counted and allowed", ASK("ok.count.test"), XB_NAME_ALLOWED},
	{"refused", ASK("refused.test"), XB_NAME_REFUSED},
	{"no such domain", ASK("nxdomain.test"), XB_NAME_NXDOMAIN},
	{"truncated", ASK("truncate.test"), XB_NAME_TRUNCATED},
	{"counted", ASK("count.test"), XB_NAME_COUNTED},
	{"count", ASK("mix.test"), XB_NAME_COUNTED},
	{"truncate under count", ASK("a.mix.test"), XB_NAME_TRUNCATED},
	{"nxdomain under truncate", ASK("b.a.mix.test"), XB_NAME_NXDOMAIN},
	{"refused under nxdomain", ASK("c.b.a.mix.test"), XB_NAME_REFUSED},
	{"drop under refused", ASK("d.c.b.a.mix.test"), XB_NAME_DROPPED},
	{"below drop", ASK("e.d.c.b.a.mix.test"), XB_NAME_DROPPED},
	{"beside drop", ASK("x.c.b.a.mix.test"), XB_NAME_REFUSED},
	{"count under drop", ASK("x.wide.test"), XB_NAME_DROPPED},
	{"truncate under nxdomain", ASK("y.x.nxdomain.test"), XB_NAME_NXDOMAIN},
	{"in two lists", ASK("both.test"), XB_NAME_REFUSED},
	{"in all lists", ASK("all.test"), XB_NAME_DROPPED},
	{"class CH", "1234 0100 " COUNTS "'example.com' 00 0010 0003", XB_NAME_DROPPED},
	{"type ANY", "1234 0100 " COUNTS "'example.com' 00 00ff 00ff", XB_NAME_DROPPED},
};

static void names(void **state)
{
	(void)state;
	CHECK(names_table);
}

/* Labels of every length, that end anywhere in a word of 8 bytes: each byte matters. */
static void every_label_length(void **state)
{
	char name[128], *end;

	(void)state;
	for (int length = 1; length <= 63; length++) {
		end = name +
		      sprintf(name, "%.*sb", length - 1,
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
		strcpy(end, ".length.test");
		check_name(name, XB_NAME_DROPPED);
		for (int i = 0; i < length; i++) {
			char kept = name[i];

			name[i] = 'c';
			check_name(name, XB_NAME_CLEAN);
			name[i] = (char)(kept - 'a' + 'A');
			check_name(name, XB_NAME_DROPPED);
			name[i] = kept;
		}
		if (length < 63) {
			strcpy(end, "b.length.test");
			check_name(name, XB_NAME_CLEAN);
		}
		if (length > 1) {
			strcpy(end - 1, ".length.test");
			check_name(name, XB_NAME_CLEAN);
		}
	}
}

/* Every label count: listed, one less, one more. */
static void deep_names(void **state)
{
	char name[300], below[310];

	(void)state;
	for (int labels = 2; labels <= 127; labels++) {
		char *end = name;

		for (int i = 0; i < labels - 1; i++)
			end += sprintf(end, "%c.", i ? 'a' + i % 26 : 'q');
		strcpy(end, "d");
		rig_add(&rig, name, "default");
		check_name(name, XB_NAME_DROPPED);
		check_name(name + 2, XB_NAME_CLEAN);
		if (labels < 127) {
			snprintf(below, sizeof(below), "z.%s", name);
			check_name(below, XB_NAME_DROPPED);
		}
		name[0] = 'r';
		check_name(name, XB_NAME_CLEAN);
		name[0] = 'q';
		assert_true(rig_del(&rig, name, NULL));
		check_name(name, XB_NAME_CLEAN);
	}
	assert_true(rig_matches_rebuild(&rig));
	rig_rotate(&rig);
}

/* Names that stand for themselves alone, and are deeper than all others. */
static void exact_names_deeper_than_others(void **state)
{
	(void)state;
	rig_add(&rig, "=j.i.h.g.f.e.d.c.b.a.exact.test", "default");
	rig_add(&rig, "=d.c.b.a.exact.test", "default");
	check_name("j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_DROPPED);
	check_name("k.j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("d.c.b.a.exact.test", XB_NAME_DROPPED);
	check_name("e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	check_name("c.b.a.exact.test", XB_NAME_CLEAN);
	assert_true(rig_del(&rig, "=j.i.h.g.f.e.d.c.b.a.exact.test", NULL));
	check_name("j.i.h.g.f.e.d.c.b.a.exact.test", XB_NAME_CLEAN);
	assert_true(rig_del(&rig, "=d.c.b.a.exact.test", NULL));
}

/* From no name to the first of each kind, and back. */
static void the_first_and_the_last_name(void **state)
{
	static const char *const first[] = {"=a.one.test", "one.test", "test", "=one.test"};
	struct rig kept = rig;
	int kept_program = program;

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		bool below = i == 1 || i == 2;

		rig_begin(&rig, "first");
		program = rig_entry(&rig);
		check_name("a.one.test", XB_CLEAN);
		rig_allow(&rig, "ok.a.one.test");
		rig_add(&rig, first[i], "default");
		check_name("a.one.test", below || !i ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("one.test", i ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("b.a.one.test", below ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		check_name("b.ok.a.one.test", below ? XB_NAME_ALLOWED : XB_NAME_CLEAN);
		check_name("test", i == 2 ? XB_NAME_DROPPED : XB_NAME_CLEAN);
		assert_true(rig_del(&rig, first[i], NULL));
		check_name("a.one.test", XB_NAME_CLEAN);
		assert_true(rig_matches_rebuild(&rig));
		rig_rotate(&rig);
		check_name("a.one.test", XB_CLEAN);
		close(program);
		rig_end(&rig);
	}
	rig = kept;
	program = kept_program;
}

/* ---- What is no query that can be judged ---- */

#define L49                                                                                        \
	"31 616161616161616161616161616161616161616161616161616161616161616161616161"              \
	"61616161616161616161616161 "
#define L50                                                                                        \
	"32 616161616161616161616161616161616161616161616161616161616161616161616161"              \
	"6161616161616161616161616161 "
#define L61                                                                                        \
	"3d 616161616161616161616161616161616161616161616161616161616161616161616161"              \
	"61616161616161616161616161616161616161616161616161 "
#define L62                                                                                        \
	"3e 616161616161616161616161616161616161616161616161616161616161616161616161"              \
	"6161616161616161616161616161616161616161616161616161 "
#define L63                                                                                        \
	"3f 616161616161616161616161616161616161616161616161616161616161616161616161"              \
	"616161616161616161616161616161616161616161616161616161 "
#define TEN	   "0161 0161 0161 0161 0161 0161 0161 0161 0161 0161 "
#define ONE_TWENTY TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define SEVEN	   "0161 0161 0161 0161 0161 0161 0161 "
#define LISTED	   "07 6578616d706c65 03 636f6d 00"

static const struct row messages_table[] = {
	{"response", "1234 8180 " COUNTS "'example.com' 00 0001 0001", XB_DNS_RESPONSE},
	{"inverse query", "1234 0900 " COUNTS "'example.com' 00 0001 0001", XB_DNS_OPCODE},
	{"status", "1234 1000 " COUNTS "'example.com' 00 0001 0001", XB_DNS_OPCODE},
	{"notify", "1234 2000 " COUNTS "'example.com' 00 0001 0001", XB_DNS_OPCODE},
	{"update", "1234 2800 " COUNTS "'example.com' 00 0006 0001", XB_DNS_OPCODE},
	{"opcode 15", "1234 7900 " COUNTS "'example.com' 00 0001 0001", XB_DNS_OPCODE},
	{"no question", "1234 0100 0000 0000 0000 0000 'example.com' 00 0001 0001",
	 XB_DNS_QUESTIONS},
	{"no question, only a header", "1234 0100 0000 0000 0000 0000", XB_DNS_QUESTIONS},
	{"two questions",
	 "1234 0100 0002 0000 0000 0000 'example.com' 00 0001 0001 'a.b' 00 0001 0001",
	 XB_DNS_QUESTIONS},
	{"256 questions", "1234 0100 0100 0000 0000 0000 'example.com' 00 0001 0001",
	 XB_DNS_QUESTIONS},
	{"257 questions", "1234 0100 0101 0000 0000 0000 'example.com' 00 0001 0001",
	 XB_DNS_QUESTIONS},
	{"all other flags", "ffff 07ff " COUNTS "'example.com' 00 0001 0001", XB_NAME_DROPPED},
	{"pointer", ASK_RAW("c00c"), XB_DNS_COMPRESSED},
	{"pointer behind a label", ASK_RAW("07 6578616d706c65 c019"), XB_DNS_COMPRESSED},
	{"pointer of ones", ASK_RAW("07 6578616d706c65 ffff"), XB_DNS_COMPRESSED},
	{"label type 0x40", ASK_RAW("40 6578616d706c65 00"), XB_DNS_LABEL},
	{"label type 0x80", ASK_RAW("80 6578616d706c65 00"), XB_DNS_LABEL},
	{"label type 0x41 behind a label", ASK_RAW("0161 41 6578616d706c65 00"), XB_DNS_LABEL},
	{"label type 0xbf", ASK_RAW("0161 bf 6578616d706c65 00"), XB_DNS_LABEL},
	{"255 bytes", ASK_RAW(L63 L63 L63 L49 LISTED), XB_NAME_DROPPED},
	{"256 bytes", ASK_RAW(L63 L63 L63 L50 LISTED), XB_DNS_LONG},
	{"255 bytes, not listed", ASK_RAW(L63 L63 L63 L61 "00"), XB_NAME_CLEAN},
	{"256 bytes, not listed", ASK_RAW(L63 L63 L63 L62 "00"), XB_DNS_LONG},
	{"257 bytes, not listed", ASK_RAW(L63 L63 L63 L63 "00"), XB_DNS_LONG},
	{"127 labels", ASK_RAW(ONE_TWENTY SEVEN "00"), XB_NAME_CLEAN},
	{"128 labels", ASK_RAW(ONE_TWENTY SEVEN "0161 00"), XB_DNS_LONG},
	{"128 labels, no end", ASK_RAW(ONE_TWENTY SEVEN "0161"), XB_DNS_LONG},
	{"no root, nothing behind", "1234 0100 " COUNTS "'example.com'", XB_DNS_SHORT},
	{"a label to the end", "1234 0100 " COUNTS "'example' 05 6161616161", XB_DNS_SHORT},
	{"a label past the end", "1234 0100 " COUNTS "'example' 06 6161616161", XB_DNS_SHORT},
	{"no type", "1234 0100 " COUNTS "'example.com' 00", XB_DNS_SHORT},
	{"half a class", "1234 0100 " COUNTS "'example.com' 00 0001 00", XB_DNS_SHORT},
	{"no name", "1234 0100 " COUNTS, XB_DNS_SHORT},
	{"no message", "", XB_DNS_SHORT},
	{"11 bytes", "1234 0100 0001 0000 0000 00", XB_DNS_SHORT},
	{"records behind", ASK("example.com") "c00c 0001 0001 00000000 0004 01020304",
	 XB_NAME_DROPPED},
	{"UDP length shorter by the class", ASK("example.com"), XB_DNS_SHORT,
	 .shape = {.udp_more = -2}},
	{"UDP length ends behind the question", ASK("example.com") "616263", XB_NAME_DROPPED,
	 .shape = {.udp_more = -3}},
	{"UDP length ends in the question", ASK("example.com") "616263", XB_DNS_SHORT,
	 .shape = {.udp_more = -4}},
	{"a pointer behind the UDP length", "1234 0100 " COUNTS "'example' c00c", XB_DNS_SHORT,
	 .shape = {.udp_more = -2}},
	{"a reserved type behind the UDP length", "1234 0100 " COUNTS "'example' 40", XB_DNS_SHORT,
	 .shape = {.udp_more = -1}},
	{"UDP length longer", ASK("example.com"), XB_DNS_SHORT, .shape = {.udp_more = 1}},
	{"UDP length longer, the frame too", ASK("example.com"), XB_DNS_SHORT,
	 .shape = {.udp_more = 1, .fill = 1}},
	{"IP length shorter", ASK("example.com"), XB_DNS_SHORT, .shape = {.ip_more = -1}},
	{"IP length shorter, question whole", ASK("example.com") "61", XB_DNS_SHORT,
	 .shape = {.ip_more = -1}},
	{"IP and UDP length shorter", ASK("example.com"), XB_DNS_SHORT,
	 .shape = {.ip_more = -1, .udp_more = -1}},
	{"IP length longer", ASK("example.com"), XB_DNS_SHORT, .shape = {.ip_more = 1}},
	{"IP length longer, filled", ASK("example.com"), XB_NAME_DROPPED,
	 .shape = {.ip_more = 1, .fill = 1}},
	{"the class in what fills the frame", "1234 0100 " COUNTS "'example.com' 00 0001",
	 XB_DNS_SHORT, .shape = {.fill = 2}},
	{"filled", ASK("example.com"), XB_NAME_DROPPED, .shape = {.fill = 20}},
	{"filled a lot", ASK("example.com"), XB_NAME_DROPPED, .shape = {.fill = 1200}},
	{"another port", ASK("example.com"), XB_CLEAN, .shape = {.port = 54}},
	{"port 53 in the wrong byte order", ASK("example.com"), XB_CLEAN, .shape = {.port = 13568}},
	{"port 853", ASK("example.com"), XB_CLEAN, .shape = {.port = 853}},
	{"port 5353", ASK("example.com"), XB_CLEAN, .shape = {.port = 5353}},
	{"from port 53 to another", ASK("example.com"), XB_CLEAN, .shape = {.reply = true}},
	{"TCP", ASK("example.com"), XB_DNS_TCP, .shape = {.protocol = 6}},
	{"TCP, another port", ASK("example.com"), XB_CLEAN, .shape = {.protocol = 6, .port = 443}},
	{"TCP, a SYN", "0000 5002 7210 0000 0000", XB_DNS_TCP, .shape = {.protocol = 6}},
	{"UDP-Lite", ASK("example.com"), XB_CLEAN, .shape = {.protocol = 136}},
	{"SCTP", ASK("example.com"), XB_CLEAN, .shape = {.protocol = 132}},
};

static void messages(void **state)
{
	(void)state;
	CHECK(messages_table);
}

static void no_udp_length(struct dns_frame *frame)
{
	frame->byte[frame->udp + 4] = frame->byte[frame->udp + 5] = 0;
}

static void no_ip_length(struct dns_frame *frame)
{
	frame->byte[frame->network + 2] = frame->byte[frame->network + 3] = 0;
}

static void no_payload_length(struct dns_frame *frame)
{
	frame->byte[frame->network + 4] = frame->byte[frame->network + 5] = 0;
}

static void no_length_at_all(struct dns_frame *frame)
{
	no_payload_length(frame);
	no_udp_length(frame);
}

/* What stands between IP and UDP. */
static const struct row headers_table[] = {
	{"4 bytes of options",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.options = "94040000"},
	 .only = 4},
	{"40 bytes of options",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.options = "01010101010101010101010101010101010101010101010101010101010101010101010101010"
		     "101"},
	 .only = 4},
	{"options, not listed",
	 ASK("example.org"),
	 XB_NAME_CLEAN,
	 {.options = "94040000"},
	 .only = 4},
	{"options, another port",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.options = "94040000", .port = 54},
	 .only = 4},
	{"options, TCP",
	 ASK("example.com"),
	 XB_DNS_TCP,
	 {.options = "94040000", .protocol = 6},
	 .only = 4},
	{"options that look like UDP to a DNS port",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.options = "d4310035", .port = 54},
	 .only = 4},
	{"do not fragment", ASK("example.com"), XB_NAME_DROPPED, {.field = 0x4000}, .only = 4},
	{"reserved bit", ASK("example.com"), XB_NAME_DROPPED, {.field = 0x8000}, .only = 4},
	{"first fragment", ASK("example.com"), XB_DNS_FRAGMENT, {.field = 0x2000}, .only = 4},
	{"first fragment, options",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.field = 0x2000, .options = "94040000"},
	 .only = 4},
	{"later fragment", ASK("example.com"), XB_DNS_FRAGMENT, {.field = 0x2001}, .only = 4},
	{"last fragment", ASK("example.com"), XB_DNS_FRAGMENT, {.field = 0x0100}, .only = 4},
	{"last fragment, highest offset",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.field = 0x1fff},
	 .only = 4},
	{"fragment of TCP that looks like it",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.field = 0x0100, .protocol = 6},
	 .only = 4},
	{"no IP length", ASK("example.com"), XB_DNS_SHORT, {0}, no_ip_length, .only = 4},
	{"no UDP length", ASK("example.com"), XB_DNS_SHORT, {0}, no_udp_length, .only = 4},
	/* RFC 2675; and what Linux takes for the rest of the packet. */
	{"no UDP length", ASK("example.com"), XB_NAME_DROPPED, {0}, no_udp_length, .only = 6},
	{"no UDP length, cut",
	 "1234 0100 " COUNTS "'example.com' 00 0001",
	 XB_DNS_SHORT,
	 {0},
	 no_udp_length,
	 .only = 6},
	{"hop-by-hop",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "00 " TO_UDP},
	 .only = 6},
	/* Linux takes all of the frame. */
	{"hop-by-hop, no payload length",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "00 " TO_UDP, .fill = 2},
	 no_payload_length,
	 .only = 6},
	{"hop-by-hop, neither length",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "00 " TO_UDP},
	 no_length_at_all,
	 .only = 6},
	{"hop-by-hop, no payload length, not listed",
	 ASK("example.org"),
	 XB_NAME_CLEAN,
	 {.extensions = "00 " TO_UDP},
	 no_payload_length,
	 .only = 6},
	{"hop-by-hop, no payload length, answered",
	 ASK("nxdomain.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "00 " TO_UDP},
	 no_payload_length,
	 .only = 6},
	{"destination options, no payload length",
	 ASK("example.com"),
	 XB_DNS_SHORT,
	 {.extensions = "3c " TO_UDP},
	 no_payload_length,
	 .only = 6},
	{"no payload length", ASK("example.com"), XB_DNS_SHORT, {0}, no_payload_length, .only = 6},
	{"routing",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "2b 11 00 04 00 00000000"},
	 .only = 6},
	{"destination options",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "3c " TO_UDP},
	 .only = 6},
	{"long destination options",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "3c 11 02 0114 00000000 0000000000000000 0000000000000000"},
	 .only = 6},
	{"AH",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "33 11 04 0000 00000001 00000001 000000000000000000000000"},
	 .only = 6},
	{"AH of 12 bytes",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "33 11 01 0000 00000001 00000001"},
	 .only = 6},
	{"atomic fragment",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "2c 11 00 0000 00000001"},
	 .only = 6},
	{"atomic fragment, reserved bits",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "2c 11 ff 0006 00000001"},
	 .only = 6},
	{"first fragment",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.extensions = "2c 11 00 0001 00000001"},
	 .only = 6},
	{"later fragment",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.extensions = "2c 11 00 0009 00000001"},
	 .only = 6},
	{"last fragment",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.extensions = "2c 11 00 0008 00000001"},
	 .only = 6},
	{"first fragment, options behind",
	 ASK("example.com"),
	 XB_DNS_FRAGMENT,
	 {.extensions = "2c 3c 00 0001 00000001 " TO_UDP},
	 .only = 6},
	{"later fragment of options",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "2c 3c 00 0009 00000001 " TO_UDP},
	 .only = 6},
	{"later fragment of TCP that looks like it",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "2c 06 00 0009 00000001"},
	 .only = 6},
	{"all kinds",
	 ASK("www.example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "00 3c" PADS "2b" PADS "2c 00 04 00 00000000 33 00 0000 00000001 "
			"3c 01 0000 00000001 00000001 " TO_UDP},
	 .only = 6},
	{"7 headers",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) TO_UDP},
	 .only = 6},
	{"8 headers",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS TO_UDP},
	 .only = 6},
	{"8 headers, not listed",
	 ASK("example.org"),
	 XB_NAME_CLEAN,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS TO_UDP},
	 .only = 6},
	{"8 headers, ICMP",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS "3a" PADS},
	 .only = 6},
	{"9 headers",
	 ASK("example.com"),
	 XB_DNS_HEADERS,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS "3c" PADS TO_UDP},
	 .only = 6},
	{"10 headers",
	 ASK("example.com"),
	 XB_DNS_HEADERS,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) THREE("3c" PADS) TO_UDP},
	 .only = 6},
	{"headers, another port",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 " TO_UDP, .port = 54},
	 .only = 6},
	{"headers, TCP", ASK("example.com"), XB_DNS_TCP, {.extensions = "00 06" PADS}, .only = 6},
	{"headers, ICMP", ASK("example.com"), XB_CLEAN, {.extensions = "00 3a" PADS}, .only = 6},
	{"headers, nothing next",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 3b" PADS},
	 .only = 6},
	{"ESP", ASK("example.com"), XB_CLEAN, {.extensions = "32"}, .only = 6},
	{"a header past the frame",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "3c 11 ff 0104 00000000"},
	 .only = 6},
};

static void headers(void **state)
{
	(void)state;
	CHECK(headers_table);
}

/* The frame is cut at every byte, while all lengths say it was whole. */
static void cut_frames(void **state)
{
	uint8_t message[512];
	uint32_t size = dns_bytes(ASK("www.example.com"), message);

	(void)state;
	for (uint32_t kind = 0; kind < 6; kind++) {
		const struct dns_shape shape = {.ipv6 = kind & 1, .tags = kind / 2};
		struct dns_frame frame;
		uint32_t whole;

		dns_wrap(&shape, message, size, &frame);
		for (whole = frame.size; frame.size > frame.network; frame.size--) {
			enum xb_reason reason = frame.size == whole	      ? XB_NAME_DROPPED
						: frame.size >= frame.udp + 4 ? XB_DNS_SHORT
						: frame.size >= frame.udp     ? XB_CLEAN
						: shape.ipv6		      ? XB_IPV6_SHORT
									      : XB_IPV4_SHORT;
			char name[64];

			snprintf(name, sizeof(name), "kind %u cut at %u", kind, frame.size);
			check_reason(name, &frame, reason);
		}
	}
}

/* The message is cut at every byte, and all lengths say so. */
static void cut_messages(void **state)
{
	uint8_t message[512];
	uint32_t whole = dns_bytes(ASK("www.example.com"), message);

	(void)state;
	for (uint32_t kind = 0; kind < 4; kind++) {
		const struct dns_shape shape = {.ipv6 = kind & 1, .fill = kind & 2 ? 40 : 0};

		for (uint32_t size = 0; size <= whole; size++) {
			struct dns_frame frame;
			char name[64];

			dns_wrap(&shape, message, size, &frame);
			/* What was cut off stands behind the packet. */
			if (shape.fill)
				memcpy(frame.byte + frame.message + size, message + size,
				       whole - size);
			snprintf(name, sizeof(name), "kind %u of %u bytes", kind, size);
			check_reason(name, &frame, size == whole ? XB_NAME_DROPPED : XB_DNS_SHORT);
		}
	}
}

/* ---- Answers ---- */

static void no_source_port(struct dns_frame *frame)
{
	frame->byte[frame->udp] = frame->byte[frame->udp + 1] = 0;
}

static void group_source(struct dns_frame *frame)
{
	frame->byte[6] |= 1;
}

static void group_destination(struct dns_frame *frame)
{
	frame->byte[0] |= 1;
}

static void broadcast(struct dns_frame *frame)
{
	memset(frame->byte, 0xff, 6);
}

static void set_source(struct dns_frame *frame, const char *address)
{
	bool ipv6 = frame->byte[frame->network] >> 4 == 6;

	dns_bytes(address, frame->byte + frame->network + (ipv6 ? 8 : 12));
}

static void set_destination(struct dns_frame *frame, const char *address)
{
	bool ipv6 = frame->byte[frame->network] >> 4 == 6;

	dns_bytes(address, frame->byte + frame->network + (ipv6 ? 24 : 16));
}

#define ALTER(name, what, address)                                                                 \
	static void name(struct dns_frame *frame)                                                  \
	{                                                                                          \
		what(frame, address);                                                              \
	}

ALTER(from_nobody, set_source, "00000000")
ALTER(from_this_net, set_source, "00010203")
ALTER(from_loopback, set_source, "7f000001")
ALTER(from_group, set_source, "e00000fb")
ALTER(from_reserved, set_source, "f0000001")
ALTER(from_everybody, set_source, "ffffffff")
ALTER(to_group, set_destination, "e00000fb")
ALTER(to_everybody, set_destination, "ffffffff")
ALTER(from_nobody6, set_source, "00000000000000000000000000000000")
ALTER(from_loopback6, set_source, "00000000000000000000000000000001")
ALTER(from_group6, set_source, "ff0200000000000000000000000000fb")
ALTER(to_group6, set_destination, "ff0200000000000000000000000000fb")
ALTER(to_loopback6, set_destination, "00000000000000000000000000000001")

#define RECORD "c00c 0001 0001 00000e10 0004 c0000205 "
#define TSIG   "00 00fa 00ff 00000000 0000 "

static const struct row unanswered_table[] = {
	{"EDNS version 1", ASK_EDNS("refused.test") OPT("1000 00 01 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"an answer", "1234 0100 0001 0001 0000 0000 'refused.test' 00 0001 0001 " RECORD,
	 XB_NAME_UNANSWERED},
	{"256 answers", "1234 0100 0001 0100 0000 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an answer said, not there", "1234 0100 0001 0001 0000 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an authority", "1234 0100 0001 0000 0001 0000 'refused.test' 00 0001 0001 " RECORD,
	 XB_NAME_UNANSWERED},
	{"256 authorities", "1234 0100 0001 0000 0100 0000 'refused.test' 00 0001 0001 ",
	 XB_NAME_UNANSWERED},
	{"an authority and OPT",
	 "1234 0100 0001 0000 0001 0001 'refused.test' 00 0001 0001 " RECORD OPT(
		 "1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"OPT twice",
	 "1234 0100 0001 0000 0000 0002 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000")
		 OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"OPT and TSIG",
	 "1234 0100 0001 0000 0000 0002 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000")
		 TSIG,
	 XB_NAME_UNANSWERED},
	{"256 additional records",
	 "1234 0100 0001 0000 0000 0100 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"257 additional records",
	 "1234 0100 0001 0000 0000 0101 'refused.test' 00 0001 0001 " OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"TSIG", ASK_EDNS("refused.test") TSIG, XB_NAME_UNANSWERED},
	{"an address", ASK_EDNS("refused.test") RECORD, XB_NAME_UNANSWERED},
	{"OPT not at the root", ASK_EDNS("refused.test") "0161" OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"type 0x2900", ASK_EDNS("refused.test") "00 2900 1000 00 00 0000 0000",
	 XB_NAME_UNANSWERED},
	{"type 0x0129", ASK_EDNS("refused.test") "00 0129 1000 00 00 0000 0000",
	 XB_NAME_UNANSWERED},
	{"OPT said, not there", ASK_EDNS("refused.test"), XB_NAME_UNANSWERED},
	{"OPT cut", ASK_EDNS("refused.test") "00 0029 1000 00 00 0000 00", XB_NAME_UNANSWERED},
	{"OPT longer than it says", ASK_EDNS("refused.test") OPT("1000 00 00 0000 0003") "00010000",
	 XB_NAME_UNANSWERED},
	{"OPT shorter than it says",
	 ASK_EDNS("refused.test") OPT("1000 00 00 0000 0005") "00010000", XB_NAME_UNANSWERED},
	{"OPT much shorter than it says", ASK_EDNS("refused.test") OPT("1000 00 00 0000 ffff"),
	 XB_NAME_UNANSWERED},
	{"OPT there, not said", ASK("refused.test") OPT("1000 00 00 0000 0000"),
	 XB_NAME_UNANSWERED},
	{"a byte behind", ASK("refused.test") "00", XB_NAME_UNANSWERED},
	{"a byte behind OPT", ASK_EDNS("refused.test") OPT("1000 00 00 0000 0000") "00",
	 XB_NAME_UNANSWERED},
	{"source port 0", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = no_source_port},
	{"from a group of stations", ASK("nxdomain.test"), XB_NAME_UNANSWERED,
	 .alter = group_source},
	{"to a group of stations", ASK("nxdomain.test"), XB_NAME_UNANSWERED,
	 .alter = group_destination},
	{"to all stations", ASK("truncate.test"), XB_NAME_UNANSWERED, .alter = broadcast},
	{"from 0.0.0.0", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_nobody, .only = 4},
	{"from 0/8", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_this_net, .only = 4},
	{"from 127/8", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_loopback, .only = 4},
	{"from a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_group, .only = 4},
	{"from 240/4", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_reserved, .only = 4},
	{"from everybody", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_everybody,
	 .only = 4},
	{"to a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_group, .only = 4},
	{"to everybody", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_everybody, .only = 4},
	{"from ::", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_nobody6, .only = 6},
	{"from ::1", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_loopback6, .only = 6},
	{"from a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = from_group6, .only = 6},
	{"to a group", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_group6, .only = 6},
	{"to ::1", ASK("refused.test"), XB_NAME_UNANSWERED, .alter = to_loopback6, .only = 6},
	{"behind IP options",
	 ASK("refused.test"),
	 XB_NAME_UNANSWERED,
	 {.options = "94040000"},
	 .only = 4},
	{"behind all IP options",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.options = "01010101010101010101010101010101010101010101010101010101010101010101010101010"
		     "101"},
	 .only = 4},
	{"behind hop-by-hop",
	 ASK("nxdomain.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "00 " TO_UDP},
	 .only = 6},
	{"behind an atomic fragment",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "2c 11 00 0000 00000001"},
	 .only = 6},
	{"behind 8 headers",
	 ASK("truncate.test"),
	 XB_NAME_UNANSWERED,
	 {.extensions = "3c " THREE("3c" PADS "3c" PADS) "3c" PADS TO_UDP},
	 .only = 6},
};

static void what_cannot_be_answered(void **state)
{
	(void)state;
	CHECK(unanswered_table);
}

/* A frame in several buffers, most of it behind the packet. */
static void a_huge_frame(void **state)
{
	const struct dns_shape shape = {.fill = 3800};
	uint8_t query[512];
	uint32_t bytes = dns_bytes(ASK("refused.test"), query);
	struct dns_frame frame;

	(void)state;
	dns_wrap(&shape, query, bytes, &frame);
	assert_int_equal(rig_run(program, frame.byte, frame.size), XDP_DROP);
	bytes = dns_bytes(ASK("example.org"), query);
	dns_wrap(&shape, query, bytes, &frame);
	assert_int_equal(rig_run(program, frame.byte, frame.size), XDP_PASS);
}

/* Sixteen times the same. */
#define SIXTEEN(x) x x x x x x x x x x x x x x x x

/* Queries as they may come; the name is put in. */
static const char *const questions[] = {
	"1234 0100 0001 0000 0000 0000 '%s' 00 0001 0001",
	"0000 0000 0001 0000 0000 0000 '%s' 00 001c 0001",
	"ffff 0110 0001 0000 0000 0000 '%s' 00 00ff 0003",
	"abcd 07ff 0001 0000 0000 0000 '%s' 00 ffff ffff",
	"abcd 0120 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 04d0 00 00 0000 0000",
	"abcd 0120 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 1000 00 00 8000 0000",
	"abcd 0130 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0000 ff 00 ffff 000c "
	"000a 0008 0102030405060708",
	"abcd 0130 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0200 00 00 7fff 0001 ff",
	"abcd 0100 0001 0000 0000 0001 '%s' 00 0001 0001 00 0029 0200 00 00 8000 0204 "
	"000c 0200" SIXTEEN("1122334455667788a1b2c3d4e5f60718")
		SIXTEEN("ffffffffffffffffffffffffffffffff"),
};

static const struct {
	const char *list;
	uint8_t code;
	bool truncated;
	enum xb_reason reason;
} answering[] = {
	{"refused", 5, false, XB_NAME_REFUSED},
	{"nxdomain", 3, false, XB_NAME_NXDOMAIN},
	{"truncate", 0, true, XB_NAME_TRUNCATED},
};

static void check_answer(const struct dns_shape *shape, const uint8_t *query, uint32_t bytes,
			 size_t verdict)
{
	struct dns_shape back = *shape;
	struct dns_frame frame, expected;
	uint8_t answer[1024], out[DNS_FRAME_MAX];
	uint32_t size = sizeof(out);

	back.reply = true;
	back.fill = 0;
	dns_wrap(shape, query, bytes, &frame);
	dns_wrap(&back, answer,
		 dns_answer(query, answering[verdict].truncated, answering[verdict].code, answer),
		 &expected);
	assert_int_equal(rig_run_out(program, frame.byte, frame.size, out, &size), XDP_TX);
	for (uint32_t i = 0; i < expected.size; i++)
		if (out[i] != expected.byte[i])
			fail_msg("%s, IPv%d, %u tags: byte %u is %02x, expected %02x",
				 answering[verdict].list, shape->ipv6 ? 6 : 4, shape->tags, i,
				 out[i], expected.byte[i]);
	assert_int_equal(size, expected.size);
	check_reason(answering[verdict].list, &frame, answering[verdict].reason);
}

/* Every question in every shape, for a name that is the list's. */
static void check_answers(const char *name, size_t verdict)
{
	static const uint32_t fills[] = {0, 1, 2, 3, 300};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char text[2048];
		uint8_t query[1024];
		uint32_t bytes;

		snprintf(text, sizeof(text), questions[i], name);
		bytes = dns_bytes(text, query);
		for (uint32_t kind = 0; kind < 30; kind++) {
			const struct dns_shape shape = {.ipv6 = kind & 1,
							.tags = kind / 2 % 3,
							.fill = fills[kind / 6],
							.field = kind % 5 ? 0 : 0x4000};

			check_answer(&shape, query, bytes, verdict);
		}
	}
}

static void answers(void **state)
{
	static const char *const below[] = {"", "A.", "ab.", "aBC.", "ABcd.", "x.Y.z.", "-_.0."};

	(void)state;
	for (size_t verdict = 0; verdict < 3; verdict++) {
		for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
			char name[300];

			snprintf(name, sizeof(name), "%s%s.TeSt", below[i],
				 answering[verdict].list);
			check_answers(name, verdict);
		}
	}
}

/* Names of every length up to the longest, whose sums have every remainder. */
static void long_answers(void **state)
{
	(void)state;
	for (int length = 1; length <= 253 - (int)sizeof("refused.test"); length++) {
		char name[300];

		if (length % 64 == 0)
			continue;
		for (int i = 0; i < length; i++)
			name[i] = (char)(i % 64 == 63 && i < length - 1
						 ? '.'
						 : 'A' + i % 52 + i % 52 / 26 * 6);
		strcpy(name + length, ".refused.test");
		check_answers(name, 0);
	}
}

/* The shortest frame with an answer: as short as it came, and never below 60 bytes. */
static void short_answers(void **state)
{
	const uint8_t query[] = "\x12\x34\x01\0\0\1\0\0\0\0\0\0\1q\0\0\1\0\1";

	(void)state;
	rig_add(&rig, "q", "refused");
	for (uint32_t fill = 0; fill < 5; fill++)
		check_answer(&(struct dns_shape){.fill = fill}, query, sizeof(query) - 1, 0);
	assert_true(rig_del(&rig, "q", NULL));
}

/* A sum of zero is sent as ones. */
static void every_sum(void **state)
{
	uint8_t query[512];
	uint32_t bytes = dns_bytes(ASK("a.refused.test"), query), ones = 0;

	(void)state;
	for (uint32_t id = 0; id < 65536; id++) {
		const struct dns_shape shape = {.reply = true, .ipv6 = id & 1};
		struct dns_frame expected;
		uint8_t answer[512];

		query[0] = (uint8_t)(id >> 8);
		query[1] = (uint8_t)id;
		dns_wrap(&shape, answer, dns_answer(query, false, 5, answer), &expected);
		if (expected.byte[expected.udp + 6] != 0xff)
			continue;
		check_answer(&(struct dns_shape){.ipv6 = id & 1}, query, bytes, 0);
		ones += expected.byte[expected.udp + 7] == 0xff;
	}
	assert_true(ones > 0);
}

/* ---- Policies, ports, lists ---- */

static const struct row monitor_table[] = {
	{"drop", ASK("example.com"), XB_MONITORED},
	{"refused", ASK("refused.test"), XB_MONITORED},
	{"nxdomain", ASK("nxdomain.test"), XB_MONITORED},
	{"truncate", ASK("truncate.test"), XB_MONITORED},
	{"count", ASK("count.test"), XB_NAME_COUNTED},
	{"allowed", ASK("allowed.example.com"), XB_NAME_ALLOWED},
	{"not listed", ASK("example.org"), XB_NAME_CLEAN},
	{"cannot be answered", ASK("refused.test") "00", XB_MONITORED},
	{"response", "1234 8180 " COUNTS "'example.com' 00 0001 0001", XB_DNS_RESPONSE},
};

/* From a listed source nothing is looked for: it would have been dropped. */
static const struct row monitored_source_table[] = {
	{"not listed", ASK("example.org"), XB_MONITORED, .only = 4},
	{"drop", ASK("example.com"), XB_MONITORED, .only = 4},
	{"count", ASK("count.test"), XB_MONITORED, .only = 4},
};

static const struct row listed_source_table[] = {
	{"not listed", ASK("example.org"), XB_LISTED_IPV4_HOST, .only = 4},
	{"refused", ASK("refused.test"), XB_LISTED_IPV4_HOST, .only = 4},
};

/* Who is on the allowlist may still not ask for everything. */
static const struct row allowed_source_table[] = {
	{"drop", ASK("example.com"), XB_NAME_DROPPED, .only = 4},
	{"refused", ASK("refused.test"), XB_NAME_REFUSED, .only = 4},
	{"another port", ASK("refused.test"), XB_ALLOWED, {.port = 54}, .only = 4},
};

static void policies(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	CHECK(monitor_table);
	rig_add(&rig, "198.51.100.8", "default");
	CHECK(monitored_source_table);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	CHECK(listed_source_table);
	rig_allow(&rig, "198.51.100.8");
	CHECK(allowed_source_table);
	assert_true(rig_disallow(&rig, "198.51.100.8"));
	assert_true(rig_del(&rig, "198.51.100.8", NULL));
	CHECK(names_table);
}

static const struct row ports_table[] = {
	{"53 is none any more", ASK("example.com"), XB_CLEAN},
	{"5353", ASK("example.com"), XB_NAME_DROPPED, {.port = 5353}},
	{"5354", ASK("refused.test"), XB_NAME_REFUSED, {.port = 5354}},
	{"65535", ASK("example.com"), XB_NAME_DROPPED, {.port = 65535}},
	{"1", ASK("example.com"), XB_NAME_DROPPED, {.port = 1}},
	{"TCP", ASK("example.com"), XB_DNS_TCP, {.port = 1, .protocol = 6}},
	{"TCP 53", ASK("example.com"), XB_CLEAN, {.protocol = 6}},
	{"behind headers",
	 ASK("example.com"),
	 XB_NAME_DROPPED,
	 {.port = 65535, .extensions = "00 " TO_UDP},
	 .only = 6},
	{"53 behind headers",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 " TO_UDP},
	 .only = 6},
};

static void to_port_0(struct dns_frame *frame)
{
	frame->byte[frame->udp + 2] = frame->byte[frame->udp + 3] = 0;
}

/* 0 stands for none: nobody is looked for there. */
static const struct row no_ports_table[] = {
	{"53", ASK("example.com"), XB_CLEAN},
	{"0", ASK("example.com"), XB_CLEAN, .alter = to_port_0},
	{"0, behind headers",
	 ASK("example.com"),
	 XB_CLEAN,
	 {.extensions = "00 " TO_UDP},
	 to_port_0,
	 .only = 6},
};

static void ports(void **state)
{
	(void)state;
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){5353, 5354, 65535, 1});
	CHECK(ports_table);
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){0});
	CHECK(no_ports_table);
	rig_dns_ports(&rig, (const uint16_t[XB_NAME_PORTS]){53});
	CHECK(names_table);
}

/* Every bit of the Bloom filter is on: only the exact look-up knows. */
static void guesses(void **state)
{
	struct xb_generation *generation = rig_generation(&rig);

	(void)state;
	assert_int_equal(xb_generation_map_all(generation), 0);
	memset(generation->names.bits.base, 0xff, xb_map_bytes(XB_MAP_NAMES, &generation->params));
	xb_generation_close(generation);
	CHECK(names_table);
	rig_rotate(&rig);
	CHECK(names_table);
}

static const enum xb_reason reasons[] = {XB_NAME_DROPPED, XB_NAME_REFUSED, XB_NAME_NXDOMAIN,
					 XB_NAME_TRUNCATED, XB_NAME_COUNTED};
static const char *const lists[] = {"default", "refused", "nxdomain", "truncate", "count"};

/* Every order of joining and leaving two lists, in place. */
static void lists_join_and_leave(void **state)
{
	(void)state;
	for (int a = 0; a < XB_DOMAIN_VERDICTS; a++) {
		for (int b = 0; b < XB_DOMAIN_VERDICTS; b++) {
			if (a == b)
				continue;
			rig_add(&rig, "joins.test", lists[a]);
			check_name("x.joins.test", reasons[a]);
			rig_add(&rig, "joins.test", lists[b]);
			check_name("x.joins.test", reasons[a < b ? a : b]);
			assert_true(rig_del(&rig, "joins.test", lists[a]));
			check_name("x.joins.test", reasons[b]);
			assert_true(rig_matches_rebuild(&rig));
			assert_true(rig_del(&rig, "joins.test", lists[b]));
			check_name("x.joins.test", XB_NAME_CLEAN);
		}
	}
	assert_true(rig_matches_rebuild(&rig));
}

static void a_list_changes_its_verdict(void **state)
{
	(void)state;
	rig_add(&rig, "changes.test", "changing");
	rig_add(&rig, "=alone.test", "changing");
	rig_add(&rig, "shared.changes.test", "truncate");
	check_name("changes.test", XB_NAME_DROPPED);
	for (int verdict = XB_DOMAIN_COUNT; verdict >= XB_DOMAIN_DROP; verdict--) {
		enum xb_reason shared =
			reasons[verdict < XB_DOMAIN_TRUNCATE ? verdict : XB_DOMAIN_TRUNCATE];

		rig_verdict(&rig, "changing", (enum xb_domain_verdict)verdict);
		check_name("changes.test", reasons[verdict]);
		check_name("alone.test", reasons[verdict]);
		check_name("shared.changes.test", shared);
		check_name("example.com", XB_NAME_DROPPED);
		assert_true(rig_matches_rebuild(&rig));
	}
	assert_true(rig_del(&rig, "changes.test", NULL));
	assert_true(rig_del(&rig, "=alone.test", NULL));
	assert_true(rig_del(&rig, "shared.changes.test", NULL));
	CHECK(names_table);
}

/* More allowed domains than there was room for when the generation was built. */
static void many_allowed(void **state)
{
	char name[64];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%sa%d.example.com", i % 2 ? "=" : "", i);
		rig_allow(&rig, name);
	}
	assert_true(rig_matches_rebuild(&rig));
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a%d.example.com", i);
		check_name(name, XB_NAME_ALLOWED);
		snprintf(name, sizeof(name), "a.a%d.example.com", i);
		check_name(name, i % 2 ? XB_NAME_DROPPED : XB_NAME_ALLOWED);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%sa%d.example.com", i % 2 ? "=" : "", i);
		assert_true(rig_disallow(&rig, name));
	}
	check_name("a7.example.com", XB_NAME_DROPPED);
	assert_true(rig_matches_rebuild(&rig));
	CHECK(names_table);
}

/* ---- The world ---- */

static const char *const world[][2] = {
	{"example.com", "default"},
	{"z.letters.test", "default"},
	{"a.letters.test", "default"},
	{"0-9_.letters.test", "default"},
	{"=exact.test", "default"},
	{"=parent.test", "default"},
	{"child.parent.test", "default"},
	{"=whole.test", "refused"},
	{"whole.test", "count"},
	{"bad.safe.test", "default"},
	{"same.test", "default"},
	{"half.test", "default"},
	{"refused.test", "refused"},
	{"nxdomain.test", "nxdomain"},
	{"truncate.test", "truncate"},
	{"count.test", "count"},
	{"mix.test", "count"},
	{"a.mix.test", "truncate"},
	{"b.a.mix.test", "nxdomain"},
	{"c.b.a.mix.test", "refused"},
	{"d.c.b.a.mix.test", "default"},
	{"wide.test", "default"},
	{"x.wide.test", "count"},
	{"x.nxdomain.test", "truncate"},
	{"both.test", "nxdomain"},
	{"both.test", "refused"},
	{"all.test", "count"},
	{"all.test", "truncate"},
	{"all.test", "nxdomain"},
	{"all.test", "refused"},
	{"all.test", "default"},
};

static const char *const allowed[] = {
	"allowed.example.com", "=only.example.com", "safe.test",     "same.test",
	"=half.test",	       "ok.refused.test",   "ok.count.test",
};

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "domains");
	program = rig_entry(&rig);
	for (int verdict = XB_DOMAIN_REFUSED; verdict < XB_DOMAIN_VERDICTS; verdict++)
		rig_verdict(&rig, lists[verdict], (enum xb_domain_verdict)verdict);
	for (size_t i = 0; i < sizeof(world) / sizeof(world[0]); i++)
		rig_add(&rig, world[i][0], world[i][1]);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		rig_allow(&rig, allowed[i]);
	for (int length = 1; length <= 63; length++) {
		char name[128];

		memset(name, 'a', 63);
		strcpy(name + length - 1, "b.length.test");
		rig_add(&rig, name, "default");
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(program);
	rig_end(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(every_label_length),
		cmocka_unit_test(deep_names),
		cmocka_unit_test(exact_names_deeper_than_others),
		cmocka_unit_test(the_first_and_the_last_name),
		cmocka_unit_test(messages),
		cmocka_unit_test(headers),
		cmocka_unit_test(cut_frames),
		cmocka_unit_test(cut_messages),
		cmocka_unit_test(what_cannot_be_answered),
		cmocka_unit_test(a_huge_frame),
		cmocka_unit_test(answers),
		cmocka_unit_test(long_answers),
		cmocka_unit_test(short_answers),
		cmocka_unit_test(every_sum),
		cmocka_unit_test(policies),
		cmocka_unit_test(ports),
		cmocka_unit_test(guesses),
		cmocka_unit_test(lists_join_and_leave),
		cmocka_unit_test(a_list_changes_its_verdict),
		cmocka_unit_test(many_allowed),
	};

	return cmocka_run_group_tests_name("domains", tests, begin, end);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installation that tests of DNS ask, and how a row of their tables is checked: a message, how
 * it is wrapped, the reason expected. */
#ifndef XB_TESTS_DOMAIN_WORLD_H
#define XB_TESTS_DOMAIN_WORLD_H

#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/counted_reason.h"
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

static inline void check_reason(const char *name, const struct dns_frame *frame,
				enum xb_reason reason)
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
	counted_as(name, &before, &after, reason, size);
	if (verdict != expected)
		fail_msg("%s: verdict %u, expected %u", name, verdict, expected);
	if (verdict == XDP_PASS && (size != frame->size || memcmp(out, frame->byte, size)))
		fail_msg("%s: it passed, but not as it came", name);
}

static inline void check_row(const struct row *row, bool ipv6, uint32_t link)
{
	struct dns_shape shape = row->shape;
	struct dns_frame frame;
	uint8_t message[DNS_FRAME_MAX];
	char name[256];

	shape.ipv6 = ipv6;
	shape.link = link;
	snprintf(name, sizeof(name), "%s, IPv%d, link %u", row->name, ipv6 ? 6 : 4, link);
	dns_wrap(&shape, message, dns_bytes(row->message, message), &frame);
	if (row->alter)
		row->alter(&frame);
	check_reason(name, &frame, row->reason);
}

static inline void check_table(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t link = 0; link < DNS_LINKS; link++)
			for (int ipv6 = 0; ipv6 < 2; ipv6++)
				if (!rows[i].only || rows[i].only == (ipv6 ? 6 : 4))
					check_row(&rows[i], ipv6, link);
}

#define CHECK(table) check_table(table, sizeof(table) / sizeof((table)[0]))

/* A query for the name in text. */
static inline void check_name(const char *name, enum xb_reason reason)
{
	struct dns_frame frame;

	dns_query(name, false, &frame);
	check_reason(name, &frame, reason);
}
static const enum xb_reason reasons[] = {XB_NAME_DROPPED, XB_NAME_REFUSED, XB_NAME_NXDOMAIN,
					 XB_NAME_TRUNCATED, XB_NAME_COUNTED};
static const char *const lists[] = {"default", "refused", "nxdomain", "truncate", "count"};

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

/* What becomes of names in it. */
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

static inline int begin(void **state)
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

static inline int end(void **state)
{
	(void)state;
	close(program);
	rig_end(&rig);
	return 0;
}

#endif

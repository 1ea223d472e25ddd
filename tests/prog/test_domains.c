/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of DNS queries by their messages and headers, and when they are cut. A new case is
 * one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/domain_world.h"

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

/* The frame is cut at every byte, while all lengths say it was whole; that of a session may not. */
static void cut_frames(void **state)
{
	uint8_t message[512];
	uint32_t size = dns_bytes(ASK("www.example.com"), message);

	(void)state;
	for (uint32_t kind = 0; kind < 2 * DNS_LINKS; kind++) {
		const struct dns_shape shape = {.ipv6 = kind & 1, .link = kind / 2};
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
			if (shape.link >= 3 && frame.size < whole)
				check_reason(name, &frame, XB_PPPOE_HEADER);
			dns_end_session(&shape, &frame);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(headers),
		cmocka_unit_test(cut_frames),
		cmocka_unit_test(cut_messages),
	};

	return cmocka_run_group_tests_name("domains", tests, begin, end);
}

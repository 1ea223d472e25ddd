/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the port stands by which lists with a scope judge: every form a frame may have, and every
 * header in front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scoped_world.h"

#define HEADS "020000000001 020000000002 "

static void every_form(void **state)
{
	static const char *const sources[] = {"198.51.100.7", "2001:db8:bad:1::1"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		expect_form(sources[i], "tcp/25", FRAME_OPTIONS, XB_SCOPED_DROPPED);
		expect_form(sources[i], "tcp/80", FRAME_OPTIONS, XB_CLEAN);
		expect_form(sources[i], "udp/25", FRAME_OPTIONS, XB_CLEAN);
		expect_form(sources[i], "tcp/25", FRAME_VLAN, XB_SCOPED_DROPPED);
		expect_form(sources[i], "tcp/25", FRAME_FIRST, XB_SCOPED_DROPPED);
		expect_form(sources[i], "tcp/80", FRAME_FIRST, XB_CLEAN);
		/* Whatever its first bytes look like. */
		expect_form(sources[i], "tcp/25", FRAME_LATER, XB_SCOPED_FRAGMENT);
		expect_form(sources[i], "tcp/80", FRAME_LATER, XB_SCOPED_FRAGMENT);
		/* No list holds for UDP. */
		expect_form(sources[i], "udp/25", FRAME_LATER, XB_CLEAN);
	}
}

/* IPv6 as written, in every order that RFC 8200 allows, and cut; IPv4 with what would be such
 * headers. */
static void headers_in_front(void **state)
{
#define IPV6(next)                                                                                 \
	HEADS "86dd 60000000 0040 " next " 40 20010db8000000000000000000000007 20"                 \
	      "010db8000000000000000000000002 "
#define OPTIONS(next) next " 00 0104 00000000 "
#define ROUTING(next) next " 00 0400 00000000 "
#define AH(next)      next " 01 0000 00000001 "
#define FIRST(next)   next " 00 0001 00000001 "
#define WHOLE(next)   next " 00 0000 00000001 "
#define LATER(next)   next " 00 0029 00000001 "
#define IPV4(first, protocol)                                                                      \
	HEADS "0800 " first " 00 0040 0001 0000 40 " protocol " 0000 c6336407 c0000201 "
#define TCP25 "9c40 0019 00000000 00000000 50020000 0000 0000"
	static const struct {
		const char *frame;
		enum xb_reason reason;
	} table[] = {
		{IPV6("00") OPTIONS("06") TCP25, XB_SCOPED_DROPPED},
		{IPV6("00") OPTIONS("2b") ROUTING("3c") OPTIONS("06") TCP25, XB_SCOPED_DROPPED},
		{IPV6("33") AH("06") "00000001 " TCP25, XB_SCOPED_DROPPED},
		{IPV6("2c") WHOLE("06") TCP25, XB_SCOPED_DROPPED},
		{IPV6("2c") FIRST("3c") OPTIONS("06") TCP25, XB_SCOPED_DROPPED},
		{IPV6("2c") LATER("06") TCP25, XB_SCOPED_FRAGMENT},
		{IPV6("2c") LATER("3c") TCP25, XB_CLEAN}, /* of what, only the first says */
		{IPV6("00") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c")
			 OPTIONS("3c") OPTIONS("3c") OPTIONS("06") TCP25,
		 XB_SCOPED_DROPPED},
		{IPV6("00") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c") OPTIONS("3c")
			 OPTIONS("3c") OPTIONS("3c") OPTIONS("3c") OPTIONS("06") TCP25,
		 XB_SCOPED_HEADERS},
		{IPV6("00") "06 ", XB_SCOPED_SHORT},
		{IPV6("00") OPTIONS("06") "9c40 00", XB_SCOPED_SHORT},
		{IPV6("06") "9c40 00", XB_SCOPED_SHORT},
		{IPV6("06"), XB_SCOPED_SHORT},
		{IPV6("11"), XB_CLEAN},
		{IPV6("3b"), XB_CLEAN},
		{IPV6("32") "00000001 00000001 " TCP25, XB_CLEAN}, /* ESP */
		{HEADS "0800 45 00 0028 0001 0000 40 06 0000 c6336407 c0000201 9c40 00",
		 XB_SCOPED_SHORT},
		{HEADS "0800 4f 00 0028 0001 0000 40 06 0000 c6336407 c0000201 9c40 0019",
		 XB_SCOPED_SHORT},
		{HEADS "0800 45 00 0028 0001 0000 40 2f 0000 c6336407 c0000201 9c40 0019",
		 XB_CLEAN},
		/* IPv4 has no headers in between: behind AH no port is looked for, nor a name. */
		{IPV4("45", "33") AH("06") "00000001 " TCP25, XB_CLEAN},
		{IPV4("46", "33") "01010100" AH("06") "00000001 " TCP25, XB_CLEAN},
		{IPV4("46", "3c") "01010100" OPTIONS("06") TCP25, XB_CLEAN},
		{IPV4("46", "33") "01010100", XB_CLEAN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint8_t frame[512];
		enum xb_reason got = reason_of(frame, rig_bytes(table[i].frame, frame));

		if (got != table[i].reason)
			fail_msg("frame %zu: %s instead of %s", i, xb_reason_name(got),
				 xb_reason_name(table[i].reason));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(headers_in_front),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

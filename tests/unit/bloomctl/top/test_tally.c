/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops by source: in which order they come out, and what a flood of sources hides. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomctl/top/tally.h"
#include "support/cmocka.h"
#include "support/texts.h"

#define MANY 40000

static struct tally tally;
static struct tally_source *taken; /* room for MANY */

static int begin(void **state)
{
	tally = (struct tally){0};
	taken = calloc(MANY, sizeof(*taken));
	return taken ? 0 : -1;
}

static int end(void **state)
{
	tally_free(&tally);
	free(taken);
	return 0;
}

static struct xb_drop drop_of(const char *source)
{
	struct xb_drop drop = {.ifindex = 7, .reason = XB_LISTED_IPV4_HOST};

	drop.family = strchr(source, ':') ? 6 : 4;
	memset(drop.source, 0xee, sizeof(drop.source));
	assert_int_equal(inet_pton(drop.family == 6 ? AF_INET6 : AF_INET, source, drop.source), 1);
	return drop;
}

static void add(const char *source, unsigned int packets)
{
	struct xb_drop drop = drop_of(source);

	while (packets--)
		assert_int_equal(tally_add(&tally, &drop), 0);
}

/* "SOURCE PACKETS; ...": so many at most come out, in this order. */
static void assert_taken(size_t most, const char *expected)
{
	size_t count = tally_take(&tally, taken, most), used = 0;
	char out[1024] = "", text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < count; i++)
		used += (size_t)sprintf(out + used, "%s%s %" PRIu64, i ? "; " : "",
					xb_entry_format(&taken[i].source, text), taken[i].packets);
	assert_string_equal(out, expected);
}

/* As many: in the order of addresses. */
TEST(most_packets_come_first)
{
	add("192.0.2.9", 2);
	add("192.0.2.1", 1);
	add("2001:db8::1", 3);
	add("192.0.2.1", 1);
	add("192.0.2.10", 1);
	assert_int_equal(tally.seen, 8);
	assert_taken(MANY, "2001:db8::1 3; 192.0.2.1 2; 192.0.2.9 2; 192.0.2.10 1");
}

TEST(as_many_as_are_wanted)
{
	add("192.0.2.1", 1);
	add("192.0.2.2", 2);
	add("192.0.2.3", 3);
	taken[2].packets = 99;
	assert_taken(2, "192.0.2.3 3; 192.0.2.2 2");
	assert_int_equal(taken[2].packets, 99);
}

/* It is empty after each time. */
TEST(it_begins_anew)
{
	assert_taken(5, "");
	assert_taken(0, "");
	add("192.0.2.1", 5);
	add("192.0.2.2", 1);
	assert_taken(5, "192.0.2.1 5; 192.0.2.2 1");
	assert_int_equal(tally.seen, 0);
	assert_taken(5, "");
	add("192.0.2.2", 1);
	assert_int_equal(tally.seen, 1);
	assert_int_equal(tally_take(&tally, NULL, 0), 0);
	assert_taken(5, "");
	add("192.0.2.2", 1);
	assert_taken(5, "192.0.2.2 1");
	add("192.0.2.2", 1);
	tally_free(&tally);
	assert_taken(5, "");
	tally_free(&tally);
}

/* These differ in the family, in the last bit, or in the lower half only. */
TEST(sources_that_look_alike)
{
	struct texts sources = texts_of("192.0.2.0; 192.0.2.1; c000:200::; c000:201::; "
					"c000:200:0:0:8000::; c000:200::1; 0.0.0.0; ::; ::1; "
					"255.255.255.255");
	unsigned int packets = 1;

	for (const char *source; (source = next_text(&sources));)
		add(source, packets++);
	assert_taken(MANY, "255.255.255.255 10; ::1 9; :: 8; 0.0.0.0 7; c000:200::1 6; "
			   "c000:200:0:0:8000:: 5; c000:201:: 4; c000:200:: 3; 192.0.2.1 2; "
			   "192.0.2.0 1");
}

TEST(the_last_drop_tells)
{
	struct xb_drop drop = drop_of("192.0.2.1");

	assert_int_equal(tally_add(&tally, &drop), 0);
	drop.ifindex = 9;
	drop.reason = XB_LIMITED;
	drop.limit = 15;
	assert_int_equal(tally_add(&tally, &drop), 0);
	assert_int_equal(tally_take(&tally, taken, 1), 1);
	assert_int_equal(taken[0].ifindex, 9);
	assert_int_equal(taken[0].reason, XB_LIMITED);
	assert_int_equal(taken[0].limit, 15);
}

/* So many sources that there is no room for the last ones: all drops are counted, and who came
 * before stays. */
TEST(a_flood_hides_nobody_who_came_before)
{
	struct xb_drop drop = drop_of("10.0.0.0");
	size_t count;

	add("192.0.2.1", 2);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t address = htonl(0x0a000000 + i);

		memcpy(drop.source, &address, sizeof(address));
		assert_int_equal(tally_add(&tally, &drop), 0);
	}
	add("192.0.2.1", 3);
	add("192.0.2.2", 4);
	assert_int_equal(tally.seen, MANY + 9);
	count = tally_take(&tally, taken, MANY);
	assert_in_range(count, 10000, MANY - 1);
	assert_int_equal(taken[0].packets, 5);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(taken[i].packets, 1);
	/* Each once. */
	for (size_t i = 2; i < count; i++)
		assert_true(xb_entry_compare(&taken[i - 1].source, &taken[i].source) < 0);
	/* There is room again. */
	add("192.0.2.2", 4);
	assert_taken(MANY, "192.0.2.2 4");
}

EACH_TEST(begin, end);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long links were away, with a stand-in that says what the carrier is. */
#include <string.h>

#include <sched.h>

#include "attach/linkaway.h"
#include "base/clock.h"
#include "support/cmocka.h"

#define MS	1000000ULL /* ns */
#define NUMBERS 300

static struct {
	bool gone, down;
	uint32_t changes;
	uint64_t back; /* when it comes back; 0: never */
} carriers[NUMBERS];

static int looks;

static bool answer(uint32_t ifindex, struct xb_carrier *carrier)
{
	looks++;
	if (carriers[ifindex].back && xb_clock() >= carriers[ifindex].back) {
		carriers[ifindex].down = false;
		carriers[ifindex].back = 0;
		carriers[ifindex].changes++;
	}
	*carrier = (struct xb_carrier){.up = !carriers[ifindex].down,
				       .changes = carriers[ifindex].changes};
	return !carriers[ifindex].gone;
}

static struct xb_links links;

static int begin(void **state)
{
	memset(carriers, 0, sizeof(carriers));
	memset(&links, 0, sizeof(links));
	looks = 0;
	xb_links_ask(answer);
	xb_links_collect(&links);
	return 0;
}

static int end(void **state)
{
	xb_links_collect(NULL);
	xb_links_ask(NULL);
	return 0;
}

/* As a driver does; ns 0: it does not come back. */
static void take_away(uint32_t ifindex, uint64_t ns)
{
	carriers[ifindex].down = true;
	carriers[ifindex].changes++;
	carriers[ifindex].back = ns ? xb_clock() + ns : 0;
}

TEST(a_link_that_stays)
{
	uint64_t begun = xb_clock();

	xb_links_before(1);
	xb_links_before(1);
	assert_int_equal(links.count, 1);
	xb_links_wait(&links, 10000 * MS);
	assert_true(xb_clock() - begun < 5000 * MS);
	assert_int_equal(looks, 2);
	assert_int_equal(xb_links_of(&links, 1)->away, 0);
	assert_null(xb_links_of(&links, 2));
}

TEST(links_that_come_back)
{
	for (uint32_t i = 1; i <= 3; i++)
		xb_links_before(i);
	take_away(1, 50 * MS);
	take_away(3, 150 * MS);
	xb_links_wait(&links, 60000 * MS);
	assert_in_range(xb_links_of(&links, 1)->away, 50000, 149999);
	assert_int_equal(xb_links_of(&links, 2)->away, 0);
	assert_true(xb_links_of(&links, 3)->away >= 150000);
	assert_true(xb_links_of(&links, 3)->back);
}

TEST(a_link_that_is_back_at_once_or_never)
{
	xb_links_before(1);
	xb_links_before(2);
	carriers[1].changes += 2;
	take_away(2, 0);
	xb_links_wait(&links, 100 * MS);
	assert_true(xb_links_of(&links, 1)->away > 0);
	assert_true(xb_links_of(&links, 1)->back);
	assert_true(xb_links_of(&links, 2)->away >= 100000);
	assert_false(xb_links_of(&links, 2)->back);
}

/* One without carrier before, one that is removed meanwhile, and one that was never there. */
TEST(links_that_nobody_waits_for)
{
	carriers[1].down = true;
	carriers[3].gone = true;
	for (uint32_t i = 1; i <= 3; i++)
		xb_links_before(i);
	assert_int_equal(links.count, 1);
	carriers[2].gone = true;
	xb_links_wait(&links, 10000 * MS);
	assert_int_equal(xb_links_of(&links, 2)->away, 0);
}

TEST(only_who_wants_to_know)
{
	xb_links_collect(NULL);
	xb_links_before(1);
	assert_int_equal(looks, 0);
	xb_links_collect(&links);
	for (uint32_t i = 0; i < NUMBERS; i++)
		xb_links_before(i);
	assert_int_equal(links.count, XB_LINKS_MAX);
}

/* lo of a fresh network namespace is down, and has carrier none the less or has none. */
TEST(the_kernel_is_asked)
{
	xb_links_ask(NULL);
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	xb_links_before(1);
	xb_links_before(12345);
	assert_null(xb_links_of(&links, 12345));
	xb_links_wait(&links, 10000 * MS);
	for (size_t i = 0; i < links.count; i++)
		assert_int_equal(links.item[i].away, 0);
}

EACH_TEST(begin, end);

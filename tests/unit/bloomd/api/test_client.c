/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is dropped when clients have too much. */
#include "bloomd/api/client.h"

#include <string.h>

#include "support/cmocka.h"

#define MIB   ((size_t)1 << 20)
#define MANY  1000
#define HEAVY 3

static struct clients all;
static struct client client[MANY];

/* A thousand, of which the first three have that much and a request that waits; the others have so
 * much. */
static void fill(size_t heavy, size_t others)
{
	memset(&all, 0, sizeof(all));
	memset(client, 0, sizeof(client));
	LIST_INIT(&all.list);
	for (size_t i = 0; i < MANY; i++) {
		client[i].held = i < HEAVY ? heavy : others;
		client[i].queued = i < HEAVY;
		all.held += client[i].held;
		all.count++;
		LIST_INSERT_HEAD(&all.list, &client[i], others);
	}
}

TEST(nobody_below_the_limit)
{
	fill(20 * MIB, 0);
	assert_null(clients_largest(&all));
}

/* What waits is about to go, and to drop the others would free nothing. */
TEST(nobody_who_has_little)
{
	fill(30 * MIB, 0);
	assert_null(clients_largest(&all));
	fill(30 * MIB, 512);
	assert_null(clients_largest(&all));
}

TEST(who_has_more_than_his_share)
{
	fill(22 * MIB, 0);
	client[500].held = MIB;
	all.held += MIB;
	assert_ptr_equal(clients_largest(&all), &client[500]);
}

TEST(whoever_has_most_if_it_is_far_too_much)
{
	fill(50 * MIB, 512);
	client[1].held += MIB;
	all.held += MIB;
	assert_ptr_equal(clients_largest(&all), &client[1]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any two states of a list: the taker's becomes the maker's, but for what the maker had not seen.
 */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/fleethosts.h"
#include "support/fleettail.h"
#include "support/held.h"
#include "support/random.h"

#define UNIVERSE 96

static const char *text_of(int i, char text[64])
{
	static const char *const forms[] = {"198.51.%d.7",	"203.0.%d.0/24", "192.0.2.%d",
					    "2001:db8:%d::/48", "2001:db8::%d",	 "n%d.example.com"};

	snprintf(text, 64, forms[i % 6], i);
	return text;
}

static struct held any_state(void)
{
	static const char *const comments[] = {"", "one", "two"};

	return (struct held){.is = random_word() % 3,
			     .expires = random_word() % 2 ? 0 : NOW - 1 + random_word() % 4,
			     .comment = comments[random_word() % 3]};
}

static void assert_state(const char *text, const struct held *expected)
{
	struct xb_entry entry = entry_of(text);
	struct xb_members members;
	struct xb_membership member;
	bool has = !xb_members_of(at(&taker), &entry, &members) &&
		   xb_members_have(members, list_of(at(&taker), "bans")->id, &member);

	assert_int_equal(has, lives(expected));
	if (!has)
		return;
	assert_int_equal(member.expires, expected->expires);
	assert_int_equal(member.comment_size, strlen(expected->comment));
	assert_memory_equal(member.comment, expected->comment, member.comment_size);
}

static void any_two_states_become_one(bool some_pass)
{
	struct held expected[UNIVERSE];
	uint64_t position = 40;
	char text[64];

	part_at_40();
	for (int i = 0; i < UNIVERSE; i++) {
		expected[i] = any_state();
		put_state(at(&maker), text_of(i, text), &expected[i]);
	}
	for (int i = 0; i < UNIVERSE; i++) {
		struct held ours = any_state();
		bool passes = some_pass && !(random_word() % 4);

		text_of(i, text);
		if (passes && ours.is) {
			position++;
			apply(1, position, epoch, stranger, position,
			      &(struct change_row){"bans", text, ours.comment, 1, ours.expires});
			if (lives(&ours))
				expected[i] = ours;
		} else if (passes) {
			list_entry(at(&taker), text, "bans");
			position++;
			apply(1, position, epoch, stranger, position,
			      &(struct change_row){"bans", text, NULL, 0, 0});
		} else {
			put_state(at(&taker), text, &ours);
			if (random_word() % 2)
				list_entry(at(&taker), text, "private");
		}
	}
	stand(&taker, epoch, 1, position);
	make();
	assert_false(take_with(true).partial);
	for (int i = 0; i < UNIVERSE; i++)
		assert_state(text_of(i, text), &expected[i]);
}

TEST(any_two_states)
{
	random_begin();
	for (uint32_t round = 0; round < 20; round++) {
		any_two_states_become_one(round % 2);
		end_hosts(state);
		begin_hosts(state);
	}
}

EACH_TEST(begin_hosts, end_hosts);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands, replies, and the cursors of walks; and who is dropped when clients have
 * too much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomd/api/client.h"
#include "bloomd/api/command.h"
#include "support/cmocka.h"
#include "support/entryof.h"

TEST(test_each_is_found)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		char name[64];
		size_t size = strlen(command->name);

		snprintf(name, sizeof(name), "%s", command->name);
		assert_ptr_equal(command_find(name, size), command);
		for (char *c = name; *c; c++)
			if (*c >= 'a' && *c <= 'z')
				*c = (char)(*c - 32);
		assert_ptr_equal(command_find(name, size), command);
		assert_ptr_not_equal(command_find(name, size - 1), command);
		name[size] = 'x';
		assert_null(command_find(name, size + 1));
	}
	assert_null(command_find("", 0));
}

TEST(test_each_is_whole)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		assert_true(command->arity != 0);
		assert_int_equal(command->kind == COMMAND_WRITES, command->plan != NULL);
		assert_int_equal(command->kind == COMMAND_REFUSED, command->about != NULL);
		assert_int_equal(command->kind == COMMAND_REFUSED, command->answer == NULL);
	}
}

TEST(test_arity)
{
	struct command command = {.arity = 2};

	assert_true(command_takes(&command, 2));
	assert_false(command_takes(&command, 1) || command_takes(&command, 3));
	command.arity = -2;
	assert_true(command_takes(&command, 2) && command_takes(&command, 3));
	assert_false(command_takes(&command, 1));
}

TEST(test_replies)
{
	static const char wanted[] =
		"+OK\r\n:0\r\n:-9223372036854775808\r\n:9223372036854775807\r\n"
		"$-1\r\n$3\r\na\nb\r\n$0\r\n\r\n*2\r\n-ERR a?b?c\r\n";
	struct reply reply = {0};

	reply_status(&reply, "OK");
	reply_integer(&reply, 0);
	reply_integer(&reply, INT64_MIN);
	reply_integer(&reply, INT64_MAX);
	reply_nil(&reply);
	reply_text(&reply, "a\nb");
	reply_bulk(&reply, "", 0);
	reply_array(&reply, 2);
	/* What a client sent must not end the line. */
	reply_error(&reply, "ERR %s", "a\rb\nc");
	assert_int_equal(reply.size, sizeof(wanted) - 1);
	assert_memory_equal(reply.bytes, wanted, reply.size);
	reply_free(&reply);
}

TEST(test_cursors)
{
	struct cursors cursors = {0};
	struct xb_entry entry = entry_of("a.long.name.example"), found;
	uint64_t first = 0, number = 0;

	assert_false(cursors_find(&cursors, 1, &found));
	for (size_t i = 0; i < CURSORS; i++) {
		number = cursors_keep(&cursors, &entry);
		first = i ? first : number;
		assert_true(number != 0);
	}
	assert_true(cursors_find(&cursors, first, &found));
	assert_int_equal(xb_entry_compare(&found, &entry), 0);
	assert_false(cursors_find(&cursors, 0, &found));
	assert_false(cursors_find(&cursors, number + 1, &found));
	cursors_keep(&cursors, &entry);
	assert_false(cursors_find(&cursors, first, &found));
	cursors_free(&cursors);
}

/* --- clients --- */

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

/* Below the limit; and what waits is about to go, and to drop the others would free nothing. */
TEST(nobody_who_has_little)
{
	fill(20 * MIB, 0);
	assert_null(clients_largest(&all));
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

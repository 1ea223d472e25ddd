/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stream of decisions: what becomes a record, what is counted, what is no answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fetch/decisions.h"
#include "support/cmocka.h"

#define MOST 16

static struct fetch_record found[MOST];
static size_t count, room;
static struct fetch_left_out left_out;

static bool take(void *context, const struct fetch_record *record)
{
	if (count == room)
		return false;
	found[count++] = *record;
	return true;
}

/* From a copy of that very size, so that the sanitizer sees a read behind it. */
static const char *read_text(const char *text)
{
	size_t size = strlen(text);
	char *copy = malloc(size + 1);
	const char *wrong;

	memcpy(copy, text, size);
	copy = realloc(copy, size ? size : 1);
	count = 0;
	wrong = decisions_read(copy, size, take, NULL, &left_out);
	free(copy);
	return wrong;
}

#define BAN(id, value, more)                                                                       \
	"{\"id\":" id ",\"type\":\"ban\",\"scope\":\"Ip\",\"value\":\"" value "\"" more "}"
#define HOUR ",\"duration\":\"1h\""

TEST(what_is_taken)
{
	room = MOST;
	assert_null(read_text("{\"new\":[" BAN("7", "192.0.2.1", HOUR) ", " BAN(
		"8", "2001:db8::/32", HOUR) "],"
					    "\"deleted\":[" BAN("9", "192.0.2.2",
								",\"duration\":\"-1s\"") "]}"));
	assert_int_equal(count, 3);
	assert_int_equal(found[0].id, 7);
	assert_int_equal(found[0].duration, 3600000);
	assert_int_equal(found[0].deleted, 0);
	assert_string_equal(found[0].value, "192.0.2.1");
	assert_string_equal(found[1].value, "2001:db8::/32");
	assert_int_equal(found[2].id, 9);
	assert_int_equal(found[2].duration, -1000);
	assert_int_equal(found[2].deleted, 1);
	/* In any order, with anything beside them. */
	assert_null(read_text(" {\"deleted\" : null , \"more\":{\"new\":[1]}, \"\\u006eew\":[" BAN(
		"1", "192.0.2.1", HOUR) "]} \n"));
	assert_int_equal(count, 1);
	assert_null(read_text("{\"new\":null,\"deleted\":null}"));
	assert_null(read_text("{\"new\":[],\"deleted\":[]}"));
	assert_int_equal(count, 0);
}

TEST(what_is_counted)
{
	room = MOST;
	assert_null(read_text("{\"new\":[" BAN("1", "192.0.2.1", "") "," BAN("-1", "192.0.2.1", HOUR) "," BAN(
		"1.5", "192.0.2.1",
		HOUR) "," BAN("1", "example.com",
			      HOUR) "," BAN("1", "1.1.1.1\\u0000",
					    HOUR) "," BAN("1", "",
							  HOUR) "," BAN("1",
									"0000:0000:0000:0000:0000:"
									"ffff:255.255.255.255/"
									"128888",
									HOUR) ","
									      "{},[],1,\"x\",null,"
									      "true,"
									      "{\"type\":"
									      "\"captcha\"},{"
									      "\"type\":\"Ban\","
									      "\"scope\":\"AS\"},{"
									      "\"type\":\"ban\","
									      "\"scope\":"
									      "\"Country\"}," BAN(
										      "5",
										      "192.0.2.5",
										      HOUR) "],"
											    "\"dele"
											    "ted\":"
											    "[{},{"
											    "\"type"
											    "\":"
											    "\"capt"
											    "cha\"}"
											    "]}"));
	assert_int_equal(count, 1);
	assert_int_equal(found[0].id, 5);
	assert_int_equal(left_out.unreadable, 13);
	assert_int_equal(left_out.other_type, 1);
	assert_int_equal(left_out.other_scope, 2);
}

/* A scenario that is tried out bans nobody, and its end ends no ban. */
TEST(what_is_simulated)
{
	room = MOST;
	assert_null(
		read_text("{\"new\":[" BAN("1", "192.0.2.1", HOUR ",\"simulated\":true") "," BAN(
			"2", "192.0.2.2",
			HOUR
			",\"simulated\":false") "],\"deleted\":[" BAN("3", "192.0.2.3",
								      HOUR
								      ",\"simulated\":true") "]}"));
	assert_int_equal(count, 1);
	assert_int_equal(found[0].id, 2);
	assert_int_equal(left_out.simulated, 1);
	assert_int_equal(left_out.unreadable, 0);
}

TEST(what_is_no_answer)
{
	static const char *const wrong[] = {
		"",
		" ",
		"null",
		"[]",
		"{}",
		"{\"new\":[]}",
		"{\"deleted\":[]}",
		"{\"new\":[],\"deleted\":[]",
		"{\"new\":[],\"deleted\":[",
		"{\"new\":[],\"deleted\":[]},",
		"{\"new\":[],\"deleted\":[]}{}",
		"{\"new\":[],\"new\":[],\"deleted\":[]}",
		"{\"new\":{},\"deleted\":[]}",
		"{\"new\":1,\"deleted\":[]}",
		"{\"new\":[1,],\"deleted\":[]}",
		"{\"new\":[1 2],\"deleted\":[]}",
		"{\"new\":[],\"deleted\":[],}",
		"{new:[],\"deleted\":[]}",
		"{1:[],\"deleted\":[]}",
		"{\"new\" [],\"deleted\":[]}",
		"{\"message\":\"access forbidden\"}",
		"<html>",
	};

	room = MOST;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!read_text(wrong[i]))
			fail_msg("'%s' is taken", wrong[i]);
}

/* Wherever the text is cut, that is seen. */
TEST(every_cut)
{
	const char *text = "{\"new\":[" BAN("7", "192.0.2.1", HOUR) "],\"deleted\":[]}";
	char part[256];

	room = MOST;
	assert_null(read_text(text));
	for (size_t size = 0; size < strlen(text); size++) {
		snprintf(part, sizeof(part), "%.*s", (int)size, text);
		assert_non_null(read_text(part));
	}
}

TEST(no_room)
{
	room = 1;
	assert_string_equal(read_text("{\"new\":[" BAN("1", "192.0.2.1", HOUR) "," BAN(
				    "2", "192.0.2.2", HOUR) "],\"deleted\":[]}"),
			    "the decisions have no room");
}

TEST(files)
{
	const char *text = "{\"new\":[" BAN("7", "192.0.2.1", HOUR) ",{}],\"deleted\":[]}";
	int from = memfd_create("from", 0), to = memfd_create("to", 0);
	struct fetch_records head;
	struct fetch_record record;
	uint64_t bytes = 0;

	assert_non_null(decisions_convert(from, to, &bytes));
	assert_true(write(from, text, strlen(text)) == (ssize_t)strlen(text));
	assert_null(decisions_convert(from, to, &bytes));
	assert_int_equal(bytes, sizeof(head) + sizeof(record));
	assert_int_equal(pread(to, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(pread(to, &record, sizeof(record), sizeof(head)), sizeof(record));
	assert_int_equal(head.magic, FETCH_RECORDS_MAGIC);
	assert_int_equal(head.count, 1);
	assert_int_equal(head.left_out.unreadable, 1);
	assert_int_equal(record.id, 7);
	assert_int_equal(lseek(to, 0, SEEK_END), (off_t)bytes);
	close(from);
	close(to);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stream of decisions: what becomes a record, what is counted, what is no answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fetch/decisions.h"
#include "support/cmocka.h"
#include "support/texts.h"

static size_t count, room;
static char found[1024];
static struct fetch_left_out left_out;

/* "ID VALUE MILLISECONDS[ deleted]; ..." */
static bool take(void *context, const struct fetch_record *record)
{
	size_t used = strlen(found);

	if (count++ == room)
		return false;
	snprintf(found + used, sizeof(found) - used, "%s%" PRIu64 " %s %" PRId64 "%s",
		 used ? "; " : "", record->id, record->value, record->duration,
		 record->deleted ? " deleted" : "");
	return true;
}

/* "'" stands for '"', and BAN for what all bans have. From a copy of that very size, so that the
 * sanitizer sees a read behind it. */
static const char *read_text(const char *text)
{
	size_t size = 0;
	char *copy = malloc(strlen(text) * 20 + 1);
	const char *wrong;

	for (; *text; text++) {
		if (!strncmp(text, "BAN", 3)) {
			size += (size_t)sprintf(copy + size, "\"type\":\"ban\",\"scope\":\"Ip\"");
			text += 2;
		} else {
			copy[size++] = *text == '\'' ? '"' : *text;
		}
	}
	copy = realloc(copy, size ? size : 1);
	count = 0;
	found[0] = '\0';
	wrong = decisions_read(copy, size, take, NULL, &left_out);
	free(copy);
	return wrong;
}

static void assert_taken(const char *text, const char *expected)
{
	room = 16;
	assert_null(read_text(text));
	assert_string_equal(found, expected);
}

static void assert_left_out(uint64_t unreadable, uint64_t other_type, uint64_t other_scope,
			    uint64_t simulated)
{
	assert_int_equal(left_out.unreadable, unreadable);
	assert_int_equal(left_out.other_type, other_type);
	assert_int_equal(left_out.other_scope, other_scope);
	assert_int_equal(left_out.simulated, simulated);
}

#define ONE   "{'id':7,BAN,'value':'192.0.2.1','duration':'1h'}"
#define WHOLE "{'new':[" ONE "],'deleted':[]}"

TEST(what_is_taken)
{
	assert_taken("{'new':[" ONE ", {'id':8,BAN,'value':'2001:db8::/32','duration':'1h'}],"
		     "'deleted':[{'id':9,BAN,'value':'192.0.2.2','duration':'-1s'}]}",
		     "7 192.0.2.1 3600000; 8 2001:db8::/32 3600000; 9 192.0.2.2 -1000 deleted");
	/* In any order, with anything beside them. */
	assert_taken(" {'deleted' : null , 'more':{'new':[1]}, '\\u006eew':[" ONE "]} \n",
		     "7 192.0.2.1 3600000");
	assert_taken("{'new':null,'deleted':null}", "");
	assert_taken("{'new':[],'deleted':[]}", "");
}

TEST(what_is_counted)
{
	assert_taken("{'new':[{'id':1,BAN,'value':'192.0.2.1'},"
		     "{'id':-1,BAN,'value':'192.0.2.1','duration':'1h'},"
		     "{'id':1.5,BAN,'value':'192.0.2.1','duration':'1h'},"
		     "{'id':1,BAN,'value':'example.com','duration':'1h'},"
		     "{'id':1,BAN,'value':'1.1.1.1\\u0000','duration':'1h'},"
		     "{'id':1,BAN,'value':'','duration':'1h'},"
		     "{'id':1,BAN,'value':'0000:0000:0000:0000:0000:ffff:255.255.255.255/128888',"
		     "'duration':'1h'},{},[],1,'x',null,true,{'type':'captcha'},"
		     "{'type':'Ban','scope':'AS'},{'type':'ban','scope':'Country'}," ONE "],"
		     "'deleted':[{},{'type':'captcha'}]}",
		     "7 192.0.2.1 3600000");
	assert_left_out(13, 1, 2, 0);
	/* A scenario that is tried out bans nobody, and its end ends no ban. */
	assert_taken(
		"{'new':[{'id':1,BAN,'value':'192.0.2.1','duration':'1h','simulated':true},"
		"{'id':2,BAN,'value':'192.0.2.2','duration':'1h','simulated':false}],"
		"'deleted':[{'id':3,BAN,'value':'192.0.2.3','duration':'1h','simulated':true}]}",
		"2 192.0.2.2 3600000");
	assert_left_out(0, 0, 0, 1);
}

TEST(what_is_no_answer)
{
	struct texts texts = texts_of(
		";  ; null; []; {}; {'new':[]}; {'deleted':[]}; {'new':[],'deleted':[]; "
		"{'new':[],'deleted':[; {'new':[],'deleted':[]},; {'new':[],'deleted':[]}{}; "
		"{'new':[],'new':[],'deleted':[]}; {'new':{},'deleted':[]}; "
		"{'new':1,'deleted':[]}; "
		"{'new':[1,],'deleted':[]}; {'new':[1 2],'deleted':[]}; {'new':[],'deleted':[],}; "
		"{new:[],'deleted':[]}; {1:[],'deleted':[]}; {'new' [],'deleted':[]}; "
		"{'message':'access forbidden'}; <html>");
	char part[] = WHOLE;

	room = 16;
	for (const char *text; (text = next_text(&texts));)
		if (!read_text(text))
			fail_msg("'%s' is taken", text);
	/* Wherever the text is cut, that is seen. */
	assert_taken(part, "7 192.0.2.1 3600000");
	for (size_t size = strlen(part); size-- > 0;) {
		part[size] = '\0';
		assert_non_null(read_text(part));
	}
}

TEST(no_room)
{
	room = 1;
	assert_string_equal(read_text("{'new':[" ONE "," ONE "],'deleted':[]}"),
			    "the decisions have no room");
}

TEST(files)
{
	static const char text[] =
		"{\"new\":[{\"id\":7,\"type\":\"ban\",\"scope\":\"Ip\",\"value\":"
		"\"192.0.2.1\",\"duration\":\"1h\"},{}],\"deleted\":[]}";
	int from = memfd_create("from", 0), to = memfd_create("to", 0);
	struct fetch_records head;
	struct fetch_record record;
	uint64_t bytes = 0;

	assert_non_null(decisions_convert(from, to, &bytes));
	assert_true(write(from, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
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

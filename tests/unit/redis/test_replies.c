/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of a server: whole ones, in pieces, beyond the limits, what is no RESP2; and what the
 * first one says of the password. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/greeting.h"
#include "redis/replies.h"
#include "support/cmocka.h"

static struct replies answers;
static struct redis_end ended;

static int begin(void **state)
{
	ended = (struct redis_end){.outcome = REDIS_OUTCOME_COUNT};
	return replies_begin(&answers) ? 0 : -1;
}

static int end(void **state)
{
	replies_free(&answers);
	return 0;
}

static void feed(const void *bytes, size_t size)
{
	assert_true(replies_feed(&answers, bytes, size, &ended));
}

static void feed_text(const char *text)
{
	feed(text, strlen(text));
}

/* The nodes of the present answer: "nil", "NUMBER", "KIND:TEXT", "[NODES" of an array. */
static const char *shown(void)
{
	static const char *const kinds[REDIS_KINDS] = {
		[REDIS_STATUS] = "status", [REDIS_ERROR] = "error", [REDIS_STRING] = "string"};
	static char out[1024];
	const char *text;
	const struct redis_node *node = replies_first(&answers, &text);
	size_t used = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < answers.count; i++, node++) {
		char *at = out + used;
		size_t room = sizeof(out) - used;

		if (node->kind == REDIS_NIL)
			used += (size_t)snprintf(at, room, "nil ");
		else if (node->kind == REDIS_NUMBER)
			used += (size_t)snprintf(at, room, "%lld ", (long long)node->number);
		else if (node->kind == REDIS_ARRAY)
			used += (size_t)snprintf(at, room, "[%u ", node->size);
		else
			used += (size_t)snprintf(at, room, "%s:%.*s ", kinds[node->kind],
						 (int)node->size, text);
		assert_true(used < sizeof(out));
		if (kinds[node->kind])
			text += node->size;
	}
	return out;
}

static void assert_next(const char *expected)
{
	assert_int_equal(replies_next(&answers, &ended), 1);
	assert_string_equal(shown(), expected);
}

static void assert_refused(enum redis_outcome outcome, const char *words)
{
	assert_int_equal(replies_next(&answers, &ended), -1);
	assert_int_equal(ended.outcome, outcome);
	assert_string_equal(ended.text, words);
}

#define NO_RESP2 "the server does not speak RESP2: "

/* Each kind; what a server of another kind says, and types that were not agreed upon. outcome: of
 * what is refused, with words that begin so. */
static const struct {
	const char *text, *shown;
	enum redis_outcome outcome;
} rows[] = {
	{"", "", REDIS_OUTCOME_COUNT},
	{"+OK\r\n-ERR no\r\n", "status:OK error:ERR no ", REDIS_OUTCOME_COUNT},
	{":-9223372036854775808\r\n", "-9223372036854775808 ", REDIS_OUTCOME_COUNT},
	{"$3\r\na\r\n\r\n$0\r\n\r\n", "string:a\r\n string: ", REDIS_OUTCOME_COUNT},
	{"$-1\r\n*-1\r\n*0\r\n", "nil nil [0 ", REDIS_OUTCOME_COUNT},
	{"*3\r\n:1\r\n*1\r\n$1\r\nx\r\n+y\r\n", "[3 1 [1 string:x status:y ", REDIS_OUTCOME_COUNT},
	{"*2\r\n$2\r\nab\r\n:7\r\n+OK\r\n:", "[2 string:ab 7 status:OK ", REDIS_OUTCOME_COUNT},
	{"HTTP/1.1 400 Bad Request\r\n\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"220 mail.example ESMTP\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"\r\n", NO_RESP2, REDIS_PROTOCOL},
	{":12x\r\n", NO_RESP2, REDIS_PROTOCOL},
	{":\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"$-2\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"$1x\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"*-2\r\n", NO_RESP2, REDIS_PROTOCOL},
	{"%1\r\n+a\r\n:1\r\n", "the server ", REDIS_PROTOCOL},
	{"#t\r\n", "the server ", REDIS_PROTOCOL},
	{",1.5\r\n", "the server ", REDIS_PROTOCOL},
};

/* How many answers there are of the first bytes; what they say, one behind the other. */
static int answer(const char *text, size_t size, size_t piece, char all[256])
{
	int next = 0;

	all[0] = '\0';
	for (size_t at = 0; next >= 0 && at < size; at += piece) {
		feed(text + at, piece);
		while ((next = replies_next(&answers, &ended)) > 0)
			strcat(all, shown());
	}
	return next;
}

TEST(at_once_and_in_pieces)
{
	char all[256];

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = rows[i / 2].text, *expected = rows[i / 2].shown;
		size_t size = strlen(text);
		int next = answer(text, size, i % 2 ? 1 : size + !size, all);

		if (next != (rows[i / 2].outcome == REDIS_OUTCOME_COUNT ? 0 : -1))
			fail_msg("'%s': %d", text, next);
		assert_int_equal(ended.outcome, rows[i / 2].outcome);
		if (next)
			assert_memory_equal(ended.text, expected, strlen(expected));
		else
			assert_string_equal(all, expected);
		for (const char *at = ended.text; next && *at; at++)
			assert_in_range(*at, ' ', '~');
		/* The next one is of another connection. */
		replies_free(&answers);
		assert_int_equal(begin(NULL), 0);
	}
}

TEST(as_a_frame)
{
	struct iovec parts[ANSWERS_PARTS];
	struct replies_head head;

	feed_text("*2\r\n$2\r\nab\r\n+c\r\n");
	assert_next("[2 string:ab status:c ");
	replies_frame(&answers, &head, parts);
	assert_int_equal(head.kind, REDIS_ANSWER);
	assert_int_equal(head.answer.nodes, 3);
	assert_int_equal(head.size, parts[0].iov_len - sizeof(head.size) + parts[1].iov_len +
					    parts[2].iov_len);
	assert_int_equal(parts[1].iov_len, 3 * sizeof(struct redis_node));
	assert_int_equal(parts[2].iov_len, 3);
	assert_memory_equal(parts[2].iov_base, "abc", 3);
}

/* Arrays in arrays, the innermost with a number. */
static void feed_depth(unsigned int depth)
{
	while (depth--)
		feed_text("*1\r\n");
	feed_text(":5\r\n");
}

TEST(as_deep_as_may_be_and_deeper)
{
	feed_depth(REDIS_DEPTH_MAX);
	assert_next("[1 [1 [1 [1 [1 [1 [1 5 ");
	feed_depth(REDIS_DEPTH_MAX + 1);
	assert_refused(REDIS_TOO_LARGE, "the server sent an answer beyond 7 levels of arrays");
}

/* The first line of an array, or of two, the second within the first. */
static void feed_arrays(const char *before, int nodes)
{
	char text[64];

	snprintf(text, sizeof(text), "%s*%d\r\n", before, nodes);
	feed_text(text);
}

static void feed_numbers(int count)
{
	while (count--)
		feed_text(":1\r\n");
}

/* Of what an array only claims there are no nodes yet. */
TEST(as_many_nodes_as_may_be)
{
	for (int again = 0; again < 2; again++) {
		feed_arrays("", REDIS_NODES_MAX - 1);
		assert_int_equal(replies_next(&answers, &ended), 0);
		assert_int_equal(answers.count, 1);
		feed_numbers(REDIS_NODES_MAX - 1);
		assert_int_equal(replies_next(&answers, &ended), 1);
		assert_int_equal(answers.count, REDIS_NODES_MAX);
	}
}

/* In one array, and in several together. */
TEST(too_many_nodes)
{
	feed_arrays("", REDIS_NODES_MAX);
	assert_refused(REDIS_TOO_LARGE, "the server sent an answer beyond 262144 nodes");
	replies_free(&answers);
	assert_int_equal(begin(NULL), 0);
	feed_arrays("*2\r\n", REDIS_NODES_MAX - 3);
	assert_int_equal(replies_next(&answers, &ended), 0);
	feed_numbers(REDIS_NODES_MAX - 3);
	feed_text("*1\r\n");
	assert_refused(REDIS_TOO_LARGE, "the server sent an answer beyond 262144 nodes");
}

/* 64 KiB behind what says of which kind it is. */
TEST(a_line_without_an_end)
{
	static char line[65536];

	memset(line, 'a', sizeof(line));
	feed_text("+");
	feed(line, sizeof(line));
	assert_int_equal(replies_next(&answers, &ended), 0);
	feed_text("a");
	assert_refused(REDIS_PROTOCOL, "the server sent a line without an end");
}

/* Refused when so much has come, long before it is whole. */
TEST(a_text_too_large)
{
	static char page[1 << 20];
	size_t fed = 0, piece;
	int next = 0;

	memset(page, '\n', sizeof(page));
	feed_text("$2000000000\r\n");
	for (; !next && fed < 2 * REDIS_ANSWER_MAX; fed += piece) {
		piece = fed < REDIS_ANSWER_MAX - 2 * sizeof(page) ? sizeof(page) : 65536;
		feed(page, piece);
		next = replies_next(&answers, &ended);
	}
	assert_int_equal(next, -1);
	assert_in_range(fed, REDIS_ANSWER_MAX - piece, REDIS_ANSWER_MAX + piece);
	assert_int_equal(ended.outcome, REDIS_TOO_LARGE);
	assert_string_equal(ended.text, "the server sent an answer beyond 64 MiB");
}

/* A server may have said it. */
TEST(what_is_said_is_plain)
{
	char longest[2 * REDIS_TEXT_MAX];

	assert_false(end_set(&ended, REDIS_AUTH, "%s", " a~\t\r\n\x1f\x7f\x80\xff"));
	assert_int_equal(ended.outcome, REDIS_AUTH);
	assert_string_equal(ended.text, " a~???????");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	end_set(&ended, REDIS_FAILED, "%s", longest);
	assert_int_equal(strlen(ended.text), REDIS_TEXT_MAX - 1);
	end_set(&ended, REDIS_FAILED, "%s", "");
	assert_string_equal(ended.text, "");
}

static const struct {
	bool password;
	const char *answer;
	int outcome; /* -1: it lets us in */
} greetings[] = {
	{true, "+OK\r\n", -1},
	{false, "+PONG\r\n", -1},
	{true, "-WRONGPASS invalid username-password pair\r\n", REDIS_AUTH},
	{true, "-ERR AUTH <password> called without any password configured\r\n", REDIS_AUTH},
	{false, "-NOAUTH Authentication required.\r\n", REDIS_AUTH},
	{true, "-LOADING Redis is loading the dataset in memory\r\n", REDIS_NO_CONNECTION},
	{true, "-BUSY Redis is busy running a script\r\n", REDIS_NO_CONNECTION},
	{true, "-MASTERDOWN Link with MASTER is down\r\n", REDIS_NO_CONNECTION},
	{true, "-ERR max number of clients reached\r\n", REDIS_NO_CONNECTION},
	{false, "-LOADING Redis is loading the dataset in memory\r\n", -1},
	{true, "+PONG\r\n", REDIS_PROTOCOL},
};

TEST(each_first_answer)
{
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		struct greeting greeting = {.size = greetings[i].password ? 6 : 0};
		bool let_in;

		feed_text(greetings[i].answer);
		assert_int_equal(replies_next(&answers, &ended), 1);
		let_in = greeting_judge(&greeting, &answers, &ended);
		assert_int_equal(let_in ? -1 : (int)ended.outcome, greetings[i].outcome);
		replies_free(&answers);
		assert_int_equal(begin(NULL), 0);
	}
}

EACH_TEST(begin, end);

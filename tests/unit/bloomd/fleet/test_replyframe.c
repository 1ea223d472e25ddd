/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of answers, right ones and all that a process could send that somebody has taken over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/connurl.h"
#include "bloomd/fleet/replyframe.h"
#include "redis/wire.h"
#include "support/cmocka.h"
#include "support/texts.h"

#define MOST 16 /* nodes of a case */

struct given {
	struct redis_node node[MOST];
	uint32_t nodes, pad;
	const char *text;
	size_t cut; /* bytes that are missing at the end */
};

/* In memory of its size, so that the sanitizer sees a read behind it. */
static int read_frame(const struct given *given, uint8_t **frame, struct server_reply **nodes)
{
	struct redis_answer head = {given->nodes, given->pad};
	size_t used = (given->nodes < MOST ? given->nodes : MOST) * sizeof(struct redis_node);
	size_t text = strlen(given->text ?: ""), size = sizeof(head) + used + text - given->cut;
	uint8_t *whole = malloc(sizeof(head) + used + text);
	int error;

	*frame = malloc(size);
	assert_non_null(whole);
	assert_non_null(*frame);
	memcpy(whole, &head, sizeof(head));
	memcpy(whole + sizeof(head), given->node, used);
	memcpy(whole + sizeof(head) + used, given->text ?: "", text);
	memcpy(*frame, whole, size);
	free(whole);
	error = replyframe_read(*frame, size, nodes);
	return error;
}

#define NODE(kind, size, number) ((struct redis_node){kind, size, number})
#define NIL			 NODE(REDIS_NIL, 0, 0)
#define NUMBER(n)		 NODE(REDIS_NUMBER, 0, n)
#define STRING(size)		 NODE(REDIS_STRING, size, 0)
#define ARRAY(size)		 NODE(REDIS_ARRAY, size, 0)

TEST(test_nodes_find_their_places)
{
	const struct given given = {
		.node = {ARRAY(3), ARRAY(2), STRING(3), STRING(0), NUMBER(-7), ARRAY(1), ARRAY(0)},
		.nodes = 7,
		.text = "abc"};
	struct server_reply *nodes;
	uint8_t *frame;

	assert_int_equal(read_frame(&given, &frame, &nodes), 0);
	assert_int_equal(nodes->kind, REPLY_ARRAY);
	assert_int_equal(nodes->size, 3);
	assert_int_equal(nodes->node[0].size, 2);
	assert_true(reply_begins(&nodes->node[0].node[0], "abc"));
	assert_false(reply_begins(&nodes->node[0].node[0], "abcd"));
	assert_int_equal(nodes->node[0].node[1].size, 0);
	assert_int_equal(nodes->node[1].number, -7);
	assert_false(reply_begins(&nodes->node[1], ""));
	assert_int_equal(nodes->node[2].node[0].kind, REPLY_ARRAY);
	assert_int_equal(nodes->node[2].node[0].size, 0);
	free(nodes);
	free(frame);
}

TEST(test_what_is_refused)
{
	const struct given cases[] = {
		{.nodes = 0},
		{.node = {NIL}, .nodes = 1, .pad = 1},
		{.node = {NIL}, .nodes = 2, .cut = 16},
		{.node = {NIL}, .nodes = 1, .cut = 1},
		{.node = {NIL}, .nodes = 1, .cut = 20},
		{.node = {NIL}, .nodes = UINT32_MAX},
		{.node = {NIL, NIL}, .nodes = 2},
		{.node = {NIL}, .nodes = 1, .text = "left over"},
		{.node = {NODE(REDIS_KINDS, 0, 0)}, .nodes = 1},
		{.node = {NODE(UINT32_MAX, 0, 0)}, .nodes = 1},
		{.node = {NODE(REDIS_NIL, 1, 0)}, .nodes = 1, .text = "a"},
		{.node = {NODE(REDIS_NUMBER, 1, 0)}, .nodes = 1, .text = "a"},
		{.node = {NODE(REDIS_STRING, 1, 1)}, .nodes = 1, .text = "a"},
		{.node = {STRING(2)}, .nodes = 1, .text = "a"},
		{.node = {STRING(UINT32_MAX)}, .nodes = 1, .text = "a"},
		{.node = {ARRAY(1)}, .nodes = 1},
		{.node = {ARRAY(UINT32_MAX)}, .nodes = 1},
		{.node = {ARRAY(2), NIL}, .nodes = 2},
		{.node = {ARRAY(1), NIL, NIL}, .nodes = 3},
		{.node = {ARRAY(2), ARRAY(1), NIL}, .nodes = 3},
	};
	struct given deep = {.nodes = 8};
	struct server_reply *nodes;
	uint8_t *frame;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		xb_error_clear();
		if (!read_frame(&cases[i], &frame, &nodes))
			fail_msg("case %zu is taken", i);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
		free(nodes);
		free(frame);
	}
	/* Seven levels are taken, eight are not. */
	for (; deep.nodes < 10; deep.nodes++) {
		for (uint32_t i = 0; i < deep.nodes; i++)
			deep.node[i] = i + 1 < deep.nodes ? ARRAY(1) : NIL;
		assert_int_equal(!read_frame(&deep, &frame, &nodes), deep.nodes == 8);
		free(nodes);
		free(frame);
	}
}

TEST(test_urls)
{
	struct texts right = texts_of("redis://a.example -> a.example  6379 0; "
				      "rediss://a.example:7 -> a.example  7 1; "
				      "redis://192.0.2.1:65535 -> 192.0.2.1  65535 0; "
				      "rediss://[2001:db8::1]:6380 -> 2001:db8::1  6380 1; "
				      "redis://[::1] -> ::1  6379 0; "
				      "unix:/run/redis/a.sock ->  /run/redis/a.sock 0 0");
	struct texts wrong =
		texts_of("; redis://; redis:/a; http://a; redis://a:; redis://a:0; "
			 "redis://a:65536; redis://a:1x; redis://[::1; redis://[::1]x; "
			 "redis://a/0; redis://u:p@a; redis://a b; unix:a; rediss://; "
			 "redis://a:99999999999999999999; redis://[a.b]x; redis://a\n");
	struct redis_place place;
	char *url, *expected, text[512];

	while ((url = next_pair(&right, &expected))) {
		place = (struct redis_place){0};
		assert_int_equal(connurl_read(url, &place), 0);
		snprintf(text, sizeof(text), "%s %s %u %u", place.host, place.socket, place.port,
			 place.tls);
		assert_row(url, text, expected);
	}
	while ((url = next_text(&wrong))) {
		xb_error_clear();
		if (!connurl_read(url, &place))
			fail_msg("'%s' is taken", url);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of answers, right ones and all that a process could send that somebody has taken over. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/connurl.h"
#include "bloomd/fleet/replyframe.h"
#include "redis/wire.h"
#include "support/cmocka.h"

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

#define NIL                                                                                        \
	{                                                                                          \
		REDIS_NIL, 0, 0                                                                    \
	}
#define NUMBER(n)                                                                                  \
	{                                                                                          \
		REDIS_NUMBER, 0, n                                                                 \
	}
#define STRING(size)                                                                               \
	{                                                                                          \
		REDIS_STRING, size, 0                                                              \
	}
#define ARRAY(size)                                                                                \
	{                                                                                          \
		REDIS_ARRAY, size, 0                                                               \
	}

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
	static const struct given cases[] = {
		{.nodes = 0},
		{.node = {NIL}, .nodes = 1, .pad = 1},
		{.node = {NIL}, .nodes = 2, .cut = 16},
		{.node = {NIL}, .nodes = 1, .cut = 1},
		{.node = {NIL}, .nodes = 1, .cut = 20},
		{.node = {NIL}, .nodes = UINT32_MAX},
		{.node = {NIL, NIL}, .nodes = 2},
		{.node = {NIL}, .nodes = 1, .text = "left over"},
		{.node = {{REDIS_KINDS, 0, 0}}, .nodes = 1},
		{.node = {{UINT32_MAX, 0, 0}}, .nodes = 1},
		{.node = {{REDIS_NIL, 1, 0}}, .nodes = 1, .text = "a"},
		{.node = {{REDIS_NUMBER, 1, 0}}, .nodes = 1, .text = "a"},
		{.node = {{REDIS_STRING, 1, 1}}, .nodes = 1, .text = "a"},
		{.node = {STRING(2)}, .nodes = 1, .text = "a"},
		{.node = {STRING(UINT32_MAX)}, .nodes = 1, .text = "a"},
		{.node = {ARRAY(1)}, .nodes = 1},
		{.node = {ARRAY(UINT32_MAX)}, .nodes = 1},
		{.node = {ARRAY(2), NIL}, .nodes = 2},
		{.node = {ARRAY(1), NIL, NIL}, .nodes = 3},
		{.node = {ARRAY(2), ARRAY(1), NIL}, .nodes = 3},
		{.node = {ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1),
			  ARRAY(1), NIL},
		 .nodes = 9},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server_reply *nodes;
		uint8_t *frame;

		xb_error_clear();
		if (!read_frame(&cases[i], &frame, &nodes))
			fail_msg("case %zu is taken", i);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
		free(nodes);
		free(frame);
	}
}

TEST(test_seven_levels_are_taken)
{
	const struct given given = {
		.node = {ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), ARRAY(1), NIL},
		.nodes = 8};
	struct server_reply *nodes;
	uint8_t *frame;

	assert_int_equal(read_frame(&given, &frame, &nodes), 0);
	free(nodes);
	free(frame);
}

TEST(test_urls)
{
	static const struct {
		const char *url, *host, *socket;
		uint16_t port, tls;
	} cases[] = {
		{"redis://a.example", "a.example", "", 6379, 0},
		{"rediss://a.example:7", "a.example", "", 7, 1},
		{"redis://192.0.2.1:65535", "192.0.2.1", "", 65535, 0},
		{"rediss://[2001:db8::1]:6380", "2001:db8::1", "", 6380, 1},
		{"redis://[::1]", "::1", "", 6379, 0},
		{"unix:/run/redis/a.sock", "", "/run/redis/a.sock", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct redis_place place = {0};

		assert_int_equal(connurl_read(cases[i].url, &place), 0);
		assert_string_equal(place.host, cases[i].host);
		assert_string_equal(place.socket, cases[i].socket);
		assert_int_equal(place.port, cases[i].port);
		assert_int_equal(place.tls, cases[i].tls);
	}
}

TEST(test_what_is_no_url)
{
	static const char *const cases[] = {
		"",
		"redis://",
		"redis:/a",
		"http://a",
		"redis://a:",
		"redis://a:0",
		"redis://a:65536",
		"redis://a:1x",
		"redis://[::1",
		"redis://[::1]x",
		"redis://a/0",
		"redis://u:p@a",
		"redis://a b",
		"unix:a",
		"rediss://",
		"redis://a:99999999999999999999",
		"redis://[a.b]x",
		"redis://a\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct redis_place place = {0};

		xb_error_clear();
		if (!connurl_read(cases[i], &place))
			fail_msg("'%s' is taken", cases[i]);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	}
}

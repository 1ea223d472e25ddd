/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Postfix asks in both protocols, whole, in pieces, one behind the other, and wrong; and what
 * it is answered: what is an action, and what is put into it. */
#include <stdio.h>
#include <string.h>

#include "bloomd/postfix/action.h"
#include "bloomd/postfix/policy.h"
#include "bloomd/postfix/socketmap.h"
#include "support/cmocka.h"
#include "support/texts.h"

TEST(actions)
{
	struct texts right =
		texts_of("REJECT; reject it; DEFER_IF_PERMIT later; DUNNO; 450 4.7.1 %l; "
			 "554 %a; PREPEND X-Listed: %l; prepend A: 100%%; HOLD; "
			 "FILTER smtp:a:1; REDIRECT a@b.example");
	struct texts wrong =
		texts_of("; OK; PERMIT; REJECTED; 250 fine; 5500 x; 550; 4x0 x; PREPEND; "
			 "PREPEND no colon; PREPEND : x; REJECT %; %l; REJECT %d; "
			 "REJECT \xc3\xa4; REJECT a\tb; PREPEND %l: a; FILTER");

	for (const char *text; (text = next_text(&right));)
		if (action_check(text))
			fail_msg("'%s' is refused", text);
	for (const char *text; (text = next_text(&wrong));)
		if (action_check(text) >= 0)
			fail_msg("'%s' is taken", text);
	assert_true(action_is_none("DUNNO") && action_is_none("dunno why"));
	assert_false(action_is_none("DUNNOT") || action_is_none("REJECT DUNNO"));
}

TEST(what_is_put_into_an_action)
{
	char out[ACTION_TEXT], text[ACTION_MOST + 1];

	assert_string_equal(action_format("REJECT %a by %l", "192.0.2.1", "a,b", out),
			    "REJECT 192.0.2.1 by a,b");
	assert_string_equal(action_format("REJECT %%l %%%a%l", "x", "y", out), "REJECT %l %xy");
	/* What is put in is not looked at again. */
	assert_string_equal(action_format("%l%a", "%l", "%a", out), "%a%l");
	for (size_t i = 0; i < ACTION_MOST; i += 2)
		memcpy(text + i, "%l", 2);
	text[ACTION_MOST] = '\0';
	assert_int_equal(strlen(action_format(text, "", "0123456789", out)), ACTION_TEXT - 1);
}

/* Requests as they are read, each with a '/' behind it; a '!' stands for the wrong end. */
static char read_as[4096];

static void note(const char *first, const char *second)
{
	size_t used = strlen(read_as);

	snprintf(read_as + used, sizeof(read_as) - used, "%s|%s/", first, second);
}

/* The next piece; a request that it ends is noted. Returns how much of it was used. */
typedef size_t take_piece(const char *text, size_t size, enum postfix_result *result);

static struct socketmap map;
static struct policy policy;

static size_t take_map(const char *text, size_t size, enum postfix_result *result)
{
	const char *name, *key;
	size_t used;

	*result = socketmap_read(&map, text, size, &used);
	if (*result == POSTFIX_REQUEST) {
		socketmap_split(&map, &name, &key);
		note(name, key);
	}
	return used;
}

static size_t take_policy(const char *text, size_t size, enum postfix_result *result)
{
	size_t used;

	*result = policy_read(&policy, text, size, &used);
	if (*result == POSTFIX_REQUEST) {
		note(policy.address, policy.port);
		if (*policy.domain)
			strcat(strcat(read_as, policy.domain), "/");
	}
	return used;
}

static const char *read_all(take_piece *take, const char *text, size_t size, size_t piece)
{
	enum postfix_result result = POSTFIX_MORE;
	size_t used;

	map = (struct socketmap){0};
	policy = (struct policy){0};
	read_as[0] = '\0';
	for (size_t at = 0; at < size && result != POSTFIX_WRONG; at += used) {
		used = take(text + at, size - at < piece ? size - at : piece, &result);
		assert_true(used > 0);
	}
	return result == POSTFIX_WRONG ? strcat(read_as, "!") : read_as;
}

/* rows: "TEXT -> requests; ...", in pieces of any size. */
static void check(take_piece *take, const char *rows)
{
	struct texts texts = texts_of(rows);
	char *text, *requests;

	while ((text = next_pair(&texts, &requests)))
		for (size_t piece = 1; piece < 80; piece++)
			assert_row(text, read_all(take, text, strlen(text), piece), requests);
}

TEST(socketmaps)
{
	check(take_map, "13:bad 192.0.2.1, -> bad|192.0.2.1/; 5:a b c,0:,3:abc, -> a|b c/|/abc|/; "
			"2:a ,1: , -> a|/|/; 13:bad 192.0.2.1 -> ; 13 -> ; 3:a b. -> !; :, -> !; "
			"01:a, -> !; 00:, -> !; 1a:a, -> !; -1:a, -> !; 3:a b,x -> a|b/!; "
			"100001: -> !; 4294967297:a -> !");
}

TEST(policies)
{
	check(take_policy,
	      "request=smtpd_access_policy\nclient_address=192.0.2.1\nserver_port=25\n\n -> "
	      "192.0.2.1|25/; client_address=a\n\nserver_port=1\n\n\n -> a|/|1/|/; "
	      "client_address=a\nclient_address=b=c\n\n -> b=c|/; client_address=\n\n -> |/; "
	      "client_addres=a\nclient_addressx=a\n=\n\n -> |/; server_port=12345678\n\n -> |/; "
	      "client_address=a\nsender=b@c.example\n\nclient_address=d\n\n -> a|/c.example/d|/; "
	      "sender=\n\nsender=b\n\nsender=b@\n\nsender=\"a@b\"@c\n\n -> |/|/|/|/c/; "
	      "client_address=a\n -> ; request=junk\n\n -> !; request\n -> !; "
	      "client_address=a\n\nGET / HTTP/1.0\r\n -> a|/!");
}

/* A key that does not fit, or that holds a NUL, is none; what follows is read. */
TEST(test_long_key)
{
	char text[4096];

	for (int size = SOCKETMAP_KEPT - 3; size < SOCKETMAP_KEPT + 4; size++) {
		int used = sprintf(text, "%d:bad %0*d,3:a b,", size, size - 4, 0);

		read_all(take_map, text, (size_t)used, 100);
		if (size > SOCKETMAP_KEPT)
			assert_string_equal(read_as, "bad|/a|b/");
		else
			assert_int_equal(strlen(read_as), size + 1 + strlen("a|b/"));
	}
	read_all(take_map, "7:bad a\0b,", 10, 100);
	assert_string_equal(read_as, "bad|/");
}

/* Lines up to POLICY_LINE count, and longer ones do no harm. */
TEST(test_long_line)
{
	char text[4096];

	for (int size = 1; size < 300; size++) {
		int used = sprintf(text, "client_address=%0*d\nserver_port=25\nsender=%0*d\n\n",
				   size, 0, size, 0);

		read_all(take_policy, text, (size_t)used, 7);
		if (size < 64)
			assert_int_equal(strlen(read_as), size + 4);
		else
			assert_string_equal(read_as, "|25/");
	}
	read_all(take_policy, text,
		 (size_t)sprintf(text, "sender=%0*d@a.example\n\n", POLICY_LINE - 10, 0), 7);
	assert_string_equal(read_as, "|/");
}

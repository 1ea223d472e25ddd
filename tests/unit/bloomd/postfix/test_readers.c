/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of Postfix in both protocols: whole, in pieces, one behind the other, and wrong. */
#include <stdio.h>
#include <string.h>

#include "bloomd/postfix/policy.h"
#include "bloomd/postfix/socketmap.h"
#include "support/cmocka.h"

/* Requests as they are read, each with a ';' behind it; a '!' stands for the wrong end. */
static char read_as[4096];

static void note(const char *first, const char *second)
{
	size_t used = strlen(read_as);

	snprintf(read_as + used, sizeof(read_as) - used, "%s|%s;", first, second);
}

static void read_map(const char *text, size_t size, size_t piece)
{
	enum postfix_result result = POSTFIX_MORE;
	struct socketmap map = {0};
	const char *name, *key;
	size_t used;

	read_as[0] = '\0';
	for (size_t at = 0; at < size && result != POSTFIX_WRONG; at += used) {
		result = socketmap_read(&map, text + at, size - at < piece ? size - at : piece,
					&used);
		assert_true(used > 0);
		if (result != POSTFIX_REQUEST)
			continue;
		socketmap_split(&map, &name, &key);
		note(name, key);
	}
	strcat(read_as, result == POSTFIX_WRONG ? "!" : "");
}

static void read_policy(const char *text, size_t size, size_t piece)
{
	enum postfix_result result = POSTFIX_MORE;
	struct policy policy = {0};
	size_t used;

	read_as[0] = '\0';
	for (size_t at = 0; at < size && result != POSTFIX_WRONG; at += used) {
		result = policy_read(&policy, text + at, size - at < piece ? size - at : piece,
				     &used);
		assert_true(used > 0);
		if (result != POSTFIX_REQUEST)
			continue;
		note(policy.address, policy.port);
		if (*policy.domain)
			strcat(strcat(read_as, policy.domain), ";");
	}
	strcat(read_as, result == POSTFIX_WRONG ? "!" : "");
}

struct reading {
	const char *text, *requests;
};

static const struct reading maps[] = {
	{"13:bad 192.0.2.1,", "bad|192.0.2.1;"},
	{"5:a b c,0:,3:abc,", "a|b c;|;abc|;"},
	{"2:a ,1: ,", "a|;|;"},
	{"13:bad 192.0.2.1", ""},
	{"13", ""},
	{"3:a b;", "!"},
	{":,", "!"},
	{"01:a,", "!"},
	{"00:,", "!"},
	{"1a:a,", "!"},
	{"-1:a,", "!"},
	{"3:a b,x", "a|b;!"},
	{"100001:", "!"},
	{"4294967297:a", "!"},
};

static const struct reading policies[] = {
	{"request=smtpd_access_policy\nclient_address=192.0.2.1\nserver_port=25\n\n",
	 "192.0.2.1|25;"},
	{"client_address=a\n\nserver_port=1\n\n\n", "a|;|1;|;"},
	{"client_address=a\nclient_address=b=c\n\n", "b=c|;"},
	{"client_address=\n\n", "|;"},
	{"client_addres=a\nclient_addressx=a\n=\n\n", "|;"},
	{"server_port=12345678\n\n", "|;"},
	{"client_address=a\nsender=b@c.example\n\nclient_address=d\n\n", "a|;c.example;d|;"},
	{"sender=\n\nsender=b\n\nsender=b@\n\nsender=\"a@b\"@c\n\n", "|;|;|;|;c;"},
	{"client_address=a\n", ""},
	{"request=junk\n\n", "!"},
	{"request\n", "!"},
	{"client_address=a\n\nGET / HTTP/1.0\r\n", "a|;!"},
};

static void read_all(const struct reading *readings, size_t count,
		     void (*read)(const char *text, size_t size, size_t piece))
{
	for (size_t i = 0; i < count; i++)
		for (size_t piece = 1; piece < 80; piece++) {
			read(readings[i].text, strlen(readings[i].text), piece);
			assert_string_equal(read_as, readings[i].requests);
		}
}

TEST(test_socketmap)
{
	read_all(maps, sizeof(maps) / sizeof(maps[0]), read_map);
}

TEST(test_policy)
{
	read_all(policies, sizeof(policies) / sizeof(policies[0]), read_policy);
}

/* A key that does not fit, or that holds a NUL, is none; what follows is read. */
TEST(test_long_key)
{
	char text[4096];

	for (int size = SOCKETMAP_KEPT - 3; size < SOCKETMAP_KEPT + 4; size++) {
		int used = sprintf(text, "%d:bad %0*d,3:a b,", size, size - 4, 0);

		read_map(text, (size_t)used, 100);
		if (size > SOCKETMAP_KEPT)
			assert_string_equal(read_as, "bad|;a|b;");
		else
			assert_int_equal(strlen(read_as), size + 1 + strlen("a|b;"));
	}
	read_map("7:bad a\0b,", 10, 100);
	assert_string_equal(read_as, "bad|;");
}

/* Lines up to POLICY_LINE count, and longer ones do no harm. */
TEST(test_long_line)
{
	char text[4096];

	for (int size = 1; size < 300; size++) {
		int used = sprintf(text, "client_address=%0*d\nserver_port=25\nsender=%0*d\n\n",
				   size, 0, size, 0);

		read_policy(text, (size_t)used, 7);
		if (size < 64)
			assert_int_equal(strlen(read_as), size + 4);
		else
			assert_string_equal(read_as, "|25;");
	}
	read_policy(text, (size_t)sprintf(text, "sender=%0*d@a.example\n\n", POLICY_LINE - 10, 0),
		    7);
	assert_string_equal(read_as, "|;");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has to leave the web server for others, and which addresses and hosts it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <unistd.h>

#include "bloomd/base/listen.h"
#include "bloomd/http/site.h"
#include "bloomd/http/visitors.h"
#include "support/cmocka.h"
#include "support/texts.h"

static struct visitors visitors;
static int ends[1024][2]; /* [0]: the server's, by the number of the visitor */
static unsigned int count;

static int begin(void **state)
{
	visitors_begin(&visitors);
	count = 0;
	return 0;
}

static int end(void **state)
{
	for (unsigned int i = 0; i < count; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	return 0;
}

/* A connection from the address; returns its number. */
static unsigned int enter(const char *address, uint64_t now)
{
	struct listen_address from;
	char text[64];

	snprintf(text, sizeof(text), strchr(address, ':') ? "[%s]:1" : "%s:1", address);
	assert_int_equal(listen_parse(text, &from), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[count]), 0);
	visitors_enter(&visitors, ends[count][0], &from.socket.any, now);
	return count++;
}

static bool is_out(unsigned int number)
{
	char byte;

	return recv(ends[number][1], &byte, 1, 0) == 0;
}

TEST(the_oldest_leaves)
{
	char address[32];

	for (unsigned int i = 0; i < VISITORS_MAX; i++) {
		snprintf(address, sizeof(address), "192.0.2.%u", i);
		enter(address, 1000 - i);
	}
	for (unsigned int i = 0; i < VISITORS_MAX; i++)
		assert_false(is_out(i));
	enter("198.51.100.1", 2000);
	assert_true(is_out(VISITORS_MAX - 1));
	assert_false(is_out(0));
	assert_false(is_out(VISITORS_MAX));
}

TEST(one_address_keeps_no_other_out)
{
	unsigned int other = enter("198.51.100.1", 1);

	for (unsigned int i = 0; i < 300; i++)
		enter("192.0.2.1", 10 + i);
	assert_false(is_out(other));
	assert_true(is_out(other + 1));
	assert_true(is_out(count - 1 - VISITORS_OF_ONE));
	assert_false(is_out(count - VISITORS_OF_ONE));
}

TEST(a_network_of_ipv6_is_one)
{
	char address[32];

	for (unsigned int i = 0; i <= VISITORS_OF_ONE; i++) {
		snprintf(address, sizeof(address), "2001:db8::%x", i + 1);
		enter(address, i);
	}
	assert_true(is_out(0));
	assert_false(is_out(1));
}

TEST(those_that_stay_too_long_leave)
{
	assert_int_equal(visitors_tire(&visitors, 100), 0);
	enter("192.0.2.1", 100);
	enter("192.0.2.1", 105);
	assert_int_equal(visitors_tire(&visitors, 100 + VISITORS_STAY - 1), 100 + VISITORS_STAY);
	assert_false(is_out(0));
	assert_int_equal(visitors_tire(&visitors, 100 + VISITORS_STAY), 105 + VISITORS_STAY);
	assert_true(is_out(0));
	assert_false(is_out(1));
	/* The number of a closed connection may be another's. */
	visitors_leave(&visitors, ends[1][0]);
	assert_int_equal(visitors_tire(&visitors, 1000), 0);
	assert_false(is_out(1));
}

TEST(hosts)
{
	struct texts good = texts_of("localhost; LocalHost:80; 127.0.0.1; 10.0.0.1:9101; [::1]; "
				     "[::1]:9101");
	struct texts bad = texts_of("; :80; evil.example; localhost.example; localhos; 1.example; "
				    "127.0.0.1.nip.io:9101;  localhost");

	assert_true(site_takes_host(NULL));
	for (const char *host; (host = next_text(&good));)
		if (!site_takes_host(host))
			fail_msg("'%s' is not taken", host);
	for (const char *host; (host = next_text(&bad));)
		if (site_takes_host(host))
			fail_msg("'%s' is taken", host);
}

TEST(addresses)
{
	struct texts good = texts_of("127.0.0.1:9101 -> local; 127.9.9.9:1 -> local; "
				     "[::1]:9101 -> local; 0.0.0.0:65535 -> open; [::]:80 -> open; "
				     "192.0.2.1:80 -> open; unix:/run/x -> local");
	struct texts bad = texts_of("unix:x; unix:; ; :80; 80; ::1:80; [::1]; []:80; [::1:80; "
				    "[127.0.0.1]:80; 127.0.0.1:0; 127.0.0.1:65536; 127.0.0.1:-1; "
				    "127.0.0.1: 80; 127.0.0.1:80x; localhost:80; 999.0.0.1:80");
	struct listen_address address;
	char *text, *expected;

	while ((text = next_pair(&good, &expected))) {
		assert_int_equal(listen_parse(text, &address), 0);
		assert_row(text, listen_is_local(&address) ? "local" : "open", expected);
	}
	while ((text = next_text(&bad)))
		if (!listen_parse(text, &address))
			fail_msg("'%s' is taken", text);
}

EACH_TEST(begin, end);

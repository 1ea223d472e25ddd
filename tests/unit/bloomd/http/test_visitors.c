/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has to leave the web server for others, and which addresses and hosts it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bloomd/base/listen.h"
#include "bloomd/http/site.h"
#include "bloomd/http/visitors.h"
#include "support/cmocka.h"

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
	struct sockaddr_storage room = {0};
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&room;
	struct sockaddr_in *four = (struct sockaddr_in *)&room;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[count]), 0);
	if (strchr(address, ':')) {
		six->sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, address, &six->sin6_addr), 1);
	} else {
		four->sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, address, &four->sin_addr), 1);
	}
	visitors_enter(&visitors, ends[count][0], (struct sockaddr *)&room, now);
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
	static const char *const good[] = {"localhost",	    "LocalHost:80", "127.0.0.1",
					   "10.0.0.1:9101", "[::1]",	    "[::1]:9101"};
	static const char *const bad[] = {
		"",	    ":80",	 "evil.example",	  "localhost.example",
		"localhos", "1.example", "127.0.0.1.nip.io:9101", " localhost"};

	assert_true(site_takes_host(NULL));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(site_takes_host(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(site_takes_host(bad[i]));
}

TEST(addresses)
{
	static const struct {
		const char *text;
		bool good, local;
	} rows[] = {
		{"127.0.0.1:9101", true, true},
		{"127.9.9.9:1", true, true},
		{"[::1]:9101", true, true},
		{"0.0.0.0:65535", true, false},
		{"[::]:80", true, false},
		{"192.0.2.1:80", true, false},
		{"unix:/run/x", true, true},
		{"unix:x", false, false},
		{"unix:", false, false},
		{"", false, false},
		{":80", false, false},
		{"80", false, false},
		{"::1:80", false, false},
		{"[::1]", false, false},
		{"[]:80", false, false},
		{"[::1:80", false, false},
		{"[127.0.0.1]:80", false, false},
		{"127.0.0.1:0", false, false},
		{"127.0.0.1:65536", false, false},
		{"127.0.0.1:-1", false, false},
		{"127.0.0.1: 80", false, false},
		{"127.0.0.1:80x", false, false},
		{"localhost:80", false, false},
		{"999.0.0.1:80", false, false},
	};
	struct listen_address address;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(!listen_parse(rows[i].text, &address), rows[i].good);
		if (rows[i].good)
			assert_int_equal(listen_is_local(&address), rows[i].local);
	}
}

EACH_TEST(begin, end);

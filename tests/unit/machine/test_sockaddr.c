/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses from bytes, sockets and text, and the special ones among them, each at the edges of its
 * range. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "machine/sockaddr.h"
#include "support/cmocka.h"

TEST(text)
{
	static const char *const rows[][2] = {
		{"192.0.2.1", "192.0.2.1"},
		{"0.0.0.0", "0.0.0.0"},
		{"255.255.255.255", "255.255.255.255"},
		{"2001:DB8::1", "2001:db8::1"},
		{"::", "::"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"::ffff:0:0", "0.0.0.0"},
		{"::fffe:192.0.2.1", "::fffe:c000:201"},
		{"::192.0.2.1", "::192.0.2.1"},
		{"fe80::1%eth0", "fe80::1"},
		{"fe80::1%", "fe80::1"},
		{"fe80::1%a name that is longer than any address can be, and then some", "fe80::1"},
	};
	static const char *const wrong[] = {
		"",
		"%eth0",
		"192.0.2",
		"192.0.2.256",
		"192.0.2.1.1",
		"01.2.3.4",
		" 192.0.2.1",
		"192.0.2.1 ",
		"192.0.2.1:53",
		"192.0.2.0/24",
		"2001:db8::/32",
		":",
		":::",
		"1::2::3",
		"12345::",
		"[::1]",
		"example.com",
		"0xc0000201",
		"3221225985",
		"0000:0000:0000:0000:0000:ffff:255.255.255.2555",
		"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"};
	char found[XB_ENTRY_TEXT];
	struct xb_entry entry;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&entry, 0xff, sizeof(entry));
		if (!xb_address_parse(rows[i][0], &entry))
			fail_msg("%s", rows[i][0]);
		assert_string_equal(xb_entry_format(&entry, found), rows[i][1]);
		assert_int_equal(entry.kind, strchr(found, ':') ? XB_NET6 : XB_HOST4);
		assert_int_equal(entry.length, xb_entry_full_length(&entry));
		assert_int_equal(entry.line, 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (xb_address_parse(wrong[i], &entry))
			fail_msg("%s", wrong[i]);
}

TEST(bytes)
{
	/* at an odd place, as in a netlink message or a lease */
	static const uint8_t ipv4[] = {0, 192, 0, 2, 1},
			     ipv6[] = {0, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1};
	struct xb_entry entry;

	memset(&entry, 0xff, sizeof(entry));
	assert_true(xb_address_from_bytes(AF_INET, ipv4 + 1, &entry));
	assert_int_equal(entry.hi, 0xc000020100000000);
	assert_int_equal(entry.lo, 0);
	assert_true(entry.kind == XB_HOST4 && entry.length == 32 && !entry.line);
	memset(&entry, 0xff, sizeof(entry));
	assert_true(xb_address_from_bytes(AF_INET6, ipv6 + 1, &entry));
	assert_int_equal(entry.hi, 0x20010db800000000);
	assert_int_equal(entry.lo, 1);
	assert_true(entry.kind == XB_NET6 && entry.length == 128 && !entry.line);
	assert_true(xb_address_from_bytes(AF_INET6, mapped, &entry));
	assert_int_equal(xb_entry_ipv4(&entry), 0xc0000201);
	assert_true(entry.kind == XB_HOST4 && entry.length == 32);
	assert_false(xb_address_from_bytes(AF_UNIX, ipv4, &entry));
	assert_false(xb_address_from_bytes(AF_UNSPEC, ipv4, &entry));
}

TEST(sockets)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *ipv4 = (void *)&storage;
	struct sockaddr_in6 *ipv6 = (void *)&storage;
	struct xb_entry entry;
	uint16_t port = 7;

	assert_false(xb_address_from_socket(&storage, &entry, &port));
	storage.ss_family = AF_UNIX;
	assert_false(xb_address_from_socket(&storage, &entry, &port));
	assert_int_equal(port, 7);
	*ipv4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(0x1234)};
	inet_pton(AF_INET, "192.0.2.1", &ipv4->sin_addr);
	assert_true(xb_address_from_socket(&storage, &entry, &port));
	assert_int_equal(port, 0x1234);
	assert_int_equal(xb_entry_ipv4(&entry), 0xc0000201);
	*ipv6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = htons(22), .sin6_flowinfo = ~0U};
	inet_pton(AF_INET6, "2001:db8::1", &ipv6->sin6_addr);
	assert_true(xb_address_from_socket(&storage, &entry, &port));
	assert_int_equal(port, 22);
	assert_int_equal(entry.hi, 0x20010db800000000);
	assert_int_equal(entry.lo, 1);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &ipv6->sin6_addr);
	assert_true(xb_address_from_socket(&storage, &entry, &port));
	assert_int_equal(entry.kind, XB_HOST4);
}

TEST(special_ones)
{
	static const struct {
		const char *text;
		bool loopback, link_local, unspecified;
	} cases[] = {
		{"126.255.255.255", false, false, false},
		{"127.0.0.0", true, false, false},
		{"127.255.255.255", true, false, false},
		{"128.0.0.0", false, false, false},
		{"169.253.255.255", false, false, false},
		{"169.254.0.0", false, true, false},
		{"169.254.255.255", false, true, false},
		{"169.255.0.0", false, false, false},
		{"0.0.0.0", false, false, true},
		{"0.0.0.1", false, false, false},
		{"::", false, false, true},
		{"::1", true, false, false},
		{"::2", false, false, false},
		{"0:0:0:1::1", false, false, false},
		{"0:0:0:1::", false, false, false},
		{"::ffff:127.0.0.1", true, false, false},
		{"fe7f:ffff::", false, false, false},
		{"fe80::", false, true, false},
		{"febf:ffff::1", false, true, false},
		{"fec0::", false, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xb_entry entry;

		assert_true(xb_address_parse(cases[i].text, &entry));
		if (xb_address_is_loopback(&entry) != cases[i].loopback ||
		    xb_address_is_link_local(&entry) != cases[i].link_local ||
		    xb_address_is_unspecified(&entry) != cases[i].unspecified)
			fail_msg("%s", cases[i].text);
	}
}

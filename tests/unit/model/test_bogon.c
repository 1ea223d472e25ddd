/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bogons: the edges of every range, the lengths, and what merely covers a range. */
#include <stdio.h>
#include <string.h>

#include "model/bogon.h"
#include "support/cmocka.h"

static const char *bogon(const char *text)
{
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	return xb_bogon(&entry);
}

static void is_bogon(const char *text, const char *reason)
{
	const char *found = bogon(text);

	if (!found || strncmp(found, reason, strlen(reason)))
		fail_msg("%s: %s, not %s", text, found ? found : "no bogon", reason);
}

static void is_none(const char *text)
{
	const char *found = bogon(text);

	if (found)
		fail_msg("%s: %s, but should be none", text, found);
}

/* before and behind: the addresses around the range; NULL: they are bogons of another row. */
static const struct {
	const char *range, *reason, *first, *last, *before, *behind;
} ranges[] = {
	{"0.0.0.0/8", "this network", "0.0.0.0", "0.255.255.255", NULL, "1.0.0.0"},
	{"10.0.0.0/8", "private", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
	{"100.64.0.0/10", "carrier-grade NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255",
	 "100.128.0.0"},
	{"127.0.0.0/8", "loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
	{"169.254.0.0/16", "link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255",
	 "169.255.0.0"},
	{"172.16.0.0/12", "private", "172.16.0.0", "172.31.255.255", "172.15.255.255",
	 "172.32.0.0"},
	{"192.0.0.0/24", "protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255",
	 "192.0.1.0"},
	{"192.0.0.0/29", "protocol assignments", "192.0.0.0", "192.0.0.8", NULL, "192.0.0.9"},
	{"192.0.0.12/30", "protocol assignments", "192.0.0.11", "192.0.0.170", "192.0.0.10", NULL},
	{"192.0.2.0/24", "documentation", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
	{"192.168.0.0/16", "private", "192.168.0.0", "192.168.255.255", "192.167.255.255",
	 "192.169.0.0"},
	{"198.18.0.0/15", "benchmarking", "198.18.0.0", "198.19.255.255", "198.17.255.255",
	 "198.20.0.0"},
	{"198.51.100.0/24", "documentation", "198.51.100.0", "198.51.100.255", "198.51.99.255",
	 "198.51.101.0"},
	{"203.0.113.0/24", "documentation", "203.0.113.0", "203.0.113.255", "203.0.112.255",
	 "203.0.114.0"},
	{"224.0.0.0/4", "multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", NULL},
	{"240.0.0.0/4", "reserved", "240.0.0.0", "255.255.255.254", NULL, NULL},
	{"255.255.255.255", "broadcast", "255.255.255.255", "255.255.255.255", NULL, NULL},
	{"::/96", "IPv4-compatible", "::2", "::ffff:ffff", NULL, "::1:0:0"},
	{"::/128", "unspecified", "::", "::", NULL, NULL},
	{"::1/128", "loopback", "::1", "::1", NULL, NULL},
	{"64:ff9b:1::/48", "local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
	 "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::"},
	{"100::/64", "discard-only", "100::", "100::ffff:ffff:ffff:ffff",
	 "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"100:0:0:1::/64", "dummy prefix", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", NULL,
	 "100:0:0:2::"},
	{"2001::/23", "protocol assignments", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
	 "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
	{"2001:1::/126", "protocol assignments", "2001:1::", "2001:1::", NULL, "2001:1::1"},
	{"2001:1::4/126", "protocol assignments", "2001:1::4", "2001:1::7", "2001:1::3", NULL},
	{"2001:2::/48", "benchmarking", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", NULL,
	 NULL},
	{"2001:2:1::/48", "protocol assignments",
	 "2001:2:1::", "2001:2:ffff:ffff:ffff:ffff:ffff:ffff", NULL, "2001:3::"},
	{"2001:4::/40", "protocol assignments", "2001:4::", "2001:4:111:ffff:ffff:ffff:ffff:ffff",
	 "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4:112::"},
	{"2001:4:113::/48", "protocol assignments", "2001:4:113::",
	 "2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4:112:ffff:ffff:ffff:ffff:ffff", NULL},
	{"2001:10::/28", "ORCHID, deprecated", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff",
	 NULL, "2001:20::"},
	{"2001:40::/26", "protocol assignments", "2001:40::",
	 "2001:7f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"2001:db8::/32", "documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
	 "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
	{"3fff::/20", "documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
	 "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
	{"5f00::/16", "SRv6 segments", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	 "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::"},
	{"fc00::/7", "unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	 "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"},
	{"fe80::/10", "link-local", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	 "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"fec0::/10", "site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL,
	 NULL},
	{"ff00::/8", "multicast", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
};

TEST(every_range_ends_where_it_ends)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		is_bogon(ranges[i].range, ranges[i].reason);
		is_bogon(ranges[i].first, ranges[i].reason);
		is_bogon(ranges[i].last, ranges[i].reason);
		if (ranges[i].before)
			is_none(ranges[i].before);
		if (ranges[i].behind)
			is_none(ranges[i].behind);
	}
}

TEST(what_is_globally_reachable_stays)
{
	static const char *const entries[] = {
		"8.8.8.8",	   "192.0.0.9",	     "192.0.0.10",	  "192.31.196.0/24",
		"192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",	  "64:ff9b::/96",
		"2001::/32",	   "2001:0:1::1",    "2001:1::1",	  "2001:1::2",
		"2001:1::3",	   "2001:3::/32",    "2001:4:112::1",	  "2001:20::/28",
		"2001:30::/28",	   "2002::/16",	     "2620:4f:8000::/48", "2a00:1450::/32",
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		is_none(entries[i]);
}

TEST(prefixes_inside_are_bogons)
{
	is_bogon("10.1.0.0/16", "private");
	is_bogon("172.16.0.0/13", "private");
	is_bogon("192.0.2.128/25", "documentation");
	is_bogon("192.0.0.8/31", "protocol assignments");
	is_bogon("fd00::/8", "unique local");
	is_bogon("2001::/24", "protocol assignments");
	is_bogon("::/127", "IPv4-compatible");
}

TEST(prefixes_that_merely_cover_are_none)
{
	static const char *const entries[] = {
		"172.0.0.0/8",	  "192.0.0.0/8",   "192.0.0.0/23", "192.0.2.0/23", "198.18.0.0/14",
		"203.0.112.0/23", "169.0.0.0/8",   "100.0.0.0/8",  "::/95",	   "2001::/16",
		"2001::/22",	  "2001:c00::/24", "3fff::/19",	   "100::/63",	   "64:ff9b::/32",
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		is_none(entries[i]);
}

TEST(short_prefixes_are_bogons)
{
	static const char *const ipv4[] = {"0.0.0.0/0", "128.0.0.0/1", "64.0.0.0/2", "8.0.0.0/7"};
	static const char *const ipv6[] = {"::/0", "2000::/3", "2400::/12", "2002::/15"};

	for (size_t i = 0; i < 4; i++) {
		is_bogon(ipv4[i], "shorter than /8");
		is_bogon(ipv6[i], "shorter than /16");
	}
	is_none("8.0.0.0/8");
	is_none("128.0.0.0/8");
	is_none("2400::/16");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges, netmasks and ports; the formats p2p, ipfilter and words; and addresses out of a
 * text. */
#include <stdlib.h>

#include "support/listrows.h"

static const struct row plain[] = {
	{"192.0.2.1-192.0.2.9 # why\n", NULL,
	 "plain: 192.0.2.1 (why), 192.0.2.2/31 (why), 192.0.2.4/30 (why), 192.0.2.8/31 (why)"},
	{"192.0.2.7 - 192.0.2.7\n192.0.2.0-192.0.2.255\n", NULL, "plain: 192.0.2.0/24, 192.0.2.7"},
	{"0.0.0.0-255.255.255.255\n::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\n", NULL,
	 "plain: 0.0.0.0/0, ::/0"},
	{"2001:db8::fffe-2001:db8::1:1\n", NULL, "plain: 2001:db8::fffe/127, 2001:db8::1:0/127"},
	{"192.0.2.0/255.255.255.0\n192.0.2.5/255.255.255.255\n192.0.3.9/255.255.254.0\n", NULL,
	 "plain: 192.0.2.0/23, 192.0.2.0/24, 192.0.2.5; 1 cut"},
	{"192.0.2.1:80\n[2001:db8::1]:443\n[2001:db8::2]\n192.0.2.1:65535\n", NULL,
	 "plain: 192.0.2.1, 2001:db8::1, 2001:db8::2; 1 repeats"},
	{"// head\n192.0.2.1 // why; so\n192.0.2.2 // a # b\n192.0.2.3 # http://a\n", NULL,
	 "plain: 192.0.2.1 (why; so), 192.0.2.2 (a # b), 192.0.2.3 (http://a)"},
	{"create a hash:net\nadd a 192.0.2.0-192.0.2.3\n", NULL, "ipset: 192.0.2.0/30"},
	{"create a hash:ip netmask 24 timeout 9\nadd a 192.0.2.0-192.0.3.255\n", NULL,
	 "ipset: 192.0.2.0/23 timeout 9"},
	{0},
};

static const struct row lists_of_peers[] = {
	{"# x\nSome Org: a-b:192.0.2.0-192.0.2.255\nB:192.000.002.001-192.000.002.001\n", NULL,
	 "p2p: 192.0.2.0/24 (Some Org: a-b), 192.0.2.1 (B)"},
	{"a:192.0.2.1-192.0.2.2\nb 192.0.2.3\n", NULL,
	 ":2: 'b 192.0.2.3' is not a name, a colon and a range"},
	{"a:192.0.2.1-192.0.2.2x\n", "p2p",
	 ":1: 'a:192.0.2.1-192.0.2.2x' is not a name, a colon and a range"},
	{"192.000.002.001 - 192.000.002.002 , 000 , Some, org\n"
	 "192.000.002.003 - 192.000.002.003 , 127 , b\n"
	 "192.000.002.004 - 192.000.002.004 , 128 , let in\n192.0.2.5-192.0.2.5\n",
	 NULL, "ipfilter: 192.0.2.1 (Some, org), 192.0.2.2 (Some, org), 192.0.2.3 (b), 192.0.2.5"},
	{"010.000.000.008 - 010.000.000.009 , 0\n", "ipfilter", "ipfilter: 10.0.0.8/31"},
	{"192.000.002.001 - 192.000.002.002 , 000 , a\n192.0.2.256 - 192.0.2.9 , 000 , a\n", NULL,
	 ":2: '192.0.2.256 - 192.0.2.9 , 000 , a' is not a range, a level and a comment"},
	/* Not sure to be a level. */
	{"192.0.2.1-192.0.2.2,200,a\n", NULL,
	 ":1: not in a list format that can be recognized: '192.0.2.1-192.0.2.2,200,a'; it seems "
	 "to "
	 "have columns: choose column 1"},
	{0},
};

static const struct row words[] = {
	{"192.0.2.1 192.0.2.2,192.0.2.3\t2001:db8::1 # why\n192.0.2.0/24\n", "words",
	 "words: 192.0.2.0/24, 192.0.2.1 (why), 192.0.2.2 (why), 192.0.2.3 (why), 2001:db8::1 "
	 "(why)"},
	{"192.0.2.1 x\n", "words", ":1: 'x' is not an address or prefix"},
	{0},
};

static const struct row extracts[] = {
	{"Jan 1 12:30:01 sshd[7]: from 192.0.2.1 port 22; src=192.0.2.2, (192.0.2.3).\n", "extract",
	 "extract: 192.0.2.1, 192.0.2.2, 192.0.2.3"},
	{"deny 192.0.2.0/24; 2001:db8::/32 and [2001:db8::1]:80 or http://192.0.2.9:80/x\n",
	 "extract", "extract: 192.0.2.0/24, 192.0.2.9, 2001:db8::/32, 2001:db8::1"},
	{"v1.2.3.4 1.2.3.4.5 a1.2.3.4 1.2.3.4a 1.2.3 1.2.3.400 linux-1.2.3.4 1.2.3.4-rc1 01.2.3.4 "
	 "192.0.2.0/33 ::ffff:192.0.2.7 192.0.2.8\n",
	 "extract", "extract: 192.0.2.7, 192.0.2.8"},
	{"12:30:01 std::string a:b:c:d :: dead::beef 1::2::3 2001:db8::1x 00:11:22:33:44:55 "
	 "2001:db8::5.\n",
	 "extract", "extract: 2001:db8::5"},
	{"192.0.2.1\n192.0.2.1 192.0.2.5/24\n", "extract",
	 "extract: 192.0.2.0/24, 192.0.2.1; 1 repeats; 1 cut"},
	{"nothing\n", "extract", ": no entries"},
	{0},
};

ROWS(plain);
ROWS(lists_of_peers);
ROWS(words);
ROWS(extracts);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

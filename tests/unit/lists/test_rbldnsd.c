/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of rbldnsd: what each line of the four kinds says. How its server answers: e2e/rbldnsd. */
#include "support/listrows.h"

#define HEAD                                                                                       \
	"$SOA 3600 a. b. 0 600 300 86400 300\n$NS 3600 a. -b.\n$TTL 35m\n$1 see\n:127.0.0.2:$1\n"

static const struct row ip4[] = {
	{HEAD
	 "192.0.2.1\n192.0.2 why\n198.51.100.4-7 :3:because\n203.0.113.1 :4\n203.0.113.2:5:x # y\n",
	 "ip4set",
	 "ip4set: 192.0.2.0/24 (why), 192.0.2.1, 198.51.100.4/30 (because), 203.0.113.1, "
	 "203.0.113.2 (x # y)"},
	{"127.16-31\n10.1-10.2\n10.9.8/22\n11/8\n", "ip4set",
	 "ip4set: 10.1.0.0/16, 10.2.0.0/16, 10.9.8.0/22, 11.0.0.0/8, 127.16.0.0/12"},
	{"10.0.0.0/30\n! 10.0.0.1 text\n10.0.0.1 # x\n", "ip4trie",
	 "ip4trie: 10.0.0.0, 10.0.0.2/31"},
	{"10.0.0.0/30\n!10.0.0.1\n10.0.0.1\n", "ip4set", "ip4set: 10.0.0.0, 10.0.0.2/31"},
	/* In whole octets /25 is as long as /26. */
	{"!10.0.0.0/25\n10.0.0.0/26\n10.0.1.0/24\n", "ip4set", "ip4set: 10.0.1.0/24"},
	{"!10.0.0.0/25\n10.0.0.0/26\n10.0.1.0/24\n", "ip4trie",
	 "ip4trie: 10.0.1.0/24, 10.0.0.0/26"},
	{"10.0.0.1/24\n", "ip4trie", "ip4trie: 10.0.0.0/24; 1 cut"},
	{"$MAXRANGE4 /24\n10.0.0.0/23\n10.0.2.0/24\n", "ip4set",
	 "ip4set: 10.0.2.0/24; 1 unknown (2: '10.0.0.0/23' has more addresses than $MAXRANGE4 "
	 "allows)"},
	{0},
};

static const struct row refused_ip4[] = {
	{"10\n", "ip4set", ":1: '10' is not an address, a prefix or a range"},
	{"1.2.3.4-1.2.3.3\n", "ip4set",
	 ":1: '1.2.3.4-1.2.3.3' is not an address, a prefix or a range"},
	{"1.2-1.2.3.4\n", "ip4set", ":1: '1.2-1.2.3.4' is not an address, a prefix or a range"},
	{"1.2.3.4-5\n", "ip4trie",
	 ":1: '1.2.3.4-5' is not an address, a prefix or its first octets"},
	{"1.2.3.256\n", "ip4set", ":1: '1.2.3.256' is not an address, a prefix or a range"},
	{"1.2.3.4/33\n", "ip4set", ":1: '1.2.3.4/33' is not an address, a prefix or a range"},
	{"1.2.3.4.5\n", "ip4set", ":1: '1.2.3.4.5' is not an address, a prefix or a range"},
	{"$DATASET ip4set:a @\n", "ip4set",
	 ":1: a combined dataset: take its parts apart into files"},
	{"$X\n", "ip4set", ":1: '$X' is no directive of rbldnsd"},
	{"$MAXRANGE4 /0\n", "ip4set",
	 ":1: $MAXRANGE4 takes a number of addresses, or a prefix length"},
	{":2:x\n", "ip4set", ": no entries"},
	{0},
};

static const struct row ip6[] = {
	{HEAD "2001:db8\n2001:db8:1:2/60 why\n2001:db8:2::/48 :2:x\n::1\n", "ip6trie",
	 "ip6trie: ::1, 2001:db8::/32, 2001:db8:1::/60 (why), 2001:db8:2::/48 (x); 1 cut"},
	{"2001:db8::/126\n!2001:db8::1 x\n2001:db8:0:0:0:0:0:5\n", "ip6trie",
	 "ip6trie: 2001:db8::, 2001:db8::2/127, 2001:db8::5"},
	{"192.0.2.1\n", "ip6trie", ":1: '192.0.2.1' is not an IPv6 address or prefix"},
	{"2001\n", "ip6trie", ":1: '2001' is not an IPv6 address or prefix"},
	{"2001:db8::/129\n", "ip6trie", ":1: '2001:db8::/129': the prefix length must be 0 to 128"},
	{0},
};

static const struct row names[] = {
	{HEAD ".a.example :2:why\n*.b.example\nc.example text\n", "dnset",
	 "dnset: a.example (why), b.example, =c.example (text)"},
	{".a.example\n!x.a.example\n!.y.a.example\n", "dnset",
	 "dnset: a.example, allow =x.a.example, allow y.a.example"},
	/* One that takes nothing out of the file would let pass what others list. */
	{".a.example\n!b.example\n", "dnset",
	 "dnset: a.example; 1 unknown (2: '=b.example' is not an exclusion, or one that cannot be "
	 "expressed)"},
	{".a.example\n!*.x.a.example\n", "dnset",
	 "dnset: a.example; 1 unknown (2: 'x.a.example' is not an exclusion, or one that cannot be "
	 "expressed)"},
	{"a.example\n!a.example\n.b.example\n!.b.example\nc.example\n!.c.example\n.d.example\n"
	 "!d.example\n",
	 "dnset",
	 "dnset: d.example, allow =d.example; 6 unknown (1: '=a.example' is excluded by another "
	 "line, 2: '=a.example' is not an exclusion, or one that cannot be expressed, 3: "
	 "'b.example' "
	 "is excluded by another line, 4: 'b.example' is not an exclusion, or one that cannot be "
	 "expressed, 5: '=c.example' is excluded by another line)"},
	{".a.example\na..example\n", "dnset",
	 "dnset: a.example; 1 unknown (2: 'a..example' is not a valid domain: it has an empty "
	 "label)"},
	{0},
};

/* Nothing says which of them it is, and another format would mean more, or less. */
#define FOUR "ip4set, ip4trie, ip6trie, dnset"
static const struct row contradictions[] = {
	{":127.0.0.2:x\n192.0.2.1\n", NULL,
	 ":1: ':127.0.0.2:x' may be of several list formats: " FOUR},
	{"$SOA 0 a b 0 1 1 1 1\n", NULL,
	 ":1: '$SOA 0 a b 0 1 1 1 1' may be of several list formats: " FOUR},
	{"192.0.2.1\n!192.0.2.2\n", NULL,
	 ":2: '!192.0.2.2' fits the formats ip4set, ip4trie, but the lines before it fit plain"},
	{"!192.0.2.2\n192.0.2.0/24\n", NULL,
	 ":1: '!192.0.2.2' may be a comment, or as in the formats ip4set, ip4trie"},
	{"2001:db8::/32\n!2001:db8::1\n", NULL,
	 ":2: '!2001:db8::1' fits the formats ip6trie, but the lines before it fit plain"},
	{"a.example\n!b.a.example\n", NULL,
	 ":2: '!b.a.example' fits the formats dnset, but the lines before it fit domains"},
	{"a.example\n:2:x\n", NULL,
	 ":2: ':2:x' fits the formats " FOUR ", but the lines before it fit domains"},
	{"192.0.2.1\n192.0.2.2 :2:x\n", NULL,
	 ":2: '192.0.2.2 :2:x' fits the formats ip4set, ip4trie, but the lines before it fit "
	 "plain"},
	{"$TTL 60\n192.0.2.1 :2:x\n", NULL,
	 ":2: '192.0.2.1 :2:x' fits the formats ip4set, ip4trie, but the lines before it fit "
	 "rpz"},
	{"! Title: of a list\na.example\n! b.example is fine\n", NULL, "domains: a.example"},
	{0},
};

ROWS(ip4);
ROWS(refused_ip4);
ROWS(ip6);
ROWS(names);
ROWS(contradictions);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains alone, hosts files and filters of browsers: what each line says, and what is
 * left out with its line. */
#include "support/listrows.h"

#define BOM	"\xef\xbb\xbf"
#define LABEL63 "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-0123456789"

/* The first line that is neither blank nor a comment decides. */
static const struct row detection[] = {
	{"0-mail.com\n", NULL, "domains: 0-mail.com"},
	{"0.0.0.0.example.com\n", NULL, "domains: 0.0.0.0.example.com"},
	{"*.0.0.0.0.example.com\n", NULL, "domains: 0.0.0.0.example.com"},
	{"=www.example.com\n", NULL, "domains: =www.example.com"},
	{"example.com. # x\n", NULL, "domains: example.com (x)"},
	{"caf\xc3\xa9.example\n", NULL, "domains: xn--caf-dma.example"},
	{"_dmarc.example.com\n", NULL, "domains: _dmarc.example.com"},
	{"192.0.2.1\n", NULL, "plain: 192.0.2.1"},
	{"192.0.2.1 # example.com\n", NULL, "plain: 192.0.2.1 (example.com)"},
	{"0.0.0.0 # example.com\n", NULL, "plain: 0.0.0.0 (example.com)"},
	{"2001:db8::1\n", NULL, "plain: 2001:db8::1"},
	{"192.0.2.1\t3\n", NULL, "ipsum: 192.0.2.1"},
	{"# x\n\n127.0.0.1 localhost\n0.0.0.0 a.example\n", NULL, "hosts: a.example"},
	{"::1 localhost\n0.0.0.0 a.example\n", NULL, "hosts: a.example"},
	{"fe80::1%lo0 localhost\n0.0.0.0 a.example\n", NULL, "hosts: a.example"},
	{"0.0.0.0 0.0.0.0\n0.0.0.0 a.example\n", NULL, "hosts: a.example"},
	{"0.0.0.0\ta.example\n", NULL, "hosts: a.example"},
	{"192.0.2.1 a.example\n0.0.0.0 b.example\n", NULL,
	 "hosts: b.example; 1 unknown (1: '192.0.2.1 a.example')"},
	{"! Title: x\n||a.example^\n", NULL, "adblock: a.example"},
	{"! Title: x\n0.0.0.0 a.example\n", NULL, "hosts: a.example"},
	{"! Title: x\na.example\n", NULL, "domains: a.example"},
	{"[Adblock Plus 2.0]\n||a.example^\n", NULL, "adblock: a.example"},
	{"@@||a.example^\n", NULL, "adblock: allow a.example"},
	{"b.example##.ad\n||a.example^\n", NULL,
	 "adblock: a.example; 1 unknown (1: 'b.example##.ad')"},
	{"b.example,~c.b.example#@#.ad\n||a.example^\n", NULL,
	 "adblock: a.example; 1 unknown (1: 'b.example,~c.b.example#@#.ad')"},
	{"a.example ## why\nb.example#why\n", NULL, "domains: a.example (# why), b.example (why)"},
	{"# x\naddress=/a.example/\n", NULL, "dnsmasq: a.example"},
	{"server=/a.example/\n", NULL, "dnsmasq: a.example"},
	{"local=/a.example/\n", NULL, "dnsmasq: a.example"},
	{"server:\nlocal-zone: \"a.example\" refuse\n", NULL, "unbound: a.example"},
	{"local-zone: \"a.example\" refuse\n", NULL, "unbound: a.example"},
	{"; x\n$TTL 60\na.example CNAME .\n", NULL, "rpz: =a.example"},
	{"$ORIGIN rpz.\na.example CNAME .\n", NULL, "rpz: =a.example"},
	{"@ 60 IN SOA a. b. 1 2 3 4 5\na.example CNAME .\n", NULL, "rpz: =a.example"},
	{"*.a.example 1h IN CNAME .\n", NULL, "rpz: a.example"},
	{BOM "a.example\r\n\r\n# x\r\nb.example\r\n", NULL, "domains: a.example, b.example"},
	{0},
};

static const struct row domains[] = {
	{"b.example\na.example\n*.c.example\n", NULL, "domains: a.example, b.example, c.example"},
	{"a.example # why\nb.example;SBL1\n c.example\t# \n", NULL,
	 "domains: a.example (why), b.example (SBL1), c.example"},
	{"A.EXAMPLE\na.example.\n*.a.Example\n", NULL, "domains: a.example; 2 repeats"},
	{"b\xc3\xbc"
	 "cher.example\nB\xc3\x9c"
	 "CHER.example\nxn--bcher-kva.example\n",
	 NULL, "domains: xn--bcher-kva.example; 2 repeats"},
	/* A name alone says nothing new beside the domain. */
	{"=a.example\na.example\n=b.example\n=www.a.example\n", NULL,
	 "domains: a.example, =www.a.example, =b.example; 1 repeats"},
	{"a.example\n192.0.2.1\n192.0.2.9/24 # net\n2001:db8::1\n", NULL,
	 "domains: 192.0.2.0/24 (net), 192.0.2.1, 2001:db8::1, a.example; 1 cut"},
	{"192.0.2.1\na.example\n", "domains", "domains: 192.0.2.1, a.example"},
	{"com\na.example\n", "domains", "domains: com, a.example"},
	{0},
};

static const struct row unknown_domains[] = {
	{"a.example\nb.example c.example\n", NULL,
	 "domains: a.example; 1 unknown (2: 'b.example c.example')"},
	{"a.example\n" LABEL63 "0.example\n" LABEL63 ".example\n", NULL,
	 "domains: a.example; 2 unknown (2: 'abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-"
	 "012345...' is not a valid domain: a label is longer than 63 characters, 3: "
	 "'abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-012345...' is not a valid domain: "
	 "a label "
	 "is "
	 "longer than 63 characters)"},
	{"a.example\n192.0.2.256\n192.0.2.1x\n*.192.0.2.1\n192.0.2.0/33\n1.2.3\n", NULL,
	 "domains: a.example; 5 unknown (2: '192.0.2.256' is not an address or prefix, 3: "
	 "'192.0.2.1x' is not a valid domain: its last label begins with a digit, 4: '192.0.2.1' "
	 "is not a valid domain: its last label is a number, 5: '192.0.2.0/33': the prefix length "
	 "must be 0 to "
	 "32, "
	 "6: '1.2.3' is not an address or prefix)"},
	{"a.example\n..b.example\nb..example\n*b.example\n*.*.b.example\n*\n", NULL,
	 "domains: a.example; 5 unknown (2: '..b.example', 3: "
	 "'b..example' is not a valid domain: it has an empty label, 4: '*b.example' is not a "
	 "valid domain: it has "
	 "other characters than letters, digits, '-' and '_', 5: '*.b.example' is not a valid "
	 "domain: it "
	 "has "
	 "other characters than letters, digits, '-' and '_', 6: '*' is not a valid domain: it has "
	 "other "
	 "characters than letters, digits, '-' and '_')"},
	{"a.example\n==b.example\n*.=b.example\n=*.b.example\nhttp://b.example/\n", NULL,
	 "domains: a.example; 4 unknown (2: '=b.example' is not a valid domain: it begins with "
	 "'=', 3: "
	 "'=b.example' is not a valid domain: it begins with '=', 4: '*.b.example' is not a valid "
	 "domain: it has "
	 "other "
	 "characters than letters, digits, '-' and '_', 5: 'http://b.example/' is not an address "
	 "or "
	 "prefix)"},
	/* Rules of which parts of pages to hide. */
	{"a.example\nb.example##.ad\nb.example#@#.ad\nb.example#?#.ad\nb.example#$#.ad\n"
	 "b.example#%#x\n",
	 NULL,
	 "domains: a.example; 5 unknown (2: 'b.example##.ad', 3: 'b.example#@#.ad', 4: "
	 "'b.example#?#.ad', 5: 'b.example#$#.ad', 6: 'b.example#%#x')"},
	{"a.example\nb.-example\n", NULL,
	 "domains: a.example; 1 unknown (2: 'b.-example' is not a valid domain: its last label "
	 "begins with "
	 "'-')"},
	/* Only the first five are shown; what is shown is safe for a terminal. */
	{"a.example\nx y\n\n\x1b[2J x\nx y\n# c\nx y\nx y\nx y\nb.example\n", NULL,
	 "domains: a.example, b.example; 6 unknown (2: 'x y', 4: '?[2J x', 5: 'x y', 7: 'x y', 8: "
	 "'x y')"},
	{"a.example\nb\xff.example\n\xc3.example\n", NULL,
	 "domains: a.example; 2 unknown (2: 'b?.example' is not a valid domain: string encoding "
	 "error, 3: "
	 "'?.example' is not a valid domain: string encoding error)"},
	{0},
};

static const struct row hosts[] = {
	{"0.0.0.0 a.example b.example # ads\n127.0.0.1\tc.example\n127.1.2.3 d.example\n:: "
	 "e.example\n"
	 "::1 f.example\nfe80::1%lo0 g.example\n",
	 NULL,
	 "hosts: a.example (ads), b.example (ads), c.example, d.example, e.example, f.example, "
	 "g.example"},
	{"127.0.0.1 localhost\n127.0.0.1 localhost.localdomain local\n255.255.255.255 "
	 "broadcasthost\n"
	 "::1 ip6-localhost ip6-loopback LOCALHOST\nfe00::0 ip6-localnet\nff00::0 ip6-mcastprefix\n"
	 "ff02::1 ip6-allnodes\nff02::2 ip6-allrouters\nff02::3 ip6-allhosts\n0.0.0.0 0.0.0.0\n"
	 "192.168.1.7 nas nas.\n0.0.0.0 a.example localhost\n",
	 NULL, "hosts: a.example"},
	{"0.0.0.0 a.example\n0.0.0.0 A.Example.\n:: a.example\n", NULL,
	 "hosts: a.example; 2 repeats"},
	{BOM "0.0.0.0 a.example#x\r\n  0.0.0.0  b\xc3\xbc"
	     "cher.example \r\n",
	 NULL, "hosts: a.example (x), xn--bcher-kva.example"},
	{0},
};

static const struct row unknown_hosts[] = {
	{"0.0.0.0 a.example\n192.168.1.7 nas.example\n8.8.8.8 localhost b.example\n"
	 "fe80::1%eth0\nfe80::2%lo0 c.example\n0.0.0.0\n",
	 NULL,
	 "hosts: a.example; 5 unknown (2: '192.168.1.7 nas.example', 3: '8.8.8.8 localhost "
	 "b.example', "
	 "4: 'fe80::1%eth0', 5: 'fe80::2%lo0 c.example', 6: '0.0.0.0')"},
	{"0.0.0.0 a.example\n::2 b.example\n", NULL,
	 "hosts: a.example; 1 unknown (2: '::2 b.example')"},
	/* A line is taken as a whole or not at all. */
	{"0.0.0.0 a.example\n0.0.0.0 b.example *.c.example\nc.example\n0.0.0.0/32 d.example\n",
	 NULL,
	 "hosts: a.example; 3 unknown (2: '*.c.example' is not a valid domain: it has other "
	 "characters than "
	 "letters, digits, '-' and '_', 3: 'c.example', 4: '0.0.0.0/32 d.example')"},
	{"0.0.0.0 a.example\n0.0.0.0 =b.example\n0.0.0.0 *\n0.0.0.0 10.0.0.0/8\n0 c.example\n",
	 NULL,
	 "hosts: a.example; 4 unknown (2: '=b.example' is not a valid domain: it begins with '=', "
	 "3: '*' is not a valid domain: it has other characters than letters, digits, '-' and '_', "
	 "4: '10.0.0.0/8' is not a valid domain: it has other characters than letters, digits, '-' "
	 "and '_', 5: '0 c.example')"},
	{0},
};

static const struct row adblock[] = {
	{"[Adblock Plus 2.0]\n! Title: ||x.example^\n# x\n#\n||a.example^\n@@||b.a.example^\n"
	 "||c.example^$important\n||d.example^$all\n@@||e.example^$all,important\n",
	 NULL, "adblock: a.example, c.example, d.example, allow b.a.example, allow e.example"},
	{"||a.example^\n@@||a.example^\n||A.example^\r\n@@||a.example.^\n", NULL,
	 "adblock: a.example, allow a.example; 2 repeats"},
	{"||b\xc3\xbc"
	 "cher.example^\n",
	 NULL, "adblock: xn--bcher-kva.example"},
	/* `important` changes nothing: what is allowed passes. */
	{"||a.example^$important\n@@||a.example^\n", NULL, "adblock: a.example, allow a.example"},
	{"||com^\n@@||com^\n", NULL, "adblock: com, allow com"},
	{0},
};

static const struct row unknown_adblock[] = {
	{"||a.example^\n||b.example^$third-party\n||b.example^$important,domain=c.example\n"
	 "||b.example^$document\n||b.example^$badfilter\n||b.example^$\n",
	 NULL,
	 "adblock: a.example; 5 unknown (2: '||b.example^$third-party', 3: "
	 "'||b.example^$important,domain=c.example', 4: '||b.example^$document', 5: "
	 "'||b.example^$badfilter', 6: '||b.example^$')"},
	{"||a.example^\n||b.example\n||b.example/ads^\n||b.example^ads\n||b.example^|\n"
	 "|http://b.example^\n",
	 NULL,
	 "adblock: a.example; 5 unknown (2: '||b.example', 3: 'b.example/ads' is not a valid "
	 "domain: it "
	 "has "
	 "other characters than letters, digits, '-' and '_', 4: '||b.example^ads', 5: "
	 "'||b.example^|', 6: '|http://b.example^')"},
	{"||a.example^\nb.example##.ad\n##.ad\n#@#.ad\n#?#.ad\n#$#.ad\n", NULL,
	 "adblock: a.example; 5 unknown (2: 'b.example##.ad', 3: '##.ad', 4: '#@#.ad', 5: "
	 "'#?#.ad', "
	 "6: '#$#.ad')"},
	{"||a.example^\n||*.b.example^\n||b*.example^\n||=b.example^\n||192.0.2.1^\n||^\n", NULL,
	 "adblock: a.example, b.example; 4 unknown (3: 'b*.example' is not a valid domain: it has "
	 "other "
	 "characters than "
	 "letters, digits, '-' and '_', 4: '=b.example' is not a valid domain: it begins with '=', "
	 "5: "
	 "'192.0.2.1' is not a valid domain: its last label is a number, 6: '' is not a valid "
	 "domain: it is empty)"},
	{"||a.example^\n@@b.example^\n@@|b.example^x\n@@\n/ads[0-9]+/\nb.example\n", NULL,
	 "adblock: a.example; 5 unknown (2: '@@b.example^', 3: '@@|b.example^x', 4: '@@', 5: "
	 "'/ads[0-9]+/', 6: 'b.example')"},
	{"||a.example^\n[$domain=b.example]##x\n0.0.0.0 b.example\n||\n;\n|\n", NULL,
	 "adblock: a.example; 5 unknown (2: '[$domain=b.example]##x', 3: '0.0.0.0 b.example', 4: "
	 "'||', 5: ';', 6: '|')"},
	{0},
};

/* A file of which nothing is understood is something else; one that is right may still be empty. */
static const struct row refused[] = {
	{"<html>\n<p>\n", "hosts", ": no line could be read as hosts (1: '<html>')"},
	{"# x\n\nb c\n", "domains", ": no line could be read as domains (3: 'b c')"},
	{"192.0.2.1 a.example\n", NULL,
	 ": no line could be read as hosts (1: '192.0.2.1 a.example')"},
	{"||a.example^$third-party\n", NULL,
	 ": no line could be read as adblock (1: '||a.example^$third-party')"},
	{"127.0.0.1 localhost\n", NULL, ": no entries"},
	{"! x\n", NULL, ": no entries"},
	{"! x\n", "adblock", ": no entries"},
	{0},
};

ROWS(detection);
ROWS(domains);
ROWS(unknown_domains);
ROWS(hosts);
ROWS(unknown_hosts);
ROWS(adblock);
ROWS(unknown_adblock);
ROWS(refused);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

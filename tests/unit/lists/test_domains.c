/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains: every format, what it says and what is left out with its line, and the real
 * lists if they are at hand. */
#include <limits.h>

#include "support/listrows.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BOM		  "\xef\xbb\xbf"
#define LABEL63		  "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-0123456789"

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
	 "012345...' is no domain: a label is longer than 63 characters, 3: "
	 "'abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-012345...' is no domain: a label "
	 "is "
	 "longer than 63 characters)"},
	{"a.example\n192.0.2.256\n192.0.2.1x\n*.192.0.2.1\n192.0.2.0/33\n1.2.3\n", NULL,
	 "domains: a.example; 5 unknown (2: '192.0.2.256' is not an address or prefix, 3: "
	 "'192.0.2.1x' is no domain: its last label begins with a digit, 4: '192.0.2.1' is no "
	 "domain: its last label is a number, 5: '192.0.2.0/33': the prefix length must be 0 to "
	 "32, "
	 "6: '1.2.3' is not an address or prefix)"},
	{"a.example\n.b.example\nb..example\n*b.example\n*.*.b.example\n*\n", NULL,
	 "domains: a.example; 5 unknown (2: '.b.example' is no domain: it has an empty label, 3: "
	 "'b..example' is no domain: it has an empty label, 4: '*b.example' is no domain: it has "
	 "other characters than letters, digits, '-' and '_', 5: '*.b.example' is no domain: it "
	 "has "
	 "other characters than letters, digits, '-' and '_', 6: '*' is no domain: it has other "
	 "characters than letters, digits, '-' and '_')"},
	{"a.example\n==b.example\n*.=b.example\n=*.b.example\nhttp://b.example/\n", NULL,
	 "domains: a.example; 4 unknown (2: '=b.example' is no domain: it begins with '=', 3: "
	 "'=b.example' is no domain: it begins with '=', 4: '*.b.example' is no domain: it has "
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
	 "domains: a.example; 1 unknown (2: 'b.-example' is no domain: its last label begins with "
	 "'-')"},
	/* Only the first five are shown; what is shown is safe for a terminal. */
	{"a.example\nx y\n\n\x1b[2J x\nx y\n# c\nx y\nx y\nx y\nb.example\n", NULL,
	 "domains: a.example, b.example; 6 unknown (2: 'x y', 4: '?[2J x', 5: 'x y', 7: 'x y', 8: "
	 "'x y')"},
	{"a.example\nb\xff.example\n\xc3.example\n", NULL,
	 "domains: a.example; 2 unknown (2: 'b?.example' is no domain: string encoding error, 3: "
	 "'?.example' is no domain: string encoding error)"},
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
	 "hosts: a.example; 3 unknown (2: '*.c.example' is no domain: it has other characters than "
	 "letters, digits, '-' and '_', 3: 'c.example', 4: '0.0.0.0/32 d.example')"},
	{"0.0.0.0 a.example\n0.0.0.0 =b.example\n0.0.0.0 *\n0.0.0.0 10.0.0.0/8\n0 c.example\n",
	 NULL,
	 "hosts: a.example; 4 unknown (2: '=b.example' is no domain: it begins with '=', 3: '*' is "
	 "no "
	 "domain: it has other characters than letters, digits, '-' and '_', 4: '10.0.0.0/8' is no "
	 "domain: it has other characters than letters, digits, '-' and '_', 5: '0 c.example')"},
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
	 "adblock: a.example; 5 unknown (2: '||b.example', 3: 'b.example/ads' is no domain: it "
	 "has "
	 "other characters than letters, digits, '-' and '_', 4: '||b.example^ads', 5: "
	 "'||b.example^|', 6: '|http://b.example^')"},
	{"||a.example^\nb.example##.ad\n##.ad\n#@#.ad\n#?#.ad\n#$#.ad\n", NULL,
	 "adblock: a.example; 5 unknown (2: 'b.example##.ad', 3: '##.ad', 4: '#@#.ad', 5: "
	 "'#?#.ad', "
	 "6: '#$#.ad')"},
	{"||a.example^\n||*.b.example^\n||b*.example^\n||=b.example^\n||192.0.2.1^\n||^\n", NULL,
	 "adblock: a.example; 5 unknown (2: '*.b.example' is no domain: it has other characters "
	 "than "
	 "letters, digits, '-' and '_', 3: 'b*.example' is no domain: it has other characters than "
	 "letters, digits, '-' and '_', 4: '=b.example' is no domain: it begins with '=', 5: "
	 "'192.0.2.1' is no domain: its last label is a number, 6: '' is no domain: it is empty)"},
	{"||a.example^\n@@b.example^\n@@|b.example^\n@@\n/ads[0-9]+/\nb.example\n", NULL,
	 "adblock: a.example; 5 unknown (2: '@@b.example^', 3: '@@|b.example^', 4: '@@', 5: "
	 "'/ads[0-9]+/', 6: 'b.example')"},
	{"||a.example^\n[$domain=b.example]##x\n0.0.0.0 b.example\n||\n;\n|\n", NULL,
	 "adblock: a.example; 5 unknown (2: '[$domain=b.example]##x', 3: '0.0.0.0 b.example', 4: "
	 "'||', 5: ';', 6: '|')"},
	{0},
};

static const struct row dnsmasq[] = {
	{"# x\naddress=/a.example/\naddress=/b.example/#\naddress=/c.example/0.0.0.0\n"
	 "address=/d.example/::\naddress=/e.example/127.0.0.1 # ads\nserver=/f.example/\n"
	 "local=/g.example/\n",
	 NULL,
	 "dnsmasq: a.example, b.example, c.example, d.example, e.example (ads), f.example, "
	 "g.example"},
	{"address=/b.example/A.example./0.0.0.0\r\naddress=/a.example/::\r\n", NULL,
	 "dnsmasq: a.example, b.example; 1 repeats"},
	{"address = /a.example/ \nserver\t=\t/b.example/\n", "dnsmasq",
	 "dnsmasq: a.example, b.example"},
	{0},
};

#define NO_EXCEPTION "' is no exception: the file lists nothing wider"
#define HIDES	     "' would let pass what the file lists below it"
#define INSIDE	     "' lies in an exception, which would have to have an exception"

/* More specific domains take precedence. */
static const struct row dnsmasq_exceptions[] = {
	{"address=/example.com/\nserver=/good.example.com/#\n"
	 "address=/www.example.com/93.184.216.34\nlocal=/l.example.com/192.0.2.1\n"
	 "server=/s.example.com/192.0.2.1#5353\n",
	 NULL,
	 "dnsmasq: example.com, allow l.example.com, allow s.example.com, allow www.example.com, "
	 "allow good.example.com"},
	{"server=/good.example.com/#\nserver=/example.com/\nserver=/example.com/#\n", NULL,
	 "dnsmasq: example.com, allow good.example.com; 1 unknown (3: 'example.com" NO_EXCEPTION
	 ")"},
	{"server=/a.example/b.other/#\nlocal=/example/\n", NULL,
	 "dnsmasq: example, allow a.example; 1 unknown (1: 'b.other" NO_EXCEPTION ")"},
	/* Inside an exception that is needed. */
	{"local=/example/\nserver=/a.example/#\naddress=/b.a.example/#\n"
	 "address=/c.a.example/c.example/#\nserver=/x.c.a.example/#\naddress=/aa.example/\n",
	 NULL,
	 "dnsmasq: example, c.example, aa.example, allow a.example, allow x.c.a.example; "
	 "2 unknown (3: 'b.a.example" INSIDE ", 4: 'c.a.example" INSIDE ")"},
	{0},
};

static const struct row unknown_dnsmasq[] = {
	{"address=/a.example/\nserver=/b.example/192.0.2.1\nserver=/b.example/#\n"
	 "local=/b.example/192.0.2.1\naddress=/b.example/192.0.2.1\naddress=/#/\n",
	 NULL,
	 "dnsmasq: a.example; 5 unknown (2: 'b.example" NO_EXCEPTION ", 3: 'b.example" NO_EXCEPTION
	 ", 4: 'b.example" NO_EXCEPTION ", 5: 'b.example" NO_EXCEPTION ", 6: '#' is no domain: "
	 "it "
	 "has other characters than letters, digits, '-' and '_')"},
	{"address=/a.example/\naddress=//0.0.0.0\naddress=/b.example/*.c.example/\n"
	 "address=/b.example\naddress=b.example/\naddress=/\n",
	 NULL,
	 "dnsmasq: a.example; 5 unknown (2: '' is no domain: it is empty, 3: '*.c.example' is no "
	 "domain: it has other characters than letters, digits, '-' and '_', 4: "
	 "'address=/b.example', 5: 'address=b.example/', 6: 'address=/')"},
	{"address=/a.example/\nno-resolv\nserver=192.0.2.1\naddresses=/b.example/\n"
	 "address=/=b.example/\nb.example\n",
	 NULL,
	 "dnsmasq: a.example; 5 unknown (2: 'no-resolv', 3: 'server=192.0.2.1', 4: "
	 "'addresses=/b.example/', 5: '=b.example' is no domain: it begins with '=', 6: "
	 "'b.example')"},
	{0},
};

static const struct row unbound[] = {
	{"# x\nserver:\nlocal-zone: \"a.example\" always_nxdomain\n"
	 "\tlocal-zone: \"b.example.\" refuse # ads\nlocal-zone: c.example deny\n"
	 "local-zone: \"d.example\" static\nlocal-zone:\"e.example\" redirect\n"
	 "local-zone: \"f.example\" always_refuse\nlocal-zone: \"g.example\" always_null\n"
	 "local-zone: \"h.example\" always_deny\nlocal-zone: \"i.example\" inform_deny\n",
	 NULL,
	 "unbound: a.example, b.example (ads), c.example, d.example, e.example, f.example, "
	 "g.example, h.example, i.example"},
	{"local-zone: \"a.example\" transparent\nlocal-zone: \"b.example\" typetransparent\r\n"
	 "local-zone: \"c.example\" always_transparent\n",
	 NULL, "unbound: allow a.example, allow b.example, allow c.example"},
	/* Local data that leads nowhere lists that name, unless a zone has done so. */
	{"local-data: \"c.example A 0.0.0.0\" # ads\nlocal-data: \"C.Example. 60 IN AAAA ::\"\n"
	 "local-data: 'd.example. IN 1h aaaa ::1'\n",
	 NULL, "unbound: =c.example (ads), =d.example; 1 repeats"},
	{"local-data: \"a.example A 0.0.0.0\"\nlocal-zone: \"a.example\" redirect\n"
	 "local-data: \"x.y.a.example A 127.0.0.1\"\nlocal-data: \"aa.example A 0.0.0.0\"\n"
	 "local-data: \"x.b.example A 0.0.0.0\"\nlocal-zone: \"b.example\" always_null\n"
	 "local-zone: \"y.b.example\" deny\nlocal-data: \"z.b.example A 0.0.0.0\"\n",
	 NULL, "unbound: a.example, b.example, y.b.example, =aa.example; 4 repeats"},
	{0},
};

/* The nearest zone decides. */
static const struct row unbound_exceptions[] = {
	{"local-zone: \"example.com\" transparent\n"
	 "local-zone: \"bad.example.com\" always_nxdomain\n",
	 NULL, "unbound: bad.example.com; 1 unknown (1: 'example.com" HIDES ")"},
	{"local-zone: \"a.b.example\" always_nxdomain\nlocal-zone: \"b.example\" transparent\n"
	 "local-zone: \"c.example\" transparent\nlocal-data: \"c.example A 0.0.0.0\"\n"
	 "local-zone: \"d.example\" transparent\nlocal-zone: \"dd.example\" always_null\n",
	 NULL,
	 "unbound: a.b.example, =c.example, dd.example, allow d.example; 2 unknown "
	 "(2: 'b.example" HIDES ", 3: 'c.example" HIDES ")"},
	{"local-zone: \"example\" refuse\nlocal-zone: \"b.example\" transparent\n"
	 "local-zone: \"a.b.example\" refuse\nlocal-data: \"c.b.example A 0.0.0.0\"\n"
	 "local-zone: \"x.a.b.example\" transparent\n",
	 NULL,
	 "unbound: example, allow b.example, allow x.a.b.example; 2 unknown (3: "
	 "'a.b.example" INSIDE ", 4: '=c.b.example" INSIDE ")"},
	{0},
};

#define NAS	   "local-data: \"nas.home.example A 192.168.1.2\"\n"
#define IS_NAS	   ": 'local-data: \"nas.home.example A 192.168.'"
#define HAS	   "' has local data that leads somewhere"
#define ZONE(rest) "local-zone: " rest "\n"
#define DATA(rest) "local-data: " rest "\n"

/* Zones that answer local data, with local data to answer. */
static const struct row unbound_data[] = {
	{ZONE("home.example static") ZONE("a.example static") NAS, NULL,
	 "unbound: a.example; 2 unknown (1: 'home.example" HAS ", 3" IS_NAS ")"},
	{NAS ZONE("home.example refuse") ZONE("example deny") ZONE("nas.home.example redirect")
		 ZONE("a.example refuse"),
	 NULL,
	 "unbound: a.example; 4 unknown (1" IS_NAS ", 2: 'home.example" HAS ", 3: 'example" HAS
	 ", 4: 'nas.home.example" HAS ")"},
	{NAS ZONE("home.example inform_deny") ZONE("a.example deny")
		 ZONE("home.example inform_redirect"),
	 NULL,
	 "unbound: a.example; 3 unknown (1" IS_NAS ", 2: 'home.example" HAS ", 4: 'home.example" HAS
	 ")"},
	/* Types that answer none, and names beside it. */
	{NAS ZONE("home.example always_refuse") ZONE("as.home.example static")
		 ZONE("x.nas.home.example deny") ZONE("me.example static"),
	 NULL,
	 "unbound: me.example, home.example, as.home.example, x.nas.home.example; 1 unknown "
	 "(1" IS_NAS ")"},
	{NAS ZONE("home.example static") ZONE("home.example always_deny"), NULL,
	 "unbound: home.example; 2 unknown (1" IS_NAS ", 2: 'home.example" HAS ")"},
	/* Anything but an address that leads nowhere; names that no domain has; wrong quotes. */
	{ZONE("a.example static") DATA("\"a.example TXT '#'\"") ZONE("b.example static"), NULL,
	 "unbound: b.example; 2 unknown (1: 'a.example" HAS
	 ", 2: 'local-data: \"a.example TXT '#'\"')"},
	{ZONE("a.example static") DATA("'*.x.a.example. CNAME b.c.'") ZONE("b.example static"),
	 NULL,
	 "unbound: b.example; 2 unknown (1: 'a.example" HAS
	 ", 2: 'local-data: '*.x.a.example. CNAME b.c.'')"},
	{ZONE("a.example static") DATA("a.example A 0.0.0.0") ZONE("b.example static"), NULL,
	 "unbound: b.example; 2 unknown (1: 'a.example" HAS
	 ", 2: 'local-data: a.example A 0.0.0.0')"},
	{ZONE("a.example static") DATA("\"a.example A 0.0.0.0 x\"") ZONE("b.example static"), NULL,
	 "unbound: b.example; 2 unknown (1: 'a.example" HAS
	 ", 2: 'local-data: \"a.example A 0.0.0.0 x\"')"},
	/* A name with both kinds, and what is left of a zone that is not listed. */
	{ZONE("a.example static") DATA("\"n.a.example A 8.8.8.8\"") DATA("\"n.a.example AAAA ::\"")
		 DATA("\"o.a.example A 0.0.0.0\""),
	 NULL,
	 "unbound: =o.a.example; 3 unknown (1: 'a.example" HAS
	 ", 2: 'local-data: \"n.a.example A 8.8.8.8\"', 3: '=n.a.example" HAS ")"},
	{ZONE("a.example static") "local-data-ptr: \"8.8.8.8 n.a.example\"\n" DATA(
		 "\". A 8.8.8.8\"") DATA(""),
	 NULL,
	 "unbound: a.example; 3 unknown (2: 'local-data-ptr: \"8.8.8.8 n.a.example\"', 3: "
	 "'local-data: \". A 8.8.8.8\"', 4: 'local-data:')"},
	{0},
};

static const struct row unknown_unbound[] = {
	{"local-zone: \"a.example\" refuse\nlocal-data: \"b.example A 192.0.2.1\"\n"
	 "local-zone: \"b.example\" inform\nlocal-zone: \"b.example\"\n"
	 "local-zone: \"b.example refuse\nlocal-zone: \"b.example\" refuse deny\n",
	 NULL,
	 "unbound: a.example; 5 unknown (2: 'local-data: \"b.example A 192.0.2.1\"', 3: "
	 "'local-zone: "
	 "\"b.example\" inform', 4: 'local-zone: \"b.example\"', 5: 'local-zone: \"b.example "
	 "refuse', "
	 "6: 'local-zone: \"b.example\" refuse deny')"},
	{"local-zone: \"a.example\" refuse\nlocal-zone: \".\" refuse\nlocal-zone: \"\" refuse\n"
	 "local-zone: \"=b.example\" refuse\nlocal-zone: \"2.0.192.in-addr.arpa\" nodefault\n"
	 "forward-zone:\n",
	 NULL,
	 "unbound: a.example; 5 unknown (2: '.' is no domain: it is empty, 3: '' is no domain: it "
	 "is "
	 "empty, 4: '=b.example' is no domain: it begins with '=', 5: 'local-zone: "
	 "\"2.0.192.in-addr.arpa\" nodef', 6: 'forward-zone:')"},
	{0},
};

#define SOA "@ IN SOA localhost. root.localhost. 1 3h 1h 1w 1h\n"

static const struct row rpz[] = {
	{"$TTL 60\n" SOA "@ NS localhost.\na.example CNAME .\n*.b.example CNAME *.\n"
	 "c.example 60 IN CNAME rpz-drop. ; phish\nd.example IN 1h30m CNAME RPZ-Passthru.\n"
	 "*.e.example CNAME rpz-passthru.\n",
	 NULL, "rpz: =a.example, b.example, =c.example (phish), allow =d.example, allow e.example"},
	/* The wide one covers the name alone, on its own side. */
	{SOA "a.example CNAME .\n*.a.example CNAME .\na.example CNAME rpz-passthru.\n"
	     "www.a.example CNAME .\n",
	 NULL, "rpz: a.example, =www.a.example, allow =a.example; 1 repeats"},
	{"$TTL 60\n@ SOA localhost. root.localhost. ( ; begins\n\t1 ; serial\n; a comment\n 3h 1h\n"
	 "\n 1w\n 1h )\n\tNS localhost.\n  IN NS b.\na.example CNAME .\n",
	 NULL, "rpz: =a.example"},
	{"@ SOA (a. b. 1 2 3 4\n5)\na.example CNAME .\n", NULL, "rpz: =a.example"},
	{"$ORIGIN rpz.local.\n" SOA "a.example CNAME .\n*.b.example.RPZ.local. CNAME .\n"
	 "$ORIGIN example.rpz.local.\nc CNAME .\n*.d.example.rpz.local. CNAME .\n$ORIGIN sub\n"
	 "e CNAME .\n",
	 NULL, "rpz: =a.example, b.example, =c.example, d.example, =e.sub.example"},
	{"$ORIGIN .\nrpz.local 60 IN SOA a. b. 1 2 3 4 5\n$ORIGIN example.rpz.local.\na CNAME .\n",
	 NULL, "rpz: =a.example"},
	{"rpz.local. SOA a. b. 1 2 3 4 5\n*.a.example.rpz.local. CNAME .\n", NULL,
	 "rpz: a.example"},
	/* The first SOA record names the zone. */
	{"rpz.local. SOA a. b. 1 2 3 4 5\nb.rpz.local. SOA a. b. 1 2 3 4 5\n"
	 "a.example.rpz.local. CNAME .\n",
	 NULL, "rpz: =a.example"},
	{"*.a.example CNAME .\na.example CNAME rpz-passthru.\n", NULL,
	 "rpz: a.example, allow =a.example"},
	/* A line that begins with a blank goes on about the name before. */
	{SOA "a.example CNAME .\n*.b.example\tNS x.\n\t60 CNAME .\n", NULL,
	 "rpz: =a.example, b.example"},
	{BOM "$TTL 60\r\nB\xc3\xbc"
	     "CHER.example CNAME .\r\n",
	 NULL, "rpz: =xn--bcher-kva.example"},
	{0},
};

#define PASSES "' is listed, and would pass with what is allowed below it"

/* The nearest rule decides. */
static const struct row rpz_exceptions[] = {
	{"*.example.com CNAME rpz-passthru.\nbad.example.com CNAME .\n", "rpz",
	 "rpz: =bad.example.com; 1 unknown (1: 'example.com" HIDES ")"},
	{"*.example CNAME .\ngood.example CNAME rpz-passthru.\n*.good.example CNAME "
	 "rpz-passthru.\n*.bad.good.example CNAME .\nbad.good.example CNAME .\n",
	 "rpz",
	 "rpz: example, allow good.example; 1 repeats; 2 unknown (4: 'bad.good.example" INSIDE
	 ", 5: '=bad.good.example" INSIDE ")"},
	{0},
};

/* What a wildcard allows lies below a domain, which may be listed itself. */
static const struct row rpz_wildcards[] = {
	{"j.example CNAME .\n*.j.example CNAME rpz-passthru.\n", "rpz",
	 "rpz: =j.example; 1 unknown (2: 'j.example" PASSES ")"},
	{"b CNAME x\n*.J.example CNAME rpz-passthru.\nj.example CNAME rpz-drop.\n"
	 "*.k.example CNAME rpz-passthru.\nb CNAME y\n",
	 "rpz",
	 "rpz: =j.example, allow k.example; 3 unknown (1: 'b CNAME x', 2: 'j.example" PASSES
	 ", 5: 'b CNAME y')"},
	/* By a wider domain, and by its own. */
	{"*.example CNAME .\n*.a.j.example CNAME rpz-passthru.\n", "rpz",
	 "rpz: example; 1 unknown (2: 'a.j.example" PASSES ")"},
	{"*.j.example CNAME .\n*.j.example CNAME rpz-passthru.\n", "rpz",
	 "rpz: j.example; 1 unknown (2: 'j.example" PASSES ")"},
	/* A nearer line says that it passes. */
	{"*.example CNAME .\nj.example CNAME rpz-passthru.\n*.j.example CNAME rpz-passthru.\n",
	 "rpz", "rpz: example, allow j.example; 1 repeats"},
	{"k.example CNAME .\n*.k.example CNAME rpz-passthru.\n"
	 "*.j.k.example CNAME rpz-passthru.\n",
	 "rpz", "rpz: =k.example, allow j.k.example; 1 unknown (2: 'k.example" PASSES ")"},
	/* What is listed below or beside it is another name. */
	{"a.j.example CNAME .\n*.b.j.example CNAME .\nexample CNAME .\nj2.example CNAME .\n"
	 "*.j.example CNAME rpz-passthru.\n",
	 "rpz",
	 "rpz: =example, =a.j.example, b.j.example, =j2.example; 1 unknown (5: 'j.example" HIDES
	 ")"},
	{"j.example CNAME .\na.j.example CNAME rpz-passthru.\n", "rpz",
	 "rpz: =j.example, allow =a.j.example"},
	{0},
};

static const struct row unknown_rpz[] = {
	{SOA
	 "a.example CNAME .\n32.1.2.0.192.rpz-ip CNAME .\n32.1.2.0.192.rpz-client-ip CNAME "
	 "rpz-drop.\nns.b.example.rpz-nsdname CNAME .\n32.1.2.0.192.RPZ-NSIP CNAME .\nrpz-x CNAME "
	 ".\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: '32.1.2.0.192.rpz-ip CNAME .', 4: "
	 "'32.1.2.0.192.rpz-client-ip CNAME rpz-dro', 5: 'ns.b.example.rpz-nsdname CNAME .', 6: "
	 "'32.1.2.0.192.RPZ-NSIP CNAME .', 7: 'rpz-x CNAME .')"},
	{SOA
	 "a.example CNAME .\nb.example A 0.0.0.0\nb.example CNAME walled.garden.\nb.example CNAME "
	 "rpz-tcp-only.\nb.example CNAME rpz-passthru\nb.example TXT \"( ; x\"\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: 'b.example A 0.0.0.0', 4: 'b.example CNAME "
	 "walled.garden.', "
	 "5: 'b.example CNAME rpz-tcp-only.', 6: 'b.example CNAME rpz-passthru', 7: 'b.example TXT "
	 "\"( ; x\"')"},
	{SOA "a.example CNAME .\nb.example. CNAME .\n@ CNAME .\n* CNAME .\nb.example CNAME . x\n"
	     "b.example CNAME\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: 'b.example. CNAME .', 4: '@ CNAME .', 5: '*' is no "
	 "domain: "
	 "it has other characters than letters, digits, '-' and '_', 6: 'b.example CNAME . x', 7: "
	 "'b.example CNAME')"},
	{SOA
	 "a.example CNAME .\n$INCLUDE other\n$GENERATE 1-2 b$.example CNAME .\n$ORIGIN\n=b.example "
	 "CNAME .\nb.example\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: '$INCLUDE other', 4: '$GENERATE 1-2 b$.example CNAME .', "
	 "5: "
	 "'$ORIGIN', 6: '=b.example' is no domain: it begins with '=', 7: 'b.example')"},
	/* Names outside the zone, and names whose zone nobody can know. */
	{"$ORIGIN rpz.local.\n" SOA "a.example CNAME .\n$ORIGIN other.\nb.example CNAME .\n"
	 "xrpz.local. CNAME .\nb.example.xrpz.local. CNAME .\n*.rpz.local. CNAME .\n",
	 NULL,
	 "rpz: =a.example; 4 unknown (5: 'b.example CNAME .', 6: 'xrpz.local. CNAME .', 7: "
	 "'b.example.xrpz.local. CNAME .', 8: '*' is no domain: it has other characters than "
	 "letters, "
	 "digits, '-' and '_')"},
	/* An SOA record that does not end takes nothing with it. */
	{"@ SOA a. b. ( 1 2\na.example CNAME .\nb.example CNAME .\n", NULL,
	 "rpz: =b.example; 1 unknown (2: 'a.example CNAME .')"},
	{"@ SOA a. b. 1 2 3 4\n@ SOA (\n\ta. b. 1 2 3 4 5 6\na.example CNAME .\n", NULL,
	 "rpz: =a.example; 2 unknown (1: '@ SOA a. b. 1 2 3 4', 3: 'a. b. 1 2 3 4 5 6')"},
	{"$TTL 60\n CNAME .\na.example CNAME .\n", NULL,
	 "rpz: =a.example; 1 unknown (2: 'CNAME .')"},
	{0},
};

/* A file of which nothing is understood is something else; one that is right may still be empty. */
static const struct row refused[] = {
	{"<html>\n<p>\n", "hosts", ": not a line of it is understood as hosts (1: '<html>')"},
	{"# x\n\nb c\n", "domains", ": not a line of it is understood as domains (3: 'b c')"},
	{"192.0.2.1 a.example\n", NULL,
	 ": not a line of it is understood as hosts (1: '192.0.2.1 a.example')"},
	{"||a.example^$third-party\n", NULL,
	 ": not a line of it is understood as adblock (1: '||a.example^$third-party')"},
	{"127.0.0.1 localhost\n", NULL, ": no entries"},
	{"! x\n", NULL, ": no entries"},
	{"! x\n", "adblock", ": no entries"},
	{ZONE("home.example static") NAS, NULL,
	 ": not a line of it is understood as unbound (1: 'home.example" HAS ")"},
	{"server:\n", NULL, ": no entries"},
	{"$TTL 60\n" SOA, NULL, ": no entries"},
	{0},
};

static void test_binary(void **state)
{
	static const char text[] = "a.example\nb.exa\0mple\n";

	(void)state;
	write_list(text, sizeof(text) - 1);
	check_refused(NULL, ":2: binary data, not a list");
}

/* A line of `size` bytes among others: too long is left out as a whole, whatever is at its end. */
static void test_long_lines(void **state)
{
	static const size_t sizes[] = {4097, 8191, 8192, 8193, 16384, 1 << 20, 10000000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		FILE *list = fopen(path, "w");
		char found[2048];
		struct xb_listfile file;

		assert_non_null(list);
		fprintf(list, "a.example\n%-*s\nb.example\n", (int)sizes[i], "x.example");
		fprintf(list, "%0*d\r\nc.example\n%*s", (int)sizes[i], 1, (int)sizes[i],
			"y.example");
		assert_int_equal(fclose(list), 0);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		describe(&file, found, sizeof(found));
		assert_string_equal(
			found, "domains: a.example, b.example, c.example; 3 unknown (2: line "
			       "longer than 4096 bytes, 4: line longer than 4096 bytes, 6: line "
			       "longer than 4096 bytes)");
		assert_int_equal(file.lines, 6);
		xb_listfile_free(&file);
	}
}

/* Many names, over many chunks of the arena; in no order, each twice. */
static void test_large_list(void **state)
{
	const unsigned int count = 200000;
	FILE *list = fopen(path, "w");
	struct xb_listfile file;

	(void)state;
	assert_non_null(list);
	for (unsigned int i = 0; i < 2 * count; i++)
		fprintf(list, "||n%u.of-a-list.example^\n", i * 7919U % count);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, count);
	assert_int_equal(file.repeats, count);
	for (size_t i = 1; i < file.count; i++)
		assert_true(xb_entry_compare(&file.items[i - 1].entry, &file.items[i].entry) < 0);
	xb_listfile_free(&file);
}

/* As many zones in use, each with its names; the lines come out in their order. */
static void test_large_unbound(void **state)
{
	const unsigned int count = 100000;
	FILE *list = fopen(path, "w");
	struct xb_listfile file;

	(void)state;
	assert_non_null(list);
	fprintf(list, "local-zone: a.example static\n");
	for (unsigned int i = 0; i < count; i++)
		fprintf(list, ZONE("n%u.example static") DATA("\"www.n%u.example A 8.8.8.8\""),
			i * 7919U % count, i);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, 1);
	assert_int_equal(file.unknown, 2 * count);
	for (size_t i = 0; i < file.unknown; i++)
		assert_int_equal(file.first_unknown[i].line, i + 2);
	xb_listfile_free(&file);
}

/* Lines put together from pieces of all formats, cut and damaged: never a crash, always an answer,
 * and every entry one that can be written and read again. tests/fuzz/fuzz_lists.c goes on. */
static void test_noise(void **state)
{
	static const char *const pieces[] = {"||",
					     "@@",
					     "^",
					     "$important",
					     "example.com",
					     "*.",
					     "=",
					     ".",
					     "..",
					     "0.0.0.0 ",
					     " ",
					     "\t",
					     "::1 ",
					     "address=/",
					     "/",
					     "#",
					     ";",
					     "!",
					     "local-zone: ",
					     "local-data: ",
					     " A 0.0.0.0",
					     "*.x CNAME .",
					     "\n",
					     "\"",
					     " refuse",
					     " CNAME .",
					     "$ORIGIN ",
					     "$TTL 1",
					     "@ SOA a. b. (",
					     ")",
					     " 1 2 3 4 5",
					     "rpz-passthru.",
					     "\xc3\xbc",
					     "\xff",
					     "[Adblock",
					     "server:",
					     "%lo0",
					     "1.2.3.4",
					     "::/0",
					     "rpz-ip",
					     "\r",
					     "-",
					     "_",
					     "\n"};
	static const char *const formats[] = {"domains", "hosts", "adblock", "dnsmasq",
					      "unbound", "rpz",	  NULL};

	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		char text[512] = "";
		struct xb_listfile file;

		for (int i = rand() % 24; i > 0; i--)
			append(text, sizeof(text), "%s",
			       pieces[(size_t)rand() % ARRAY_SIZE(pieces)]);
		write_list(text, strlen(text));
		if (xb_listfile_read(path, formats[(size_t)round % ARRAY_SIZE(formats)], &file))
			continue;
		for (size_t i = 0; i < file.count; i++) {
			char shown[XB_ENTRY_TEXT];
			uint8_t form[XB_NAME_BYTES];
			struct xb_entry again;

			xb_entry_format(&file.items[i].entry, shown);
			assert_int_equal(xb_entry_parse(shown, strlen(shown), form, &again, NULL),
					 0);
			if (xb_entry_is_allow(&file.items[i].entry))
				again = xb_entry_allow(&again);
			assert_int_equal(xb_entry_compare(&again, &file.items[i].entry), 0);
		}
		xb_listfile_free(&file);
	}
}

static void test_real_lists(void **state)
{
	static const struct {
		const char *name, *format;
		size_t count, repeats;
	} lists[] = {
		{"disposable-email-domains.txt", "domains", 8335, 0},
		{"adservers.hosts", "hosts", 42358, 173},
		{"hagezi-light-20000.adblock", "adblock", 19990, 0},
		{"hagezi-light-20000.wildcard", "domains", 19990, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct xb_listfile file;

		read_published(lists[i].name, lists[i].format, lists[i].count, &file);
		assert_int_equal(file.repeats, lists[i].repeats);
		assert_int_equal(file.unknown, 0);
		xb_listfile_free(&file);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ROWS(detection),
		ROWS(domains),
		ROWS(unknown_domains),
		ROWS(hosts),
		ROWS(unknown_hosts),
		ROWS(adblock),
		ROWS(unknown_adblock),
		ROWS(dnsmasq),
		ROWS(unknown_dnsmasq),
		ROWS(dnsmasq_exceptions),
		ROWS(unbound),
		ROWS(unbound_data),
		ROWS(unbound_exceptions),
		ROWS(unknown_unbound),
		ROWS(rpz),
		ROWS(rpz_wildcards),
		ROWS(rpz_exceptions),
		ROWS(unknown_rpz),
		ROWS(refused),
		TEST(test_binary),
		TEST(test_long_lines),
		TEST(test_large_list),
		TEST(test_large_unbound),
		TEST(test_noise),
		TEST(test_real_lists),
	};

	return cmocka_run_group_tests_name("listname", tests, make_directory, remove_directory);
}

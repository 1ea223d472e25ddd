/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of resolvers, and response policy zones: what each line says, and what is left out
 * with its line. */
#include "support/listrows.h"

#define BOM "\xef\xbb\xbf"

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

#define NO_EXCEPTION "' is not an exception: the file lists nothing wider"
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
	 ", 4: 'b.example" NO_EXCEPTION ", 5: 'b.example" NO_EXCEPTION
	 ", 6: '#' is not a valid domain: "
	 "it "
	 "has other characters than letters, digits, '-' and '_')"},
	{"address=/a.example/\naddress=//0.0.0.0\naddress=/b.example/*.c.example/\n"
	 "address=/b.example\naddress=b.example/\naddress=/\n",
	 NULL,
	 "dnsmasq: a.example; 5 unknown (2: '' is not a valid domain: it is empty, 3: "
	 "'*.c.example' is not a valid domain: it has other characters than letters, digits, '-' "
	 "and '_', 4: "
	 "'address=/b.example', 5: 'address=b.example/', 6: 'address=/')"},
	{"address=/a.example/\nno-resolv\nserver=192.0.2.1\naddresses=/b.example/\n"
	 "address=/=b.example/\nb.example\n",
	 NULL,
	 "dnsmasq: a.example; 5 unknown (2: 'no-resolv', 3: 'server=192.0.2.1', 4: "
	 "'addresses=/b.example/', 5: '=b.example' is not a valid domain: it begins with '=', 6: "
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

#define NAS    "local-data: \"nas.home.example A 192.168.1.2\"\n"
#define IS_NAS ": 'local-data: \"nas.home.example A 192.168.'"
#define HAS    "' has local data that leads somewhere"

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
	 "unbound: a.example; 5 unknown (2: '.' is not a valid domain: it is empty, 3: '' is not a "
	 "valid domain: it "
	 "is "
	 "empty, 4: '=b.example' is not a valid domain: it begins with '=', 5: 'local-zone: "
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
	{SOA "a.example CNAME .\n32.1.2.0.192.rpz-ip CNAME .\n32.1.2.0.192.rpz-client-ip CNAME "
	     "x.\nns.b.example.rpz-nsdname CNAME .\n32.1.2.0.192.RPZ-NSIP CNAME .\nrpz-x CNAME "
	     ".\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: '32.1.2.0.192.rpz-ip CNAME .', 4: "
	 "'32.1.2.0.192.rpz-client-ip CNAME x.', 5: 'ns.b.example.rpz-nsdname CNAME .', 6: "
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
	 "rpz: =a.example; 5 unknown (3: 'b.example. CNAME .', 4: '@ CNAME .', 5: '*' is not a "
	 "valid domain: "
	 "it has other characters than letters, digits, '-' and '_', 6: 'b.example CNAME . x', 7: "
	 "'b.example CNAME')"},
	{SOA
	 "a.example CNAME .\n$INCLUDE other\n$GENERATE 1-2 b$.example CNAME .\n$ORIGIN\n=b.example "
	 "CNAME .\nb.example\n",
	 NULL,
	 "rpz: =a.example; 5 unknown (3: '$INCLUDE other', 4: '$GENERATE 1-2 b$.example CNAME .', "
	 "5: "
	 "'$ORIGIN', 6: '=b.example' is not a valid domain: it begins with '=', 7: 'b.example')"},
	/* Names outside the zone, and names whose zone nobody can know. */
	{"$ORIGIN rpz.local.\n" SOA "a.example CNAME .\n$ORIGIN other.\nb.example CNAME .\n"
	 "xrpz.local. CNAME .\nb.example.xrpz.local. CNAME .\n*.rpz.local. CNAME .\n",
	 NULL,
	 "rpz: =a.example; 4 unknown (5: 'b.example CNAME .', 6: 'xrpz.local. CNAME .', 7: "
	 "'b.example.xrpz.local. CNAME .', 8: '*' is not a valid domain: it has other characters "
	 "than "
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

/* Clients by their address; those who pass are taken out of what is listed around them. */
static const struct row rpz_clients[] = {
	{SOA
	 "32.1.2.0.192.rpz-client-ip CNAME rpz-drop. ; bot\n24.0.100.51.198.rpz-client-ip CNAME .\n"
	 "48.zz.db8.2001.rpz-client-ip CNAME *.\n128.1.zz.2.db8.2001.rpz-client-ip CNAME .\n"
	 "128.8.7.6.5.4.3.2.2001.RPZ-Client-IP CNAME .\n128.1.zz.rpz-client-ip CNAME .\n",
	 NULL,
	 "rpz: 198.51.100.0/24, 192.0.2.1 (bot), ::1, 2001:2:3:4:5:6:7:8, 2001:db8::/48, "
	 "2001:db8:2::1"},
	{SOA "24.0.2.0.192.rpz-client-ip CNAME .\n25.0.2.0.192.rpz-client-ip CNAME rpz-passthru.\n"
	     "32.7.2.0.192.rpz-client-ip CNAME rpz-drop.\n32.1.1.1.1.rpz-client-ip CNAME "
	     "rpz-passthru.\na.example CNAME .\n",
	 NULL, "rpz: 192.0.2.7, 192.0.2.128/25, =a.example"},
	{SOA "33.1.2.0.192.rpz-client-ip CNAME .\n1.2.0.192.rpz-client-ip CNAME .\n"
	     "x.1.2.0.192.rpz-client-ip CNAME .\nrpz-client-ip CNAME .\n.rpz-client-ip CNAME .\n"
	     "128.1.db8.2001.rpz-client-ip CNAME .\na.example CNAME .\n",
	 NULL,
	 "rpz: =a.example; 6 unknown (2: '192.0.2.1/33': the prefix length must be 0 to 32, 3: "
	 "'1.2.0.192.rpz-client-ip CNAME .', 4: 'x.1.2.0.192.rpz-client-ip CNAME .', 5: "
	 "'rpz-client-ip CNAME .', 6: '.rpz-client-ip CNAME .')"},
	{0},
};

/* Names in full, of a zone that the file names, or another does. */
static const struct row rpz_names[] = {
	{"rpz.test. 60 IN SOA a. b. 1 2 3 4 5\nrpz.test. 60 IN NS a.\n"
	 "a.example.rpz.test. 60 IN CNAME .\n*.b.example.RPZ.test. 60 IN CNAME .\n"
	 "32.1.2.0.192.rpz-client-ip.rpz.test. 60 IN CNAME .\n",
	 NULL, "rpz: 192.0.2.1, =a.example, b.example"},
	{"$ORIGIN rpz.test.\na.example.rpz.test. CNAME .\nb.example CNAME .\n", NULL,
	 "rpz: =a.example, =b.example"},
	{"$TTL 60\na.example.rpz.test. CNAME .\nb.example.rpz.test. CNAME .\n", NULL,
	 ": line 2 has a name in full, and the file does not say of which zone"},
	{0},
};

TEST(a_zone_that_is_told)
{
	static const char text[] = "$TTL 60\na.example.rpz.test. CNAME .\nb.example CNAME .\n"
				   "@ SOA a. b. 1 2 3 4 5\nc.example.test. CNAME .\n";
	static const char *const names[] = {"rpz.test", "rpz.test.", "RPZ.test"};
	struct xb_listfile file;
	char found[512];

	write_list(text, sizeof(text) - 1);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(xb_listfile_read_as(-1, path,
						     &(struct xb_listfile_terms){.zone = names[i]},
						     &file),
				 0);
		describe(&file, found, sizeof(found));
		assert_string_equal(found, "rpz: =a.example, =b.example; 1 unknown (5: "
					   "'c.example.test. CNAME .')");
		xb_listfile_free(&file);
	}
	write_list("192.0.2.1\n", 10);
	xb_error_clear();
	assert_int_equal(xb_listfile_read_as(-1, path,
					     &(struct xb_listfile_terms){.zone = "a", .name = "l"},
					     &file),
			 -EINVAL);
	assert_string_equal(xb_error_message(), "l: only the format rpz has a zone, not plain");
}

/* A file of which nothing is understood is something else; one that is right may still be empty. */
static const struct row refused[] = {
	{ZONE("home.example static") NAS, NULL,
	 ": no line could be read as unbound (1: 'home.example" HAS ")"},
	{"server:\n", NULL, ": no entries"},
	{"$TTL 60\n" SOA, NULL, ": no entries"},
	{0},
};

ROWS(dnsmasq);
ROWS(unknown_dnsmasq);
ROWS(dnsmasq_exceptions);
ROWS(unbound);
ROWS(unbound_data);
ROWS(unbound_exceptions);
ROWS(unknown_unbound);
ROWS(rpz);
ROWS(rpz_wildcards);
ROWS(rpz_exceptions);
ROWS(unknown_rpz);
ROWS(rpz_clients);
ROWS(rpz_names);
ROWS(refused);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

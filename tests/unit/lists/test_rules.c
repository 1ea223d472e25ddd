/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists whose lines say how much of a domain they mean: rule sets, expressions, URLs, smartdns, and
 * what other lists mean by wildcards; and files that may be of several formats. */
#include "support/listrows.h"

/* A domain with all below it, a name alone, a source: each in the words of several programs. */
static const struct row rulesets[] = {
	{".a.example\nb.example\n*.c.example\n+.d.example\n", NULL,
	 "ruleset: a.example, =b.example, c.example, d.example"},
	{"payload:\n  - '+.a.example'\n  - \"b.example\" # why\n  - .c.example\n  - "
	 "'*.d.example'\n",
	 NULL, "ruleset: a.example, =b.example (why), c.example, d.example"},
	{"# NAME: ads\nDOMAIN-SUFFIX,a.example\nDOMAIN,b.example\nhost-suffix, c.example, REJECT\n"
	 "HOST,d.example,reject-tinygif // why\n",
	 NULL, "ruleset: a.example, =b.example, c.example, =d.example (why)"},
	{"payload:\n- DOMAIN-SUFFIX,a.example\n- SRC-IP-CIDR,192.0.2.0/24,no-resolve\n", NULL,
	 "ruleset: 192.0.2.0/24, a.example"},
	{"payload:\n- '192.0.2.0/24'\n- 2001:db8::/32\n", NULL,
	 "ruleset: 192.0.2.0/24, 2001:db8::/32"},
	{"- '+.a.example'\n", NULL, "ruleset: a.example"},
	{"- a.example\n", NULL, "ruleset: =a.example"},
	{".zip\n+.mov\n.x.example\n", NULL, "ruleset: mov, zip, x.example"},
	{"a.example\n", "ruleset", "ruleset: =a.example"},
	{"a.example\n.a.example\n=b.example\n", "ruleset",
	 "ruleset: a.example; 1 repeats; 1 unknown (3: '=b.example' is not a valid domain: it "
	 "begins "
	 "with '=')"},
	{0},
};

/* Where a connection goes, who makes it, part of a name, another answer than no: left out. */
static const struct row unknown_rulesets[] = {
	{".a.example\nIP-CIDR,192.0.2.0/24,no-resolve\nDOMAIN-KEYWORD,ads\nPROCESS-NAME,x\n"
	 "DOMAIN-SUFFIX,b.example,DIRECT\nDOMAIN-SUFFIX,c.example,Proxy\n",
	 NULL,
	 "ruleset: a.example; 5 unknown (2: 'IP-CIDR,192.0.2.0/24,no-resolve', 3: "
	 "'DOMAIN-KEYWORD,ads', 4: 'PROCESS-NAME,x', 5: 'DOMAIN-SUFFIX,b.example,DIRECT', 6: "
	 "'DOMAIN-SUFFIX,c.example,Proxy')"},
	{".a.example\n*.*.b.example\n- \n.\na b\n", NULL,
	 "ruleset: a.example; 4 unknown (2: '*.b.example' is not a valid domain: it has other "
	 "characters than letters, digits, '-' and '_', 3: '-' is not a valid domain: its last "
	 "label has no letter, 4: '.' is not an address or prefix, 5: 'a b')"},
	{"DOMAIN-KEYWORD,ads\n", NULL,
	 ": no line could be read as ruleset (1: 'DOMAIN-KEYWORD,ads')"},
	{"payload:\n", NULL, ": no entries"},
	{0},
};

static const struct row expressions[] = {
	{"(\\.|^)a\\.example$\n(^|\\.)b-1\\.example$\n", NULL, "regex: a.example, b-1.example"},
	{"(\\.|^)a\\.example$\n^ad[0-9]\n(\\.|^)b.example$\n(\\.|^)c\\.example\n"
	 "(\\.|^)d\\.example$;querytype=A\n(\\.|^)$\n",
	 NULL,
	 "regex: a.example; 5 unknown (2: '^ad[0-9]', 3: '(\\.|^)b.example$', 4: "
	 "'(\\.|^)c\\.example', 5: '(\\.|^)d\\.example$;querytype=A', 6: '(\\.|^)$')"},
	{"^ad[0-9]\n", "regex", ": no line could be read as regex (1: '^ad[0-9]')"},
	{"(\\.|^)(a|b)\\.example$\n", "regex",
	 ": no line could be read as regex (1: '(\\.|^)(a|b)\\.example$')"},
	{0},
};

/* The host alone is bad, not what lies below it. */
static const struct row urls[] = {
	{"# x\nhttp://a.example/b?c=http://z.example\nhttps://u:p@b.example:8443\n"
	 "ftp://192.0.2.1:21/x\nhttps://[2001:db8::1]:443/\nHTTP://A.EXAMPLE\n",
	 "urls", "urls: 192.0.2.1, 2001:db8::1, =a.example, =b.example; 1 repeats"},
	{"http://a.example/\nb.example/x\nhttp:///x\nhttp://[::1\nhttp://1.2.3/\n", "urls",
	 "urls: =a.example; 4 unknown (2: 'b.example/x', 3: 'http:///x', 4: 'http://[::1', 5: "
	 "'1.2.3' is not an address or prefix)"},
	{0},
};

static const struct row smartdns[] = {
	{"address /a.example/#\naddress /-.b.example/#\naddress /*.c.example/#\n"
	 "domain-rules /d.example/ -a #\naddress /e.example/0.0.0.0\n",
	 NULL, "smartdns: a.example, =b.example, c.example, d.example, e.example"},
	{"address /a.example/#\naddress /w.a.example/-\nnameserver /n.a.example/lan\n"
	 "address /x.a.example/192.0.2.1\n",
	 NULL, "smartdns: a.example, allow n.a.example, allow w.a.example, allow x.a.example"},
	{"address /a.example/#\naddress /b.example/#6\naddress /b.example/-\nserver 192.0.2.1\n"
	 "domain-set -name ad -file /etc/ad.conf\naddress #6\n",
	 NULL,
	 "smartdns: a.example; 5 unknown (2: 'address /b.example/#6', 3: 'b.example' is not an "
	 "exception: the file lists nothing wider, 4: 'server 192.0.2.1', 5: 'domain-set -name ad "
	 "-file /etc/ad.conf', 6: 'address #6')"},
	{0},
};

static const struct row wildcards[] = {
	{"||*.zip^\n||a.example^\n|b.example^\n", NULL, "adblock: zip, a.example, =b.example"},
	{"@@|a.example^\n||example^\n", NULL, "adblock: example, allow =a.example"},
	{"|a.example^\n", NULL, "adblock: =a.example"},
	{"*.zip\na.example\n", NULL, "domains: zip, a.example"},
	{".a.example\n+.b.example\nc.example\n", "domains",
	 "domains: a.example, b.example, c.example"},
	{0},
};

/* What would be listed depends on the format: none is guessed. */
static const struct row contradictions[] = {
	{"a.example\n.b.example\n", NULL,
	 ":2: '.b.example' fits the formats ruleset, but the lines before it fit domains"},
	{"a.example\n\n+.b.example\n", NULL,
	 ":3: '+.b.example' fits the formats ruleset, but the lines before it fit domains"},
	{"a.example\nDOMAIN-SUFFIX,b.example\n", NULL,
	 ":2: 'DOMAIN-SUFFIX,b.example' fits the formats ruleset, but the lines before it fit "
	 "domains"},
	{"a.example\n- b.example\n", NULL,
	 ":2: '- b.example' fits the formats ruleset, but the lines before it fit domains"},
	{0},
};

/* A whole top-level domain is meant, however many lines say less of it. */
TEST(what_is_meant)
{
	static const char text[] = "zip\n*.zip\nmov\n*.example\n=example\n";
	struct xb_listfile file;

	write_list(text, sizeof(text) - 1);
	assert_int_equal(xb_listfile_read(path, "domains", &file), 0);
	assert_int_equal(file.count, 3);
	for (size_t i = 0; i < file.count; i++) {
		char name[XB_ENTRY_TEXT];

		xb_entry_format(&file.items[i].entry, name);
		assert_int_equal(file.items[i].meant, strcmp(name, "mov") != 0);
	}
	xb_listfile_free(&file);
}

ROWS(rulesets);
ROWS(unknown_rulesets);
ROWS(expressions);
ROWS(urls);
ROWS(smartdns);
ROWS(wildcards);
ROWS(contradictions);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

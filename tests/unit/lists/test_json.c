/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents: where the addresses are, what they look like, and what bounds a document. */
#include <stdlib.h>

#include "support/listchoices.h"

/* As AWS publishes its ranges, and Google. */
#define RANGES                                                                                     \
	"{\n \"syncToken\": \"1\",\n \"prefixes\": [\n"                                            \
	"  {\"ip_prefix\": \"192.0.2.0/24\", \"service\": \"EC2\"},\n"                             \
	"  {\"ip_prefix\": \"198.51.100.0/24\", \"service\": \"S3\"}\n ],\n"                       \
	" \"ipv6_prefixes\": [{\"ipv6_prefix\": \"2001:db8::/32\", \"service\": \"EC2\"}]\n}\n"
#define EITHER                                                                                     \
	"{\"prefixes\":[{\"ipv4Prefix\":\"192.0.2.0/24\"},{\"ipv6Prefix\":\"2001:db8::/32\"}]}"
#define DECISIONS                                                                                  \
	"[{\"id\":1,\"decisions\":[{\"type\":\"ban\",\"value\":\"192.0.2.1\"},"                    \
	"{\"type\":\"captcha\",\"value\":\"192.0.2.2\"}]},{\"id\":2,\"decisions\":null}]"
#define WARNING "a JSON document: which of its values are meant has to be said; "

static const struct choice_row paths[] = {
	{RANGES, NULL, JSON("prefixes[].ip_prefix"), "json: 192.0.2.0/24, 198.51.100.0/24"},
	{RANGES, NULL, JSON(".prefixes[].ip_prefix"), "json: 192.0.2.0/24, 198.51.100.0/24"},
	{RANGES, "json", JSON("prefixes[].ip_prefix,ipv6_prefixes[].ipv6_prefix"),
	 "json: 192.0.2.0/24, 198.51.100.0/24, 2001:db8::/32"},
	{RANGES, NULL, JSON("prefixes[service=S3].ip_prefix"), "json: 198.51.100.0/24"},
	{EITHER, NULL, JSON("prefixes[].ipv4Prefix,prefixes[].ipv6Prefix"),
	 "json: 192.0.2.0/24, 2001:db8::/32"},
	{DECISIONS, NULL, JSON("[].decisions[type=ban].value"), "json: 192.0.2.1"},
	{"{\"list\":[\"192.0.2.1\",\"192.0.2.2\"]}", NULL, JSON("list[]"),
	 "json: 192.0.2.1, 192.0.2.2"},
	{"[\"192.0.2.1\"]", NULL, JSON("[]"), "json: 192.0.2.1"},
	{"[\"192.0.2.1|80\",\"2001:db8::1|443\"]", NULL, JSON("[]"),
	 "json: 192.0.2.1, 2001:db8::1"},
	{"[\"192.0.2.1|x\"]", NULL, JSON("[]"),
	 ":1: [0]: '192.0.2.1|x' is not an address or prefix"},
	{"[\"evil.example.org|192.0.2.1\"]", NULL, JSON("[]"),
	 ":1: [0]: 'evil.example.org|192.0.2.1' is not an address or prefix"},
	{"{\"a.b\":{\"x\":\"192.0.2.1\",\"y\":\"192.0.2.2\"}}", NULL, JSON("\"a.b\"[]"),
	 "json: 192.0.2.1, 192.0.2.2"},
	{"\"192.0.2.1\"\n\"192.0.2.2\"\n", NULL, JSON("."), "json: 192.0.2.1, 192.0.2.2"},
	{"{\"ip\":\"192.0.2.1\"}\n\n{\"ip\":\"192.0.2.2\"}{\"ip\":null}{}\n", NULL, JSON("ip"),
	 "json: 192.0.2.1, 192.0.2.2"},
	{"\xef\xbb\xbf{\"ip\":\"192.0.2.1-192.0.2.2\"}", NULL, JSON("ip"),
	 "json: 192.0.2.1, 192.0.2.2"},
	{0},
};

static const struct choice_row values_of_nft[] = {
	{"{\"nftables\":[{\"metainfo\":{\"version\":\"1.0.6\"}},{\"set\":{\"name\":\"s\",\"elem\":["
	 "\"192.0.2.1\",{\"prefix\":{\"addr\":\"198.51.100.0\",\"len\":24}},"
	 "{\"range\":[\"203.0.113.1\",\"203.0.113.2\"]},"
	 "{\"elem\":{\"val\":\"192.0.2.9\",\"timeout\":60,\"expires\":50,\"comment\":\"why\"}}]}}]"
	 "}",
	 NULL, JSON("nftables[].set.elem[]"),
	 "json: 198.51.100.0/24, 192.0.2.1, 192.0.2.9 timeout 50 (why), 203.0.113.1, 203.0.113.2"},
	{"[{\"prefix\":{\"addr\":\"192.0.2.0\"}}]", NULL, JSON("[]"),
	 ":1: [0]: it is no prefix of an address and a length"},
	{"[{\"range\":[\"192.0.2.0\"]}]", NULL, JSON("[]"),
	 ":1: [0]: it is no range from one address to another"},
	{0},
};

static const struct choice_row refusals[] = {
	{RANGES,
	 NULL,
	 {0},
	 ":1: " WARNING "there are addresses at prefixes[].ip_prefix,ipv6_prefixes[].ipv6_prefix"},
	{"{\"a b\":[{\"prefix\":{\"addr\":\"192.0.2.0\",\"len\":24}}]}",
	 NULL,
	 {0},
	 ":1: " WARNING "there are addresses at \"a b\"[]"},
	{"[1]\n", "json", {0}, ":1: a JSON document without addresses"},
	{RANGES, NULL, JSON("prefixs[].ip_prefix"), ":1: nothing is at prefixs[].ip_prefix"},
	{RANGES, NULL, JSON("prefixes[].ip"), ":1: nothing is at prefixes[].ip"},
	{RANGES, NULL, JSON("prefixes.ip_prefix"),
	 ":1: prefixes: it is no object, and so has no 'ip_prefix'"},
	{RANGES, NULL, JSON("syncToken[]"), ":1: syncToken: it is neither an array nor an object"},
	{RANGES, NULL, JSON("prefixes[]"), ":1: prefixes[0]: it is no text with an address"},
	{RANGES, NULL, JSON("syncToken"), ":1: syncToken: '1' is not an address or prefix"},
	{"{}\n\n{\"ip\":\n\"192.0.2\"}", NULL, JSON("ip"),
	 ":3: ip: '192.0.2' is not an address or prefix"},
	{"{}\n\n{\"ip\":\n,}", NULL, JSON("ip"), ":4: not JSON: unexpected token near ','"},
	{"{\"ip\":\"192.0.2.1\"", NULL, JSON("ip"), ":1: not JSON: '}' expected near end of file"},
	{"{\"ip\":\"192.0.2.1\",\"ip\":\"192.0.2.2\"}", NULL, JSON("ip"),
	 ":1: not JSON: duplicate object key near '\"ip\"'"},
	{"192.0.2.1\n", NULL, JSON("ip"), ":1: .: it is no object, and so has no 'ip'"},
	{"{\"a\":[]}", NULL, JSON("a[]"), ": no entries"},
	{"{\"a\":null}", NULL, JSON("a"), ": no entries"},
	{"{\"a\":[{\"t\":\"x\"}]}", NULL, JSON("a[t=y].ip"), ": no entries"},
	{"", NULL, JSON("a[]"), ": no entries"},
	{"{}", NULL, JSON("a..b"), "!'a..b' is not a path such as prefixes[].ip_prefix"},
	{"{}", NULL, JSON("a."), "!'a.' is not a path such as prefixes[].ip_prefix"},
	{"{}", NULL, JSON("a[0"), "!'a[0' is not a path such as prefixes[].ip_prefix"},
	{"{}", NULL, JSON("a,"), "!'a,' is not a path such as prefixes[].ip_prefix"},
	{"{}", "csv", JSON("a"), "!the format csv is not JSON with a path"},
	{0},
};

static const struct choice_row values_left_out[] = {
	{"[\"192.0.2.1\",\"CN\",7,\"192.0.2.2\"]",
	 NULL,
	 {.json = "[]", .bounded = true, .most_wrong = 2},
	 "json: 192.0.2.1, 192.0.2.2; 2 unknown (1: [1]: 'CN' is not an address or prefix, 1: [2]: "
	 "it "
	 "is no text with an address)"},
	{"[\"192.0.2.1\",\"CN\",7]",
	 NULL,
	 {.json = "[]", .bounded = true, .most_wrong = 1},
	 ":1: [2]: it is no text with an address (1 wrong line left out before it, the most "
	 "allowed)"},
	{0},
};

/* A line longer than any list may have. */
TEST(test_one_long_line)
{
	const struct xb_listfile_terms terms = {.choice = JSON("[].ip")};
	FILE *list = fopen(path, "w");
	struct xb_listfile file;

	for (int i = 0; i < 100000; i++)
		fprintf(list, "%s{\"ip\": \"10.%d.%d.%d\"}", i ? ", " : "[", i >> 16, i >> 8 & 255,
			i & 255);
	fputs("]", list);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(xb_listfile_read_as(-1, path, &terms, &file), 0);
	assert_string_equal(file.format, "json");
	assert_int_equal(file.count, 100000);
	assert_int_equal(file.lines, 1);
	xb_listfile_free(&file);
}

TEST(test_depth)
{
	char text[200];

	memset(text, '[', sizeof(text));
	write_list(text, sizeof(text));
	check_choice(NULL, &(struct xb_list_choice)JSON("[]"), ":1: JSON of more than 64 levels");
}

/* A text of 36 MB that would be a tree of more than 1 GiB. */
TEST(test_memory)
{
	FILE *list;

	/* Under the sanitizers it takes a minute. */
	if (!getenv("XB_TEST_ALL")) {
		printf("it takes a minute under the sanitizers: only with --all\n");
		skip();
	}
	list = fopen(path, "w");
	assert_non_null(list);
	fputs("[{}", list);
	for (int i = 0; i < 12000000; i++)
		fputs(",{}", list);
	fputs("]", list);
	assert_int_equal(fclose(list), 0);
	check_choice(NULL, &(struct xb_list_choice)JSON("[].a"),
		     ":1: a JSON document that needs more than 1 GiB of memory");
}

CHOICES(paths);
CHOICES(values_of_nft);
CHOICES(refusals);
CHOICES(values_left_out);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

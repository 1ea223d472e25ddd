/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List files of addresses: every format with its oddities, every refusal with its line. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lists/reader.h"
#include "support/cmocka.h"
#include "support/listrows.h"

#define BOM   "\xef\xbb\xbf"
#define KNOWN "; known: " FORMAT_NAMES

static const struct row plain[] = {
	{"192.0.2.1\n", NULL, "plain: 192.0.2.1"},
	{"192.0.2.1", NULL, "plain: 192.0.2.1"},
	{"192.0.2.1\n\n", NULL, "plain: 192.0.2.1"},
	{"# head\n; other\n\n \t\n  # indented\n192.0.2.1\n", NULL, "plain: 192.0.2.1"},
	{"192.0.2.1\r\n\r\n# x\r\n192.0.2.2\r\n192.0.2.0/24\r\n", NULL,
	 "plain: 192.0.2.0/24, 192.0.2.1, 192.0.2.2"},
	{BOM "192.0.2.1\n192.0.2.2", NULL, "plain: 192.0.2.1, 192.0.2.2"},
	{BOM "# head\r\n192.0.2.1\r\n", NULL, "plain: 192.0.2.1"},
	{BOM "192.0.2.1\n", "plain", "plain: 192.0.2.1"},
	{"192.0.2.1 \t \n\t192.0.2.2\n 192.0.2.3\t\r\n", NULL,
	 "plain: 192.0.2.1, 192.0.2.2, 192.0.2.3"},
	{"0.0.0.0\n255.255.255.255\n0.0.0.0/0\n", NULL,
	 "plain: 0.0.0.0/0, 0.0.0.0, 255.255.255.255"},
	{"2001:db8::1\n2001:DB8::/32\n::/0\n::ffff:192.0.2.1\n", NULL,
	 "plain: 192.0.2.1, ::/0, 2001:db8::/32, 2001:db8::1"},
	{"192.0.2.128/25\n2001:db8::/64\n192.0.2.1\n192.0.2.0/24\n", NULL,
	 "plain: 192.0.2.0/24, 192.0.2.1, 192.0.2.128/25, 2001:db8::/64"},
	{"192.0.2.1/32\n2001:db8::1/128\n", NULL, "plain: 192.0.2.1, 2001:db8::1"},
	{"192.0.2.0/24\n", "netset", "netset: 192.0.2.0/24"},
	{0},
};

static const struct row plain_comments[] = {
	{"192.0.2.1 # seen twice \n192.0.2.2;SBL1\n192.0.2.3#x\n", NULL,
	 "plain: 192.0.2.1 (seen twice), 192.0.2.2 (SBL1), 192.0.2.3 (x)"},
	{"192.0.2.1 # a ; b # c\r\n", NULL, "plain: 192.0.2.1 (a ; b # c)"},
	{"192.0.2.1 #\n192.0.2.2 ; \n", NULL, "plain: 192.0.2.1, 192.0.2.2"},
	{"192.0.2.0/24\t;\tSBL2\n2001:db8::/32 # six\n", NULL,
	 "plain: 192.0.2.0/24 (SBL2), 2001:db8::/32 (six)"},
	{"192.0.2.1 # caf\xc3\xa9\n", NULL, "plain: 192.0.2.1 (caf\xc3\xa9)"},
	/* Not comments the store takes: Latin 1, and a control character. */
	{"192.0.2.1 # caf\xe9\n192.0.2.2 # a\x1b[2Jb\n", NULL, "plain: 192.0.2.1, 192.0.2.2"},
	{0},
};

TEST(test_comment_of_the_longest_size)
{
	char text[600];
	struct xb_listfile file;

	snprintf(text, sizeof(text), "192.0.2.1 #%0255d\n192.0.2.2 #%0256d\n", 1, 1);
	write_list(text, strlen(text));
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(file.count, 2);
	assert_int_equal(strlen(xb_listfile_comment(&file, &file.items[0])), 255);
	assert_string_equal(xb_listfile_comment(&file, &file.items[1]), "");
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	xb_listfile_free(&file);
}

static const struct row spamhaus[] = {
	{"; Spamhaus DROP List\n1.10.16.0/20 ; SBL256894\n1.19.0.0/16 \n", NULL,
	 "plain: 1.10.16.0/20 (SBL256894), 1.19.0.0/16"},
	{"2001:678:c5c::/48 ; SBL3\n1.19.0.0/16 ; SBL434604\n", "spamhaus",
	 "spamhaus: 1.19.0.0/16 (SBL434604), 2001:678:c5c::/48 (SBL3)"},
	{0},
};

static const struct row spamhaus_json[] = {
	{"{\"cidr\":\"1.10.16.0/20\",\"sblid\":\"SBL256894\",\"rir\":\"apnic\"}\n"
	 "{\"cidr\":\"2001:678:738::/48\",\"sblid\":\"SBL1\",\"rir\":\"ripencc\"}\n"
	 "{\"type\":\"metadata\",\"timestamp\":1,\"records\":2}\n",
	 NULL, "spamhaus-json: 1.10.16.0/20 (SBL256894), 2001:678:738::/48 (SBL1)"},
	{"{\"type\":\"metadata\"}\r\n\r\n { \"cidr\" : \"1.10.16.1/20\" } \r\n", NULL,
	 "spamhaus-json: 1.10.16.0/20; 1 cut"},
	{BOM "{\"cidr\":\"192.0.2.1\",\"sblid\":null}", "spamhaus-json",
	 "spamhaus-json: 192.0.2.1"},
	{"{\"cidr\":\"192.0.2.1\",\"sblid\":\"\"}\n{\"cidr\":\"192.0.2.2\",\"sblid\":\"a\\u0007b\"}"
	 "\n",
	 NULL, "spamhaus-json: 192.0.2.1, 192.0.2.2"},
	{0},
};

static const struct row ipsum[] = {
	{"# IPsum\n#\n# IP\tnumber of (black)lists\n192.0.2.2\t10\n192.0.2.1\t9\n", NULL,
	 "ipsum: 192.0.2.1, 192.0.2.2"},
	{"2001:db8::1\t1\r\n192.0.2.9/24\t3 \n", NULL, "ipsum: 192.0.2.0/24, 2001:db8::1; 1 cut"},
	{"192.0.2.1\t123456789012345678901234567890", "ipsum", "ipsum: 192.0.2.1"},
	{0},
};

static const struct row ipset[] = {
	{"create a hash:ip family inet hashsize 1024 maxelem 65536 timeout 300 counters comment "
	 "skbinfo bucketsize 12 "
	 "initval 0xd66429e0\n"
	 "add a 192.0.2.5 timeout 0 packets 0 bytes 0\n"
	 "add a 192.0.2.4 timeout 299 packets 7 bytes 420 skbmark 0x1/0xff skbprio 1:10 skbqueue 3 "
	 "comment \"two  "
	 "words\"\n",
	 NULL, "ipset: 192.0.2.4 timeout 299 (two  words), 192.0.2.5"},
	{"create a hash:net family inet\nadd a 192.0.2.1\nadd a 198.51.100.0/24\nadd a "
	 "203.0.113.7\n",
	 NULL, "ipset: 198.51.100.0/24, 192.0.2.1, 203.0.113.7"},
	{"create c bitmap:ip range 10.0.0.0-10.0.255.255\nadd c 10.0.1.2\n", NULL,
	 "ipset: 10.0.1.2"},
	{"create b hash:net family inet6\nadd b 2001:db8::/32\nadd b 2001:db8::1\n", NULL,
	 "ipset: 2001:db8::/32, 2001:db8::1"},
	{"add a 192.0.2.1 comment \"\"\nadd a 192.0.2.2 comment \"# ; timeout 7\" timeout 5\n",
	 NULL, "ipset: 192.0.2.1, 192.0.2.2 timeout 5 (# ; timeout 7)"},
	{"add a 192.0.2.1 comment \"caf\xe9\"\nadd a 192.0.2.2 -exist\n", NULL,
	 "ipset: 192.0.2.1, 192.0.2.2"},
	{"# saved\n\ncreate a hash:ip\r\nadd  a\t192.0.2.1 timeout 4294967295\r\n", "ipset",
	 "ipset: 192.0.2.1 timeout 4294967295"},
	{0},
};

/* What the line of the set says goes for its entries: a netmask makes networks of them, a timeout
 * is their default. */
static const struct row ipset_set_options[] = {
	{"create n hash:ip family inet netmask 24\nadd n 192.0.2.0\n", NULL, "ipset: 192.0.2.0/24"},
	{"create t hash:ip timeout 60\nadd t 198.51.100.1\nadd t 198.51.100.2 timeout 0\n"
	 "add t 198.51.100.3 timeout 9\n",
	 NULL, "ipset: 198.51.100.1 timeout 60, 198.51.100.2, 198.51.100.3 timeout 9"},
	{"create b bitmap:ip range 10.0.0.0-10.0.255.255 netmask 28\nadd b 10.0.1.0\n", NULL,
	 "ipset: 10.0.1.0/28"},
	{"create s hash:ip family inet6 netmask 64\nadd s 2001:db8::\n", NULL,
	 "ipset: 2001:db8::/64"},
	{"create timeout hash:ip\nadd timeout 192.0.2.1\ncreate timeout hash:ip timeout 3 "
	 "-exist\nadd timeout "
	 "192.0.2.2\n",
	 NULL, "ipset: 192.0.2.1, 192.0.2.2 timeout 3"},
	{0},
};

static const struct row repeats[] = {
	{"192.0.2.1 # first\n192.0.2.2\n192.0.2.1 # second\n192.0.2.1/32\n192.0.2.1\n", NULL,
	 "plain: 192.0.2.1 (first), 192.0.2.2; 3 repeats"},
	{"192.0.2.1\n192.0.2.1 # second\n", NULL, "plain: 192.0.2.1; 1 repeats"},
	{"192.0.2.0/24\n192.0.2.0/25\n192.0.2.0\n192.0.2.99/24\n", NULL,
	 "plain: 192.0.2.0/24, 192.0.2.0/25, 192.0.2.0; 1 repeats; 1 cut"},
	{"add a 192.0.2.1 timeout 5\nadd a 192.0.2.1\n", NULL,
	 "ipset: 192.0.2.1 timeout 5; 1 repeats"},
	{0},
};

TEST(test_host_bits)
{
	static const char text[] =
		"# head\n192.0.2.0/24\n192.0.2.77/25 # x\n2001:db8::1/32\n198.51.100.1\n";
	struct xb_listfile file;
	char items[256];

	write_list(text, strlen(text));
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	describe(&file, items, sizeof(items));
	assert_string_equal(
		items, "plain: 192.0.2.0/24, 192.0.2.0/25 (x), 198.51.100.1, 2001:db8::/32; 2 cut");
	assert_int_equal(file.first_host_bits_line, 3);
	assert_string_equal(file.first_host_bits, "192.0.2.77/25");
	xb_listfile_free(&file);
}

static const struct row refused_entries[] = {
	{"192.0.2.0/33\n", NULL, ":1: '192.0.2.0/33': the prefix length must be 0 to 32"},
	{"192.0.2.1\r\n\r\n# x\r\n192.0.2.0/33\r\n", NULL,
	 ":4: '192.0.2.0/33': the prefix length must be 0 to 32"},
	{"2001:db8::/129", NULL, ":1: '2001:db8::/129': the prefix length must be 0 to 128"},
	{"192.0.2.1\n192.0.2\n", NULL, ":2: '192.0.2' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.\n", NULL, ":2: '192.0.2.' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.1.\n", NULL, ":2: '192.0.2.1.' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.1.5\n", NULL, ":2: '192.0.2.1.5' is not an address or prefix"},
	{"192.0.2.1\n192.0..1\n", NULL, ":2: '192.0..1' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.256\n", NULL, ":2: '192.0.2.256' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.01\n", NULL, ":2: '192.0.2.01' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.00\n", NULL, ":2: '192.0.2.00' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.0001\n", NULL, ":2: '192.0.2.0001' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.4294967297\n", NULL,
	 ":2: '192.0.2.4294967297' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.1x\n", NULL, ":2: '192.0.2.1x' is not an address or prefix"},
	{"192.0.2.1\n192.0.2.9-192.0.2.1\n", NULL, ":2: the range ends before it begins"},
	{"192.0.2.1-2001:db8::1\n", "plain",
	 ":1: a range from IPv4 to IPv6, or the other way round"},
	{"192.0.2.1-192.0.2.0/24\n", "plain", ":1: '192.0.2.0/24' is not a single address"},
	{"192.0.2.1-\n", "plain", ":1: '' is not an address or prefix"},
	{"192.0.2.1-192.0.2.9-192.0.2.10\n", "plain",
	 ":1: '192.0.2.9-192.0.2.10': ranges of addresses are not supported; use prefixes"},
	{"192.0.2.0/255.0.255.0\n", NULL, ":1: '255.0.255.0' is not a netmask"},
	{"192.0.2.1:70000\n", NULL, ":1: '192.0.2.1:70000' is not an address or prefix"},
	{"[192.0.2.1]:80\n", "plain", ":1: '[192.0.2.1]:80' is not an address or prefix"},
	{"192.0.2.1\nexample.org # domain\n", NULL,
	 ":2: 'example.org' is not an address or prefix; to list domains too, choose the format "
	 "domains"},
	{"192.0.2.1\nmy-site.example.org\n", NULL,
	 ":2: 'my-site.example.org' is not an address or prefix; to list domains too, choose the "
	 "format domains"},
	{"192.0.2.1\n! not a comment\n", NULL, ":2: '!' is not an address or prefix"},
	{"example.org\n192.0.2.1\n", "plain",
	 ":1: 'example.org' is not an address or prefix; to list domains too, choose the format "
	 "domains"},
	{"=example.org\n", "netset", ":1: '=example.org' is not an address or prefix"},
	{"192.0.2.1\n\n192.0.2.2\t5\n", NULL,
	 ":3: unexpected text after the entry: '5'; a comment begins with '#' or ';'"},
	{"192.0.2.1\n192.0.2.2 192.0.2.3", NULL,
	 ":2: unexpected text after the entry: '192.0.2.3'; a comment begins with '#' or ';'"},
	{"192.0.2.1\n1\x1b[2J\xc2\x9b!\x7f\n", NULL,
	 ":2: '1?[2J?\?!?' is not an address or prefix"},
	{"192.0.2.1\r192.0.2.2\r", "plain",
	 ":1: unexpected text after the entry: '192.0.2.2'; a comment begins with '#' or ';'"},
	{"192.0.2.1\n0123456789012345678901234567890123456789012345678901234567890123456789\n",
	 NULL,
	 ":2: '012345678901234567890123456789012345678901234567890123456789...' is not an address "
	 "or prefix"},
	{"192.0.2.1\n" BOM "192.0.2.2\n", NULL,
	 ":2: '\?\?\?192.0.2.2' is not an address or prefix"},
	{"create a hash:ip\n", "plain", ":1: 'create' is not an address or prefix"},
	{0},
};

#define UNSURE ":1: not in a list format that can be recognized: "

static const struct row refused_formats[] = {
	{"192.0.2.1x\n192.0.2.1\n", NULL, ":1: not in a known list format: '192.0.2.1x'" KNOWN},
	{"192.0.2.1 192.0.2.2\n", NULL,
	 UNSURE
	 "'192.0.2.1 192.0.2.2'; if each is listed, choose the format words; if they are the "
	 "first and the last of a range, the columns 1..2"},
	{"192.0.2.0 255.255.255.0\n", NULL,
	 UNSURE "'192.0.2.0 255.255.255.0'; if the second is the netmask, choose the columns 1/2"},
	{"192.0.2.0,192.0.2.9,DE\n", NULL,
	 UNSURE "'192.0.2.0,192.0.2.9,DE'; if the first two are a range, choose the columns 1..2; "
		"else one of them"},
	{"a;b,192.0.2.1;c\n", NULL, ":1: not in a known list format: 'a;b,192.0.2.1;c'" KNOWN},
	{"a;192.0.2.1;c\n", NULL,
	 UNSURE "'a;192.0.2.1;c'; it seems to have columns: choose column 2"},
	{"192.0.2.1;192.0.2.9;c\n", NULL,
	 UNSURE "'192.0.2.1;192.0.2.9;c'; it seems to have columns: choose column 1"},
	{"ip,country\n192.0.2.1,DE\n", NULL,
	 UNSURE "'ip,country'; it seems to have columns: choose the one with the addresses, by its "
		"number or name"},
	{"192.0.2.0\t24\n", NULL,
	 UNSURE "'192.0.2.0?24'; it seems to have columns: choose column 1"},
	{"http://192.0.2.1/a\n", NULL,
	 UNSURE "'http://192.0.2.1/a'; to list the hosts of URLs, choose the format urls"},
	{"|example.org^x\n192.0.2.1\n", NULL,
	 ": no line could be read as adblock (1: '|example.org^x')"},
	{"|http://example.org^\n192.0.2.1\n", NULL,
	 ":1: not in a known list format: '|http://example.org^'" KNOWN},
	{"<!DOCTYPE html>\n", NULL, ":1: not in a known list format: '<!DOCTYPE html>'" KNOWN},
	{"example\n", NULL, ":1: not in a known list format: 'example'" KNOWN},
	{"Name: a\nType: hash:ip\n", NULL, ":1: not in a known list format: 'Name: a'" KNOWN},
	{"\n\n\x1b]0,title\x07 and so on until the forty are full\n", NULL,
	 ":3: not in a list format that can be recognized: '?]0,title? and so on until the forty "
	 "are'; it seems to have columns: choose the one with the addresses, by its number or "
	 "name"},
	{"[1]", NULL, ":1: not in a known list format: '[1]'" KNOWN},
	{"12345\n", NULL, ":1: not in a known list format: '12345'" KNOWN},
	{"", NULL, ": no entries"},
	{BOM, NULL, ": no entries"},
	{"\r\n# nothing\r\n;\r\n", NULL, ": no entries"},
	{"# nothing\n", "ipsum", ": no entries"},
	{"create a hash:ip\n", NULL, ": no entries"},
	{"{\"type\":\"metadata\"}\n", NULL, ": no entries"},
	{0},
};

static const struct row refused_ipsum[] = {
	{"192.0.2.1\t3\n192.0.2.2\n", NULL,
	 ":2: '192.0.2.2' is not an address, a tab and a number"},
	{"192.0.2.1\t3\n192.0.2.2\t\n", NULL,
	 ":2: '192.0.2.2' is not an address, a tab and a number"},
	{"192.0.2.1\t3\n192.0.2.2 3\n", NULL,
	 ":2: '192.0.2.2 3' is not an address, a tab and a number"},
	{"192.0.2.1\t3\n192.0.2.2\t-3\n", NULL,
	 ":2: '192.0.2.2?-3' is not an address, a tab and a number"},
	{"192.0.2.1\t3\n192.0.2.2\t3\t4\n", NULL,
	 ":2: '192.0.2.2?3?4' is not an address, a tab and a number"},
	{"192.0.2.1\t3\n\n192.0.2.256\t3\n", NULL, ":3: '192.0.2.256' is not an address or prefix"},
	{"192.0.2.0/33\t3\n", NULL, ":1: '192.0.2.0/33': the prefix length must be 0 to 32"},
	{0},
};

#define OBJECT "{\"cidr\":\"192.0.2.1\"}\n"

static const struct row refused_json[] = {
	{OBJECT "{\"sblid\":\"SBL1\"}\n", NULL, ":2: not an object with a text \"cidr\""},
	{OBJECT "{\"cidr\":7}\n", NULL, ":2: not an object with a text \"cidr\""},
	{OBJECT "[\"192.0.2.1\"]\n", NULL, ":2: not an object with a text \"cidr\""},
	{OBJECT "{\"cidr\":\"\"}\n", NULL, ":2: '' is not an address or prefix"},
	{OBJECT "{\"cidr\":\"192.0.2.0/33\"}\n", NULL,
	 ":2: '192.0.2.0/33': the prefix length must be 0 to 32"},
	{OBJECT "{\"cidr\":\"1\\u001b\"}\n", NULL, ":2: '1?' is not an address or prefix"},
	{OBJECT "\n{\"cidr\":\"192.0.2.2\"\n", NULL, ":3: not JSON: '}' expected near end of file"},
	{OBJECT "{\"cidr\":\"example.org\"}\n", NULL,
	 ":2: 'example.org' is not an address or prefix"},
	{OBJECT "192.0.2.2\n", NULL, ":2: not JSON: '[' or '{' expected near '192.0'"},
	{OBJECT OBJECT "{\"cidr\":\"192.0.2.3\",\"cidr\":\"192.0.2.4\"}\n", NULL,
	 ":3: not JSON: duplicate object key near '\"cidr\"'"},
	{"{\"cidr\":\"192.0.2.1\"} {}\n", NULL, ":1: not JSON: end of file expected near '{'"},
	{"{\x1b}\n", "spamhaus-json", ":1: not JSON: string or '}' expected near '?'"},
	{0},
};

#define ONE_SET ": one of them may hold sources that pass; `ipset save SET` writes one set"
#define TYPES	", only hash:ip, hash:net and bitmap:ip"

static const struct row refused_ipset[] = {
	{"create a hash:ip,port family inet\n", NULL,
	 ":1: cannot read sets of type hash:ip,port" TYPES},
	{"create a hash:ip\nadd a 192.0.2.1\ncreate b hash:mac\n", NULL,
	 ":3: cannot read sets of type hash:mac" TYPES},
	{"create a list:set size 8\n", NULL, ":1: cannot read sets of type list:set" TYPES},
	{"create a bitmap:ip,mac range 10.0.0.0/16\n", NULL,
	 ":1: cannot read sets of type bitmap:ip,mac" TYPES},
	{"create a hash:ip bitmask 255.0.255.0\n", NULL,
	 ":1: the set has a bitmask, which prefixes cannot express"},
	{"create a\n", NULL, ":1: 'create' needs a name and a type"},
	{"create a hash:ip netmask 129\n", NULL, ":1: netmask '129' is not a number from 0 to 128"},
	{"create a hash:ip timeout\n", NULL, ":1: timeout '' is not a number from 0 to 4294967295"},
	{"add a\n", NULL, ":1: 'add' needs a set and an entry"},
	{"add a example.org\n", NULL, ":1: 'example.org' is not an address or prefix"},
	{"create a hash:net\nadd a 10.0.0.0/8 nomatch\n", NULL,
	 ":2: 'nomatch' makes an exception, which cannot be expressed as a listed entry"},
	{"add a 192.0.2.1,tcp:80\n", NULL, ":1: '192.0.2.1,tcp:80' is not an address or prefix"},
	{"add a 192.0.2.0/33\n", NULL, ":1: '192.0.2.0/33': the prefix length must be 0 to 32"},
	{"add a 192.0.2.1 timeout x\n", NULL,
	 ":1: timeout 'x' is not a number from 0 to 4294967295"},
	{"add a 192.0.2.1 timeout 4294967296\n", NULL,
	 ":1: timeout '4294967296' is not a number from 0 to 4294967295"},
	{"add a 192.0.2.1 timeout 99999999999999999999\n", NULL,
	 ":1: timeout '99999999999999999999' is not a number from 0 to 4294967295"},
	{"add a 192.0.2.1 timeout\n", NULL, ":1: timeout '' is not a number from 0 to 4294967295"},
	{"add a 192.0.2.1\nadd a 192.0.2.2 comment \"open\n", NULL,
	 ":2: the comment is not in double quotes"},
	{"add a 192.0.2.2 comment\n", NULL, ":1: the comment is not in double quotes"},
	{"add a 192.0.2.2 comment word\n", NULL, ":1: the comment is not in double quotes"},
	{"add a 192.0.2.2 packets\n", NULL, ":1: 'packets' without a value"},
	{"add a 192.0.2.2 family\x01\n", NULL, ":1: 'family?' is not an option of an entry"},
	{"add a 192.0.2.1\n\nflush a\n", NULL,
	 ":3: 'flush' is neither 'create' nor 'add', all that ipset save writes"},
	/* One of several sets may be for those who pass. */
	{"create good hash:ip\nadd good 192.0.2.1\ncreate bad hash:ip\nadd bad 192.0.2.2\n", NULL,
	 ":3: a second set, 'bad' after 'good'" ONE_SET},
	{"create good hash:ip\ncreate bad hash:ip\nadd bad 192.0.2.2\n", NULL,
	 ":2: a second set, 'bad' after 'good'" ONE_SET},
	{"add bad 192.0.2.1\nadd good 192.0.2.2\n", NULL,
	 ":2: a second set, 'good' after 'bad'" ONE_SET},
	{"192.0.2.1\n", "ipset",
	 ":1: '192.0.2.1' is neither 'create' nor 'add', all that ipset save writes"},
	{0},
};

ROWS(plain);
ROWS(plain_comments);
ROWS(spamhaus);
ROWS(spamhaus_json);
ROWS(ipsum);
ROWS(ipset);
ROWS(ipset_set_options);
ROWS(repeats);
ROWS(refused_entries);
ROWS(refused_formats);
ROWS(refused_ipsum);
ROWS(refused_json);
ROWS(refused_ipset);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

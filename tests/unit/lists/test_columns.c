/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with columns: what separates and quotes them, headers, which of them have the addresses,
 * and which lines count. */
#include <stdlib.h>

#include "lists/columnchoice.h"
#include "support/listchoices.h"

static const struct choice_row separators[] = {
	{"a,192.0.2.1\nb,192.0.2.2\n", NULL, COLUMN("2"), "csv: 192.0.2.1, 192.0.2.2"},
	{"a;192.0.2.1\n", NULL, COLUMN("2"), "semicolons: 192.0.2.1"},
	{"a\t192.0.2.1\t\n", NULL, COLUMN("2"), "tsv: 192.0.2.1"},
	{"\t192.0.2.1\n", NULL, COLUMN("2"), "tsv: 192.0.2.1"},
	{"192.0.2.0\t24, and more\n", NULL, COLUMN("1/2"),
	 ":1: '192.0.2.0' and '24, and more' are not an address and a prefix length"},
	{"a|192.0.2.1|b, c\n", NULL, COLUMN("2"), "pipes: 192.0.2.1"},
	{"  a \t 192.0.2.1  \n", "table", COLUMN("2"), "table: 192.0.2.1"},
	{"a   192.0.2.1 \r\n192.0.2.3 192.0.2.2", NULL, COLUMN("2"), "table: 192.0.2.1, 192.0.2.2"},
	{"192.0.2.1\n192.0.2.2 x\n", NULL, COLUMN("1"), "table: 192.0.2.1, 192.0.2.2"},
	{"a,b;192.0.2.1\n", NULL, COLUMN("2"),
	 ":1: commas or semicolons could separate its columns: choose the format csv or "
	 "semicolons"},
	{"a,b;192.0.2.1\n", "semicolons", COLUMN("2"), "semicolons: 192.0.2.1"},
	{"\"a;b\",192.0.2.1\n", NULL, COLUMN("2"), "csv: 192.0.2.1"},
	{"\n \n# a;b,c\n,192.0.2.1\n", NULL, COLUMN("2"), "csv: 192.0.2.1"},
	{"\xef\xbb\xbf"
	 "192.0.2.1,a\n",
	 NULL, COLUMN("1"), "csv: 192.0.2.1"},
	{"192.0.2.1,a\nb,192.0.2.2\n", NULL, COLUMN("2"), "csv: 192.0.2.2"},
	{0},
};

static const struct choice_row quotes[] = {
	{"\"a\"\"b,c\",\"192.0.2.1\"\n\"\", 192.0.2.2 ,\"\"\n", NULL, COLUMN("2"),
	 "csv: 192.0.2.1, 192.0.2.2"},
	{"a,\"b\nc,192.0.2.9\n\",192.0.2.1\nd,e,192.0.2.2\n", NULL, COLUMN("3"),
	 "csv: 192.0.2.1, 192.0.2.2"},
	{"\"192.0.2.1\" , a\n", NULL, COLUMN("1"), "csv: 192.0.2.1"},
	{"a\"b,192.0.2.1\n", NULL, COLUMN("2"), "csv: 192.0.2.1"},
	{"a,192.0.2.1\n\"b,192.0.2.2\nc,192.0.2.3\n", NULL, COLUMN("2"),
	 ":3: the quote of line 2 is open at the end"},
	{"\"a\"b,192.0.2.1\n", NULL, COLUMN("2"),
	 ":1: 'b,192.0.2.1' stands behind the quote that ends a field"},
	{"1 \"192.0.2.1\"\n", "table", COLUMN("2"),
	 ":1: '\"192.0.2.1\"' is not an address or prefix"},
	{0},
};

static const struct choice_row headers[] = {
	{"id,ip\n1,192.0.2.1\n", NULL, COLUMN("ip"), "csv: 192.0.2.1"},
	{"id,ip\n1,192.0.2.1\n", NULL, COLUMN("2"), "csv: 192.0.2.1"},
	{"id,ip\n1,192.0.2.1\n", NULL, COLUMN("IP"), ":1: the header has no column 'IP'"},
	{"# list\n# id, ip\n1,192.0.2.1\n", NULL, COLUMN("ip"), "csv: 192.0.2.1"},
	{"# id, ip\n# list\n1,192.0.2.1\n", NULL, COLUMN("ip"),
	 ":3: the header has no column 'ip'"},
	{"# ip,id\nid,ip\n1,192.0.2.1\n", NULL, COLUMN("ip"), "csv: 192.0.2.1"},
	{"\"id\",\"source ip\"\n1,192.0.2.1\n", NULL, COLUMN("source ip"), "csv: 192.0.2.1"},
	{"192.0.2.1,a\nip,b\n", NULL, COLUMN("1"), ":2: 'ip' is not an address or prefix"},
	{"192.0.2.300,a\n192.0.2.1,b\n", NULL, COLUMN("1"),
	 ":1: '192.0.2.300' is not an address or prefix"},
	{"ip,id\n", NULL, COLUMN("ip"), ": no entries"},
	{0},
};

static const struct choice_row meanings[] = {
	{"192.0.2.0,192.0.2.255\n2001:db8::,2001:db8::ff\n", NULL, COLUMN("1..2"),
	 "csv: 192.0.2.0/24, 2001:db8::/120"},
	{"192.0.2.1\t192.0.2.6\n", NULL, COLUMN("1..2"),
	 "tsv: 192.0.2.1, 192.0.2.2/31, 192.0.2.4/31, 192.0.2.6"},
	{"192.0.2.0,24\n2001:db8::,32\n", NULL, COLUMN("1/2"), "csv: 192.0.2.0/24, 2001:db8::/32"},
	{"192.0.2.0 255.255.255.128\n", NULL, COLUMN("1/2"), "table: 192.0.2.0/25"},
	{"192.0.2.5,24\n", NULL, COLUMN("1/2"), "csv: 192.0.2.0/24; 1 cut"},
	{"192.0.2.0|768\n192.0.2.7|1\n", NULL, COLUMN("1+2"),
	 "pipes: 192.0.2.0/23, 192.0.4.0/24, 192.0.2.7"},
	{"from,to\n192.0.2.0,192.0.2.1\n", NULL, COLUMN("from..to"), "csv: 192.0.2.0/31"},
	{"192.0.2.1:80,a\nIp:192.0.2.2,b\n192.0.2.4-192.0.2.5,c\n", NULL, COLUMN("1"),
	 "csv: 192.0.2.1, 192.0.2.2, 192.0.2.4/31"},
	{0},
};

static const struct choice_row meanings_that_are_none[] = {
	{"192.0.2.9,192.0.2.1\n", NULL, COLUMN("1..2"), ":1: the range ends before it begins"},
	{"192.0.2.9,33\n", NULL, COLUMN("1/2"),
	 ":1: '192.0.2.9/33': the prefix length must be 0 to 32"},
	{"192.0.2.9,x\n", NULL, COLUMN("1/2"),
	 ":1: '192.0.2.9' and 'x' are not an address and a prefix length"},
	{"192.0.2.0/24,24\n", NULL, COLUMN("1/2"),
	 ":1: '192.0.2.0/24' and '24' are not an address and a prefix length"},
	{"192.0.2.9,0\n", NULL, COLUMN("1+2"), ":1: '0' is not a number of addresses"},
	{"255.255.255.255,2\n", NULL, COLUMN("1+2"),
	 ":1: 2 addresses from '255.255.255.255' on go beyond the last there is"},
	{"2001:db8::,2\n", NULL, COLUMN("1+2"),
	 ":1: '2001:db8::': only IPv4 addresses are counted"},
	{"192.0.2.9\n", "csv", COLUMN("2"), ":1: there is nothing in column 2"},
	{"192.0.2.9,,a\n", NULL, COLUMN("2"), ":1: there is nothing in column 2"},
	{"192.0.2.9,a\n", NULL, COLUMN("1..3"), ":1: there is nothing in column 3"},
	{0},
};

#define DELEGATED                                                                                  \
	"2|ripencc|20260420|4|19830101|20260419|+0000\n"                                           \
	"ripencc|*|ipv4|*|3|summary\n"                                                             \
	"ripencc|DE|ipv4|85.214.0.0|65536|20060814|allocated|abc\n"                                \
	"ripencc|FR|ipv4|90.0.0.0|256|20060814|allocated|abc\n"                                    \
	"ripencc|DE|ipv6|2a01:4f8::|32|20060814|allocated|abc\n"

static const struct choice_row conditions[] = {
	{DELEGATED, NULL, WHERE("4+5", "2=DE,3=ipv4"), "pipes: 85.214.0.0/16"},
	{DELEGATED, NULL, WHERE("4/5", "2=DE,3=ipv6"), "pipes: 2a01:4f8::/32"},
	{DELEGATED, NULL, WHERE("4+5", "2=AT"), ": no entries"},
	{"net,cc\n192.0.2.0/24,DE\nx,AT\n", NULL, WHERE("net", "cc=DE"), "csv: 192.0.2.0/24"},
	{"net,cc\n192.0.2.0/24,\n", NULL, WHERE("net", "cc="), "csv: 192.0.2.0/24"},
	{"net,cc\n192.0.2.0/24,\n", NULL, WHERE("net", "c=x"), ":1: the header has no column 'c'"},
	{0},
};

static const struct choice_row wrong_choices[] = {
	{"", NULL, COLUMN("0"), "!columns have numbers from 1 to 999, not '0'"},
	{"", NULL, COLUMN("1000"), "!columns have numbers from 1 to 999, not '1000'"},
	{"", NULL, COLUMN(""), "!a column is a number from 1 to 999, or a name of up to 63 bytes"},
	{"", NULL, COLUMN("1.."),
	 "!a column is a number from 1 to 999, or a name of up to 63 bytes"},
	{"", NULL, WHERE("1", "DE"), "!a condition is COLUMN=VALUE, not 'DE'"},
	{"", NULL, WHERE(NULL, "2=DE"), "!conditions are for files with columns"},
	{"", "plain", COLUMN("1"), "!the format plain has no columns to choose"},
	{"", NULL, {.column = "1", .json = "a"}, "!a file has columns, or it is JSON: not both"},
	{"a,192.0.2.1\n", "csv", {0}, ":1: which column has the addresses has to be said"},
	{0},
};

static const struct choice_row lines_left_out[] = {
	{"192.0.2.1,a\nx,b\n,c\n192.0.2.2,d\n",
	 NULL,
	 {.column = "1", .bounded = true, .most_wrong = 2},
	 "csv: 192.0.2.1, 192.0.2.2; 2 unknown (2: 'x' is not an address or prefix, 3: there is "
	 "nothing in column 1)"},
	{"192.0.2.1,a\nx,b\n,c\n",
	 NULL,
	 {.column = "1", .bounded = true, .most_wrong = 1},
	 ":3: there is nothing in column 1 (1 wrong line left out before it, the most allowed)"},
	{"192.0.2.1,a\n\"b\n",
	 NULL,
	 {.column = "1", .bounded = true, .most_wrong = 9},
	 ":2: the quote of line 2 is open at the end"},
	{"ip,a\n192.0.2.1,b\n",
	 NULL,
	 {.column = "x", .bounded = true, .most_wrong = 9},
	 ":1: the header has no column 'x'"},
	{"192.0.2.1\nx\n192.0.2.2\n", NULL, SKIP(1),
	 "plain: 192.0.2.1, 192.0.2.2; 1 unknown (2: 'x' is not an address or prefix)"},
	{"192.0.2.1\nx\n", NULL, SKIP(0), ":2: 'x' is not an address or prefix"},
	{"x\n192.0.2.2\n", "plain", SKIP(1),
	 "plain: 192.0.2.2; 1 unknown (1: 'x' is not an address or prefix)"},
	{"a.example\n#\nb c\na b\n", NULL, SKIP(1),
	 ": 2 lines were not understood as domains, and 1 are allowed (3: 'b c')"},
	{"add a 192.0.2.1\n", "ipset", SKIP(1),
	 "!in the format ipset no line can be left out: others depend on it"},
	{"create a hash:net netmask 24\nadd a 192.0.2.0\nadd a x\n", NULL, SKIP(1),
	 ":3: 'x' is not an address or prefix"},
	{0},
};

CHOICES(separators);
CHOICES(quotes);
CHOICES(headers);
CHOICES(meanings);
CHOICES(meanings_that_are_none);
CHOICES(conditions);
CHOICES(wrong_choices);
CHOICES(lines_left_out);

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

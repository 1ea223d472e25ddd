/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of peers: which hosts a URL names, which lines are taken, and what else may stand there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/peerfile.h"
#include "support/cmocka.h"

#define NOW 1800000000
#define DAY (24 * 3600)

static char directory[] = "/tmp/xb-peerfile-XXXXXX";
static char noticed[256];

static void take_notice(enum xb_notice_kind kind, const char *message)
{
	assert_int_equal(kind, XB_NOTE);
	snprintf(noticed, sizeof(noticed), "%s", message);
}

static int begin(void **state)
{
	strcpy(directory, "/tmp/xb-peerfile-XXXXXX");
	*noticed = '\0';
	xb_notice_sink(take_notice);
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return chdir("/") || system(command) ? -1 : 0;
}

static void write_text(const char *text)
{
	FILE *file = fopen(XB_PEER_FILE, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* "ADDRESS HOST AGE|" each. */
static const char *read_all(char text[4096])
{
	struct xb_peer_list list = {0};
	char address[XB_ENTRY_TEXT];
	size_t used = 0;

	*text = '\0';
	assert_int_equal(xb_peers_read(directory, NOW, &list), 0);
	for (size_t i = 0; i < list.count && used < 3500; i++)
		used += (size_t)snprintf(text + used, 4096 - used, "%s %s %d|",
					 xb_entry_format(&list.item[i].address, address),
					 list.item[i].host, (int)(NOW - list.item[i].seen));
	xb_peers_free(&list);
	return text;
}

static void put(struct xb_peer_list *list, const char *host, uint32_t address, int64_t seen)
{
	struct xb_peer one = {
		.address = {.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32},
		.seen = seen};

	strcpy(one.host, host);
	assert_int_equal(xb_peer_put(list, &one), 0);
}

/* --- hosts ------------------------------------------------------------------------------------ */

TEST(urls_name_hosts)
{
	static const char *const rows[][2] = {
		{"https://feeds.example/list?a=b#c", "feeds.example"},
		{"https://feeds.example:8443/list", "feeds.example"},
		{"https://feeds.example?x", "feeds.example"},
		{"http://user:p@ss@feeds.example:80/a@b", "feeds.example"},
		{"redis://10.0.0.5:6379", "10.0.0.5"},
		{"rediss://[fd00::5]:6379", "fd00::5"},
		{"http://[fd00::5]", "fd00::5"},
		{"proxy.example:3128", "proxy.example"},
		{"proxy.example", "proxy.example"},
		{"unix:/run/redis.sock", NULL},
		{"file:///srv/list", NULL},
		{"https:///list", NULL},
		{"https://[fd00::5/", NULL},
		{"https://a b/", NULL},
		{"https://\xc3\xa4.example/", NULL},
		{"", NULL},
	};
	char host[XB_PEER_HOST_MAX], long_url[400] = "https://";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found = xb_peer_host(rows[i][0], host);

		if (found != (rows[i][1] != NULL) || (found && strcmp(host, rows[i][1]) != 0))
			fail_msg("%s: %s", rows[i][0], found ? host : "none");
	}
	memset(long_url + 8, 'a', 255);
	assert_true(xb_peer_host(long_url, host));
	memset(long_url + 8, 'a', 256);
	assert_false(xb_peer_host(long_url, host));
}

TEST(some_addresses_are_no_peers)
{
	static const struct {
		const char *text;
		bool ok;
	} rows[] = {
		{"0.0.0.0", false},   {"0.1.2.3", false}, {"224.0.0.1", false},
		{"240.0.0.1", false}, {"::", false},	  {"255.255.255.255", false},
		{"ff02::1", false},   {"10.0.0.1", true}, {"192.0.2.1", true},
		{"fd00::1", true},    {"::1", false},	  {"2001:db8::1", true},
		{"127.0.0.1", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xb_entry entry;

		assert_int_equal(
			xb_entry_parse(rows[i].text, strlen(rows[i].text), NULL, &entry, NULL), 0);
		if (xb_peer_address_ok(&entry) != rows[i].ok)
			fail_msg("%s", rows[i].text);
	}
}

/* --- the list --------------------------------------------------------------------------------- */

TEST(a_host_has_sixteen_addresses)
{
	struct xb_peer_list list = {0};
	char host[16];

	for (uint32_t i = 0; i < 100; i++)
		put(&list, "a", 0x0a000000 + i, NOW);
	assert_int_equal(list.count, XB_PEER_ADDRESSES);
	assert_int_equal(list.item[15].address.hi >> 32, 0x0a00000f);
	put(&list, "b", 0x0a000000, NOW);
	assert_int_equal(list.count, XB_PEER_ADDRESSES + 1);
	/* A newer one takes the place of the oldest, an older one none. */
	list.item[7].seen = NOW - 9;
	put(&list, "a", 0x0b000000, NOW - 10);
	assert_int_equal(list.item[7].address.hi >> 32, 0x0a000007);
	put(&list, "a", 0x0b000000, NOW);
	assert_int_equal(list.item[7].address.hi >> 32, 0x0b000000);
	/* The same again has the later time. */
	put(&list, "a", 0x0b000000, NOW - 5);
	assert_int_equal(list.item[7].seen, NOW);
	assert_int_equal(list.count, XB_PEER_ADDRESSES + 1);
	for (uint32_t i = 0; i < 2 * XB_PEERS_MAX; i++) {
		snprintf(host, sizeof(host), "h%u", i);
		put(&list, host, i, NOW);
	}
	assert_int_equal(list.count, XB_PEERS_MAX);
	xb_peers_free(&list);
}

/* --- the file --------------------------------------------------------------------------------- */

TEST_WITH(what_is_written_is_read, begin, end)
{
	struct xb_peer_list list = {0};
	char text[4096];
	struct stat about;

	assert_int_equal(xb_peers_read(directory, NOW, &list), -ENOENT);
	put(&list, "feeds.example", 0xc0000207, NOW - 5);
	put(&list, "fd00::5", 0, NOW - 5);
	list.item[1].address =
		(struct xb_entry){.hi = 0xfd00ULL << 48, .lo = 5, .kind = XB_NET6, .length = 128};
	assert_int_equal(xb_peers_write(directory, &list), 0);
	xb_peers_free(&list);
	assert_string_equal(read_all(text), "192.0.2.7 feeds.example 5|fd00::5 fd00::5 5|");
	assert_int_equal(stat(XB_PEER_FILE, &about), 0);
	assert_int_equal(about.st_mode & 07777 & ~0640, 0);
	assert_int_equal(xb_peers_write(directory, &list), 0);
	assert_string_equal(read_all(text), "");
}

TEST_WITH(wrong_lines_are_passed_by, begin, end)
{
	static const char *const lines[] = {
		"192.0.2.1",
		"192.0.2.1 a",
		"192.0.2.1 a ",
		"192.0.2.1 a x",
		"192.0.2.1 a 1800000000 b",
		"192.0.2.1  1800000000",
		" 192.0.2.1 a 1800000000",
		"192.0.2.0/24 a 1800000000",
		"0.0.0.0/0 a 1800000000",
		"0.0.0.0 a 1800000000",
		"224.0.0.1 a 1800000000",
		"a 192.0.2.1 1800000000",
		"192.0.2.1 a/b 1800000000",
		"192.0.2.1 \xc3\xa4 1800000000",
		"192.0.2.1 a\x1b 1800000000",
		"192.0.2.1 a -1",
		"192.0.2.1 a 0",
	};
	char text[4096], line[1024];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s\n\n192.0.2.9 z 1800000000\n", lines[i]);
		write_text(line);
		if (strcmp(read_all(text), "192.0.2.9 z 0|") != 0)
			fail_msg("'%s': %s", lines[i], text);
	}
	snprintf(line, sizeof(line), "192.0.2.1 %0255d 1800000000\n192.0.2.1 %0256d 1800000000", 1,
		 1);
	write_text(line);
	assert_int_equal(strlen(read_all(text)), strlen("192.0.2.1  0|") + 255);
	/* Cut in the middle of a line. */
	write_text("192.0.2.9 z 1800000000\n192.0.2.1 a 1800");
	assert_string_equal(read_all(text), "192.0.2.9 z 0|");
}

TEST_WITH(an_address_counts_for_a_day, begin, end)
{
	char text[4096], line[512];

	snprintf(line, sizeof(line), "192.0.2.1 a %d\n192.0.2.2 a %d\n192.0.2.3 a %d\n", NOW - DAY,
		 NOW - DAY - 1, NOW + 7 * DAY);
	write_text(line);
	assert_string_equal(read_all(text), "192.0.2.1 a 86400|192.0.2.3 a 0|");
}

TEST_WITH(too_much_is_not_taken, begin, end)
{
	struct xb_peer_list list = {0};
	FILE *file = fopen(XB_PEER_FILE, "w");

	assert_non_null(file);
	for (int i = 0; i < 5000; i++)
		fprintf(file, "10.0.%d.%d h%d %d\n", i / 250, i % 250 + 1, i, NOW);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(xb_peers_read(directory, NOW, &list), 0);
	assert_int_equal(list.count, XB_PEERS_MAX);
	xb_peers_free(&list);
	assert_int_equal(truncate(XB_PEER_FILE, 1 << 20), 0);
	assert_true(xb_peers_read(directory, NOW, &list) < 0);
	assert_non_null(strstr(xb_error_message(), "is not the file of bloomd"));
	xb_peers_free(&list);
}

/* Whatever stands under the name, a survey neither waits nor fails, and says that it knows nothing.
 */
TEST_WITH(another_kind_of_file_is_told, begin, end)
{
	static const char *const makings[] = {"ln -s other peers", "mkfifo peers", "mkdir peers",
					      "ln -s /nosuch peers"};
	struct xb_peer_list none = {0};
	char text[4096];

	assert_int_equal(system("echo 192.0.2.1 a 1800000000 >other"), 0);
	for (size_t i = 0; i < sizeof(makings) / sizeof(makings[0]); i++) {
		struct xb_lifelines found = {0};

		assert_int_equal(system(makings[i]), 0);
		*noticed = '\0';
		assert_int_equal(xb_peers_find(directory, &found), 0);
		assert_int_equal(found.count, 0);
		assert_int_equal(found.seen_count, 0);
		if (!strstr(noticed, "peers"))
			fail_msg("%s: '%s'", makings[i], noticed);
		xb_lifelines_free(&found);
		if (strcmp(makings[i], "mkdir peers") != 0)
			assert_int_equal(xb_peers_write(directory, &none), 0);
		assert_int_equal(system("rm -rf peers; grep -q 192.0.2.1 other"), 0);
	}
	*noticed = '\0';
	assert_int_equal(xb_peers_find(directory, &(struct xb_lifelines){0}), 0);
	assert_string_equal(noticed, "");
	assert_int_equal(xb_peers_write(directory, &none), 0);
	assert_string_equal(read_all(text), "");
}

TEST_WITH(a_survey_finds_peers, begin, end)
{
	struct xb_lifelines found = {0};
	char line[512];
	int now = (int)time(NULL);

	snprintf(line, sizeof(line),
		 "192.0.2.1 feeds.example %d\n192.0.2.1 b %d\nfd00::5 feeds.example %d\n", now, now,
		 now);
	write_text(line);
	assert_int_equal(xb_peers_find(directory, &found), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.item[0].kind, XB_LIFELINE_PEER);
	assert_int_equal(found.item[0].entry.length, 32);
	assert_string_equal(found.item[0].why, "bloomd asks feeds.example");
	assert_int_equal(found.item[1].entry.length, 128);
	assert_false(found.network);
	xb_lifelines_free(&found);
}

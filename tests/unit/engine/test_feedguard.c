/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lists from the network are refused. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/feedguard.h"
#include "lists/reader.h"
#include "support/cmocka.h"

static struct xb_listfile file;

static void read_text(const char *text)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	xb_listfile_free(&file);
	assert_int_equal(
		xb_listfile_read_as(fd, "list", &(struct xb_listfile_terms){.name = "list"}, &file),
		0);
	close(fd);
}

static int free_file(void **state)
{
	xb_listfile_free(&file);
	return 0;
}

static void assert_share(const char *text, bool ipv6, double addresses)
{
	double share;

	read_text(text);
	share = xb_feed_share(&file, ipv6) * (ipv6 ? ldexp(1, 125) : ldexp(1, 32));
	assert_true(fabs(share - addresses) <= addresses * 1e-9);
}

/* Each address once, whether hosts and prefixes lie in each other or not. */
TEST_WITH(shares_are_counted, NULL, free_file)
{
	assert_share("5.9.0.1\n", false, 1);
	assert_share("5.9.0.0/24\n5.9.0.1\n5.9.0.128/25\n5.9.1.0\n", false, 257);
	assert_share("5.0.0.0/8\n5.9.0.0/16\n5.255.255.255\n6.0.0.0\n", false, (1 << 24) + 1);
	assert_share("4.255.255.255\n5.0.0.0/9\n5.128.0.0/9\n5.64.0.0/10\n", false, (1 << 24) + 1);
	assert_share("255.255.255.255\n0.0.0.0/1\n", false, 2147483649.0);
	assert_share("5.9.0.1\n", true, 0);
	assert_share("2600::/16\n2600:1::/32\n2601::/32\n", true, ldexp(1, 112) + ldexp(1, 96));
	assert_share("example.com\n", false, 0);
}

static bool refuses(const struct xb_feed_guard *guard, const char *text, enum xb_feed_why why)
{
	struct xb_feed_refusal refusal = {0};
	bool good;

	read_text(text);
	good = xb_feed_guard_check(guard, &file, &refusal);
	assert_int_equal(refusal.why, good ? 0 : why);
	return !good;
}

TEST_WITH(too_many_or_too_wide, NULL, free_file)
{
	const struct xb_feed_guard two = {.most_entries = 2}, share = {.share = 0.01}, none = {0};

	assert_false(refuses(&two, "5.9.0.1\n5.9.0.2\n", XB_FEED_MANY_ENTRIES));
	assert_true(refuses(&two, "5.9.0.1\n5.9.0.2\n5.9.0.3\n", XB_FEED_MANY_ENTRIES));
	assert_false(refuses(&share, "16.0.0.0/8\n32.0.0.0/8\n", XB_FEED_SHARE));
	assert_true(refuses(&share, "16.0.0.0/8\n32.0.0.0/8\n64.0.0.0/8\n", XB_FEED_SHARE));
	assert_true(refuses(&share, "2a00::/8\n", XB_FEED_SHARE));
	assert_false(refuses(&none, "0.0.0.0/0\n::/0\n", XB_FEED_SHARE));
}

static bool lists(const char *canary, const char *text)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_feed_guard guard = {.canaries = &entry, .canary_count = 1};

	assert_int_equal(xb_entry_parse(canary, strlen(canary), form, &entry, NULL), 0);
	return refuses(&guard, text, XB_FEED_CANARY);
}

TEST_WITH(canaries_must_not_be_listed, NULL, free_file)
{
	assert_true(lists("8.8.8.8", "8.8.8.8\n"));
	assert_true(lists("8.8.8.8", "8.0.0.0/9\n"));
	assert_true(lists("8.8.8.0/24", "8.8.8.8\n"));
	assert_false(lists("8.8.8.8", "8.8.8.9\n8.8.4.0/24\n::808:808\n"));
	assert_true(lists("2001:db8::1", "2001:db8::/32\n"));
	assert_true(lists("github.com", "github.com\n"));
	assert_true(lists("github.com", "example.org\ncom\n"));
	assert_false(lists("github.com", "malware.github.com\nnotgithub.com\n"));
	/* In a hosts file, and in a format in which a name stands for itself alone. */
	assert_true(lists("github.com", "0.0.0.0 github.com\n0.0.0.0 example.org\n"));
	assert_false(lists("github.com", "0.0.0.0 www.github.com\n0.0.0.0 example.org\n"));
	/* What a list exempts it does not list. */
	assert_false(lists("github.com", "||example.org^\n@@||github.com^\n"));
}

static bool is_html(const char *text)
{
	return xb_feed_is_html(text, strlen(text));
}

TEST(pages_are_known)
{
	assert_true(is_html("<!DOCTYPE html>"));
	assert_true(is_html("\xef\xbb\xbf\r\n\t <HTML lang=en>"));
	assert_true(is_html("<!-- a comment --><html>"));
	assert_true(is_html("<?xml version=\"1.0\"?>"));
	assert_false(is_html(""));
	assert_false(is_html("<"));
	assert_false(is_html("# <html>\n5.9.0.1\n"));
	assert_false(is_html("5.9.0.1\n"));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that a test reads from a file, as text. */
#ifndef XB_TESTS_LISTFILE_H
#define XB_TESTS_LISTFILE_H

#include <limits.h>
#include <unistd.h>

#include "base/error.h"
#include "lists/reader.h"
#include "support/cmocka.h"

/* As messages have them. */
#define FORMAT_NAMES                                                                               \
	"plain, netset, spamhaus, spamhaus-json, ipsum, ipset, hosts, adblock, dnsmasq, unbound, " \
	"rpz, domains, ruleset, regex, urls, smartdns, ip4set, ip4trie, ip6trie, dnset, "          \
	"iptables, nft, deny, geo, p2p, ipfilter, words, csv, semicolons, tsv, pipes, table, "     \
	"json, extract, crowdsec, mikrotik, pf, csf, firewalld, mmdb, delegated, places"

/* The list a test reads, in a directory for all of them. */
static char directory[] = "/tmp/xdp-bloom-listfile-XXXXXX";
static char path[sizeof(directory) + 16];

static inline int make_directory(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/list", directory);
	return 0;
}

static inline int remove_directory(void **state)
{
	return rmdir(directory);
}

static inline int remove_list(void **state)
{
	unlink(path);
	return 0;
}

static inline FILE *open_list(void)
{
	FILE *list = fopen(path, "w");

	assert_non_null(list);
	return list;
}

static inline void write_list(const void *bytes, size_t size)
{
	FILE *list = open_list();

	assert_int_equal(fwrite(bytes, 1, size, list), size);
	assert_int_equal(fclose(list), 0);
}

static inline void append(char *out, size_t room, const char *format, ...)
{
	size_t used = strlen(out);
	va_list arguments;

	va_start(arguments, format);
	assert_true((size_t)vsnprintf(out + used, room - used, format, arguments) < room - used);
	va_end(arguments);
}

static inline void describe_unknown(const struct xb_listfile *file, char *out, size_t room)
{
	append(out, room, "; %llu unknown (", (unsigned long long)file->unknown);
	for (size_t i = 0; i < file->unknown && i < XB_UNKNOWN_KEPT; i++)
		append(out, room, "%s%llu: %s", i ? ", " : "",
		       (unsigned long long)file->first_unknown[i].line,
		       file->first_unknown[i].text);
	append(out, room, ")");
}

/* But for the one of host bits, which comes last and is counted. */
static inline void describe_notes(const struct xb_listfile *file, char *out, size_t room)
{
	for (size_t i = 0; i + !!file->host_bits < file->noted; i++)
		append(out, room, "; note %llu: %s", (unsigned long long)file->notes[i].line,
		       file->notes[i].text);
}

/* "FORMAT: [allow ]ENTRY[ timeout N][ (COMMENT)], ...", and what else there was to count. */
static inline void describe(const struct xb_listfile *file, char *out, size_t room)
{
	snprintf(out, room, "%s:", file->format);
	for (size_t i = 0; i < file->count; i++) {
		const struct xb_item *item = &file->items[i];
		const char *comment = xb_listfile_comment(file, item);
		bool excepts = item->entry.kind == XB_EXCEPT_NAME;
		char text[XB_ENTRY_TEXT];

		append(out, room, "%s%s%s", i ? ", " : " ",
		       excepts || xb_entry_is_allow(&item->entry) ? "allow " : "",
		       xb_entry_format(&item->entry, text) + excepts);
		if (item->timeout)
			append(out, room, " timeout %u", item->timeout);
		if (*comment)
			append(out, room, " (%s)", comment);
	}
	if (file->repeats)
		append(out, room, "; %llu repeats", (unsigned long long)file->repeats);
	if (file->host_bits)
		append(out, room, "; %llu cut", (unsigned long long)file->host_bits);
	if (file->unknown)
		describe_unknown(file, out, room);
	if (file->set_aside)
		append(out, room, "; %zu set aside", file->set_aside);
	describe_notes(file, out, room);
}

static inline void assert_empty(const struct xb_listfile *file)
{
	static const struct xb_listfile empty;

	assert_memory_equal(file, &empty, sizeof(empty));
}

static inline void check_refused_as(const struct xb_listfile_terms *terms, const char *message)
{
	char expected[2048];
	struct xb_listfile file;

	snprintf(expected, sizeof(expected), "%s%s", path, message);
	xb_error_clear();
	memset(&file, 0x5a, sizeof(file));
	assert_int_equal(xb_listfile_read_as(-1, path, terms, &file),
			 strcmp(message, ": no entries") ? -EINVAL : -ENODATA);
	assert_string_equal(xb_error_message(), expected);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_empty(&file);
}

static inline void check_refused(const char *told, const char *message)
{
	check_refused_as(&(struct xb_listfile_terms){.format = told}, message);
}

static inline void assert_described(const struct xb_listfile *file, const char *expected)
{
	char found[2048];

	describe(file, found, sizeof(found));
	assert_string_equal(found, expected);
}

/* A published list, in this format and of so many entries; without the folder, the test is skipped.
 */
static inline void read_published(const char *name, const char *format, size_t count,
				  struct xb_listfile *file)
{
	const char *shared = getenv("XB_SHARED") ?: "../shared";
	char at[PATH_MAX];

	snprintf(at, sizeof(at), "%s/data", shared);
	if (access(at, R_OK)) {
		print_message("no real lists in %s (set XB_SHARED)\n", at);
		skip();
	}
	snprintf(at, sizeof(at), "%s/data/%s", shared, name);
	if (xb_listfile_read(at, NULL, file))
		fail_msg("%s", xb_error_message());
	assert_string_equal(file->format, format);
	assert_int_equal(file->count, count);
}

#endif

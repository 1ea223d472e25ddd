/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/addresstext.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lists/line.h"

const char *xb_ipv4_read(const char *text, struct xb_entry *entry)
{
	uint32_t address = 0;

	for (int octets = 0; octets < 4; octets++) {
		uint32_t octet = 0;
		const char *start;

		if (octets && *text++ != '.')
			return NULL;
		for (start = text; text < start + 4 && *text >= '0' && *text <= '9'; text++)
			octet = octet * 10 + (uint32_t)(*text - '0');
		if (text == start || octet > 255 || (*start == '0' && text > start + 1))
			return NULL;
		address = address << 8 | octet;
	}
	*entry = (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	return text;
}

const char *xb_ipv4_read_padded(const char *text, struct xb_entry *entry)
{
	uint32_t address = 0;

	for (int octets = 0; octets < 4; octets++) {
		uint32_t octet = 0;
		size_t digits;

		if (octets && *text++ != '.')
			return NULL;
		digits = strspn(text, XB_DIGITS);
		if (!digits || digits > 3)
			return NULL;
		for (size_t i = 0; i < digits; i++)
			octet = octet * 10 + (uint32_t)(*text++ - '0');
		if (octet > 255)
			return NULL;
		address = address << 8 | octet;
	}
	*entry = (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	return text;
}

int xb_addresses_read(struct xb_listfile *file, const char *text, struct xb_entry *entry)
{
	const char *end = xb_ipv4_read(text, entry);

	return end && !*end ? 0 : xb_line_address(file, text, entry);
}

/* An address alone, no prefix. */
static int read_single(struct xb_listfile *file, const char *text, struct xb_entry *entry)
{
	if (strchr(text, '/'))
		return xb_input_error("'%s' is not a single address", XB_SHOW(text));
	return xb_addresses_read(file, text, entry);
}

/* --- ranges --- */

static int read_ends(struct xb_listfile *file, const char *first, const char *last,
		     struct xb_span *span)
{
	struct xb_entry from = {0}, to = {0};
	int error = read_single(file, first, &from);

	if (!error)
		error = read_single(file, last, &to);
	return error ? error : xb_span_between(&from, &to, span);
}

/* A text with a dash, which is cut up. */
static int read_range(struct xb_listfile *file, char *text, char *dash, struct xb_span *span)
{
	*dash = '\0';
	return read_ends(file, xb_line_trim(text), xb_line_trim(dash + 1), span);
}

int xb_addresses_span(struct xb_listfile *file, const char *text, struct xb_span *span)
{
	char copy[2 * XB_ENTRY_TEXT];
	struct xb_entry entry;
	size_t size = strlen(text);
	char *dash;
	int error;

	if (size >= sizeof(copy))
		return xb_input_error("'%s' is not an address, prefix or range", XB_SHOW(text));
	memcpy(copy, text, size + 1);
	dash = strchr(copy, '-');
	if (dash)
		return read_range(file, copy, dash, span);
	error = xb_line_address(file, text, &entry);
	if (!error)
		*span = xb_span_of(&entry);
	return error;
}

int xb_addresses_keep_between(struct xb_listfile *file, const struct xb_entry *first,
			      const struct xb_entry *last, const struct xb_item *like,
			      const char *comment)
{
	struct xb_span span;
	int error = xb_span_between(first, last, &span);

	return error ? error : xb_span_keep(file, &span, like, comment);
}

/* --- netmasks --- */

/* Of zeros behind ones; -1: it is something else. */
static int length_of(uint32_t mask)
{
	uint32_t rest = ~mask;

	return (rest & (rest + 1)) ? -1 : rest ? __builtin_clz(rest) : 32;
}

int xb_addresses_mask_length(const char *text)
{
	struct xb_entry mask;
	const char *end = xb_ipv4_read(text, &mask);

	return end && !*end ? length_of(xb_entry_ipv4(&mask)) : -1;
}

/* Of zeros in front of ones, which are the bits that do not count. */
static int wildcard_length(const char *text)
{
	struct xb_entry mask;
	const char *end = xb_ipv4_read(text, &mask);

	return end && !*end ? length_of(~xb_entry_ipv4(&mask)) : -1;
}

static int keep_masked(struct xb_listfile *file, const char *address, int length, const char *mask,
		       struct xb_item *like, const char *comment)
{
	char prefix[XB_ENTRY_TEXT];
	int error;

	if (length < 0)
		return xb_input_error("'%s' is not a netmask", XB_SHOW(mask));
	if (strchr(address, ':') || strchr(address, '/') ||
	    snprintf(prefix, sizeof(prefix), "%s/%d", address, length) >= (int)sizeof(prefix))
		return xb_input_error("'%s' is not an IPv4 address", XB_SHOW(address));
	error = xb_line_address(file, prefix, &like->entry);
	return error ? error : xb_line_keep_with_comment(file, like, comment);
}

/* --- one text --- */

static bool is_port(const char *text)
{
	size_t digits = strspn(text, XB_DIGITS);

	return digits && digits <= 5 && !text[digits] && strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* What the address is without brackets and port. */
static char *cut_port(char *text)
{
	char *bar = strchr(text, '|');
	char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');

	if (bar && is_port(bar + 1)) {
		*bar = '\0';
		return text;
	}
	if (*text == '[' && end && memchr(text, ':', (size_t)(end - text)) &&
	    (!end[1] || (end[1] == ':' && is_port(end + 2)))) {
		*end = '\0';
		return text + 1;
	}
	if (*text != '[' && end && strspn(text, XB_DIGITS ".") == (size_t)(end - text) &&
	    is_port(end + 1))
		*end = '\0';
	return text;
}

static char *cut_scope(char *text)
{
	static const char *const scopes[] = {"Ip:", "Range:"};

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (!strncasecmp(text, scopes[i], strlen(scopes[i])))
			return text + strlen(scopes[i]);
	return text;
}

int xb_addresses_keep(struct xb_listfile *file, char *text, struct xb_item *like,
		      const char *comment)
{
	struct xb_span span;
	char *mark;
	int error;

	text = cut_scope(text);
	mark = strchr(text, '-');
	if (mark) {
		error = read_range(file, text, mark, &span);
		return error ? error : xb_span_keep(file, &span, like, comment);
	}
	mark = strchr(text, '/');
	if (mark && strchr(mark, '.')) {
		*mark = '\0';
		return keep_masked(file, text, xb_addresses_mask_length(mark + 1), mark + 1, like,
				   comment);
	}
	error = xb_addresses_read(file, cut_port(text), &like->entry);
	return error ? error : xb_line_keep_with_comment(file, like, comment);
}

bool xb_addresses_can_keep(const char *text)
{
	struct xb_listfile nowhere = {0};
	struct xb_item item = {0};
	char copy[XB_ENTRY_TEXT];
	size_t size = strlen(text);
	int error;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size + 1);
	error = xb_addresses_keep(&nowhere, copy, &item, "");
	if (error)
		xb_error_clear();
	xb_listfile_free(&nowhere);
	return !error;
}

/* --- two texts --- */

const char xb_pair_marks[][XB_PAIR_MARK] = {
	[XB_PAIR_NONE] = "", [XB_PAIR_TO] = "..", [XB_PAIR_MASK] = "/", [XB_PAIR_COUNT] = "+"};

enum xb_pair xb_pair_find(const char *text)
{
	for (int pair = XB_PAIR_TO; pair <= XB_PAIR_COUNT; pair++)
		if (!strncmp(text, xb_pair_marks[pair], strlen(xb_pair_marks[pair])))
			return (enum xb_pair)pair;
	return XB_PAIR_NONE;
}

static int keep_to(struct xb_listfile *file, const char *first, const char *last,
		   const struct xb_item *like)
{
	struct xb_span span;
	int error = read_ends(file, first, last, &span);

	return error ? error : xb_span_keep(file, &span, like, "");
}

static int keep_count(struct xb_listfile *file, const char *first, const char *count,
		      const struct xb_item *like)
{
	struct xb_entry from = {0};
	struct xb_span span;
	uint64_t many;
	int error;

	if (!xb_number_parse(count, 1, UINT64_MAX, &many))
		return xb_input_error("'%s' is not a number of addresses", XB_SHOW(count));
	error = read_single(file, first, &from);
	if (error)
		return error;
	if (!xb_entry_is_ipv4(&from))
		return xb_input_error("'%s': only IPv4 addresses are counted", XB_SHOW(first));
	if (many - 1 > UINT32_MAX - xb_entry_ipv4(&from))
		return xb_input_error("%s addresses from '%s' on go beyond the last there is",
				      XB_SHOW(count), XB_SHOW(first));
	span = xb_span_of(&from);
	span.last += (xb_address)(many - 1) << 96;
	return xb_span_keep(file, &span, like, "");
}

/* What is a netmask as well as a wildcard mask, all zeros or all ones, is taken as what says less:
 * the address alone. */
static int keep_mask(struct xb_listfile *file, const char *address, const char *mask,
		     struct xb_item *like)
{
	int length = xb_addresses_mask_length(mask), wildcard = wildcard_length(mask), error;
	char prefix[XB_ENTRY_TEXT];

	if (strchr(mask, '.'))
		return keep_masked(file, address, length > wildcard ? length : wildcard, mask, like,
				   "");
	mask += *mask == '/';
	if (!*mask || mask[strspn(mask, XB_DIGITS)] || strchr(address, '/') ||
	    snprintf(prefix, sizeof(prefix), "%s/%s", address, mask) >= (int)sizeof(prefix))
		return xb_input_error("'%s' and '%s' are not an address and a prefix length",
				      XB_SHOW(address), XB_SHOW(mask));
	error = xb_line_address(file, prefix, &like->entry);
	return error ? error : xb_line_keep(file, like);
}

int xb_pair_keep(struct xb_listfile *file, enum xb_pair pair, char *first, const char *second)
{
	struct xb_item item = {0};

	switch (pair) {
	case XB_PAIR_NONE:
		return xb_addresses_keep(file, first, &item, "");
	case XB_PAIR_TO:
		return keep_to(file, first, second, &item);
	case XB_PAIR_MASK:
		return keep_mask(file, first, second, &item);
	case XB_PAIR_COUNT:
		return keep_count(file, first, second, &item);
	}
	return -EINVAL;
}

/* An address alone, without a message. */
static bool is_single(const char *text, struct xb_entry *entry)
{
	const char *end = xb_ipv4_read(text, entry);

	if (end || !strchr(text, ':'))
		return end && !*end;
	end = strchr(text, '/');
	if (!end && !xb_entry_parse(text, strlen(text), NULL, entry, NULL))
		return true;
	xb_error_clear();
	return false;
}

/* Fewer bits look like a number of something else. */
static bool is_length(const struct xb_entry *address, const char *text, uint64_t *length)
{
	bool ipv4 = xb_entry_is_ipv4(address);
	struct xb_span span = xb_span_of(address);
	xb_address rest;

	text += *text == '/';
	if (!xb_number_parse(text, ipv4 ? 8 : 16, ipv4 ? 32 : 128, length))
		return false;
	rest = *length == 128 ? 0 : ~(xb_address)0 >> *length;
	return !(span.first & rest);
}

static bool is_count(const struct xb_entry *address, const char *text)
{
	uint64_t count;

	return xb_entry_is_ipv4(address) && xb_number_parse(text, 256, UINT32_MAX, &count) &&
	       !(count % 256) && !(xb_entry_ipv4(address) % 256);
}

struct xb_pair_guess xb_pair_guess(const char *first, const char *second)
{
	struct xb_entry from, to;
	struct xb_span span;
	uint64_t length;

	if (!is_single(first, &from))
		return (struct xb_pair_guess){0};
	if (xb_entry_is_ipv4(&from) && xb_addresses_mask_length(second) >= 8)
		return (struct xb_pair_guess){"netmask", XB_PAIR_MASK,
					      xb_addresses_mask_length(second) < 32, true};
	if (xb_entry_is_ipv4(&from) && wildcard_length(second) >= 8)
		return (struct xb_pair_guess){"wildcard mask", XB_PAIR_MASK,
					      wildcard_length(second) < 32, true};
	if (is_length(&from, second, &length))
		return (struct xb_pair_guess){"prefix length", XB_PAIR_MASK, length < from.length,
					      false};
	if (is_count(&from, second))
		return (struct xb_pair_guess){"number of addresses", XB_PAIR_COUNT, true, false};
	if (is_single(second, &to) && !xb_span_between(&from, &to, &span))
		return (struct xb_pair_guess){"last address", XB_PAIR_TO,
					      from.hi != to.hi || from.lo != to.lo, false};
	xb_error_clear();
	return (struct xb_pair_guess){0};
}

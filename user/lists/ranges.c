/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of ranges that peer-to-peer programs read. Their numbers may have zeros in front, and
 * are decimal all the same. */
#include <stdio.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

/* "A-B" with or without blanks, and perhaps what `behind` begins with. Returns the end; NULL: it is
 * something else. */
static const char *read_range(const char *text, struct xb_entry *first, struct xb_entry *last)
{
	text = xb_ipv4_read_padded(text, first);
	if (!text)
		return NULL;
	text += strspn(text, XB_BLANKS);
	if (*text != '-')
		return NULL;
	text++;
	return xb_ipv4_read_padded(text + strspn(text, XB_BLANKS), last);
}

/* p2p, of PeerGuardian: a name, a colon and a range. The name may have colons. */
static const char *find_range(const char *line, struct xb_entry *first, struct xb_entry *last)
{
	const char *colon = strrchr(line, ':'),
		   *end = colon ? read_range(colon + 1 + strspn(colon + 1, XB_BLANKS), first, last)
				: NULL;

	return end && !*end ? colon : NULL;
}

static bool detect_p2p(const char *line)
{
	struct xb_entry first, last;

	return find_range(line, &first, &last);
}

static int parse_p2p(struct xb_reading *reading, char *line)
{
	struct xb_entry first = {0}, last = {0};
	const char *colon = find_range(line, &first, &last);
	struct xb_item item = {0};

	if (!colon)
		return xb_input_error("'%s' is not a name, a colon and a range", XB_SHOW(line));
	line[colon - line] = '\0';
	return xb_addresses_keep_between(reading->file, &first, &last, &item, xb_line_trim(line));
}

const struct xb_list_format xb_p2p_format = {"p2p", detect_p2p, parse_p2p, .comments = "#",
					     .slashes = true};

/*
 * ipfilter, of eMule (ipfilter.dat): a range, a comma, an access level, a comma, and a comment.
 * eMule blocks levels below 128; the default, without a level, is to block.
 */

#define LEVEL_BLOCKED 127

struct rule {
	struct xb_entry first, last;
	uint32_t level;
	const char *comment;
};

static bool read_rule(const char *line, struct rule *rule)
{
	const char *end = read_range(line, &rule->first, &rule->last), *digits;
	size_t count;

	*rule = (struct rule){.first = rule->first, .last = rule->last, .comment = ""};
	if (!end)
		return false;
	end += strspn(end, XB_BLANKS);
	if (!*end)
		return true;
	digits = end + 1 + strspn(end + 1, XB_BLANKS);
	count = strspn(digits, XB_DIGITS);
	if (*end != ',' || !count || count > 3)
		return false;
	rule->level = (uint32_t)strtoul(digits, NULL, 10);
	end = digits + count + strspn(digits + count, XB_BLANKS);
	if (*end && *end != ',')
		return false;
	rule->comment = *end ? end + 1 + strspn(end + 1, XB_BLANKS) : end;
	return true;
}

/* As eMule writes it, with zeros in front of its numbers: else it may be a plain range, or columns.
 */
static bool detect_ipfilter(const char *line)
{
	const char *comma = strchr(line, ',');
	struct rule rule = {0};
	struct xb_entry plain;

	if (!read_rule(line, &rule))
		return false;
	if (!xb_ipv4_read(line, &plain))
		return true;
	return comma && strchr(XB_BLANKS, comma[-1]) &&
	       strspn(comma + 1 + strspn(comma + 1, XB_BLANKS), XB_DIGITS) == 3;
}

static int parse_ipfilter(struct xb_reading *reading, char *line)
{
	struct rule rule = {0};
	struct xb_item item = {0};

	if (!read_rule(line, &rule))
		return xb_input_error("'%s' is not a range, a level and a comment", XB_SHOW(line));
	if (rule.level > LEVEL_BLOCKED)
		return 0;
	return xb_addresses_keep_between(reading->file, &rule.first, &rule.last, &item,
					 rule.comment);
}

const struct xb_list_format xb_ipfilter_format = {"ipfilter", detect_ipfilter, parse_ipfilter,
						  .comments = "#;", .slashes = true};

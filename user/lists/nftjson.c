/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft, as JSON: what `nft -j` writes. Of a file with chains its rules decide (nftrules.c); of
 * others one set is read. */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "lists/line.h"
#include "lists/nft.h"

/* --- values --- */

static int read_prefix(struct xb_listfile *file, const json_t *prefix, struct xb_span *span,
		       bool *mapped)
{
	const char *address = json_string_value(json_object_get(prefix, "addr"));
	const json_t *length = json_object_get(prefix, "len");
	char text[XB_ENTRY_TEXT];

	if (!address || !json_is_integer(length) || strpbrk(address, "/-") ||
	    snprintf(text, sizeof(text), "%s/%lld", address,
		     (long long)json_integer_value(length)) >= (int)sizeof(text))
		return xb_input_error("it is no prefix of an address and a length");
	return xb_nft_address(file, text, span, mapped);
}

static int read_range(struct xb_listfile *file, const json_t *range, struct xb_span *span,
		      bool *mapped)
{
	const char *first = json_string_value(json_array_get(range, 0)),
		   *last = json_string_value(json_array_get(range, 1));
	char text[2 * XB_ENTRY_TEXT];

	if (!first || !last || json_array_size(range) != 2 || strpbrk(first, "/-") ||
	    strpbrk(last, "/-") ||
	    snprintf(text, sizeof(text), "%s-%s", first, last) >= (int)sizeof(text))
		return xb_input_error("it is no range from one address to another");
	return xb_nft_address(file, text, span, mapped);
}

int xb_nft_value(struct xb_listfile *file, const json_t *value, struct xb_span *span, bool *mapped)
{
	const json_t *prefix = json_object_get(value, "prefix"),
		     *range = json_object_get(value, "range");

	*mapped = false;
	if (prefix)
		return read_prefix(file, prefix, span, mapped);
	if (range)
		return read_range(file, range, span, mapped);
	if (!json_is_string(value))
		return xb_input_error("it is no text with an address");
	return xb_nft_address(file, json_string_value(value), span, mapped);
}

uint32_t xb_nft_seconds(const json_t *value)
{
	json_int_t seconds = json_integer_value(value);

	if (!value || seconds > UINT32_MAX)
		return 0;
	/* What has not ended yet must not stay for ever. */
	return seconds < 1 ? 1 : (uint32_t)seconds;
}

static bool is_known_of_element(const char *key)
{
	static const char *const keys[] = {"val", "timeout", "expires", "comment", "counter"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

struct xb_nft_element xb_nft_unwrap(const json_t *element)
{
	const json_t *wrapped = json_object_get(element, "elem"), *part,
		     *left = json_object_get(wrapped, "expires")
				     ?: json_object_get(wrapped, "timeout");
	struct xb_nft_element known = {.value = json_object_get(wrapped, "val"), .comment = ""};
	const char *key;

	if (!known.value) {
		known.value = element;
		return known;
	}
	known.comment = json_string_value(json_object_get(wrapped, "comment")) ?: "";
	known.timeout = xb_nft_seconds(left);
	known.timed = left;
	json_object_foreach((json_t *)(uintptr_t)wrapped, key, part)
	{
		known.conditional |= !is_known_of_element(key);
	}
	return known;
}

/* --- objects --- */

int xb_nft_refuse(struct xb_reading *reading, const char *what, const char *name)
{
	reading->hopeless = true;
	return xb_input_error("%s '%s'; `nft -j list ruleset` writes all that nft has loaded", what,
			      XB_SHOW(name));
}

int xb_nft_for_each(struct xb_reading *reading, const json_t *objects, void *context,
		    int (*take)(void *context, const char *kind, const json_t *object))
{
	const json_t *wrapped;
	size_t index;
	int error = 0;

	json_array_foreach(objects, index, wrapped)
	{
		void *at = json_object_iter((json_t *)(uintptr_t)wrapped);

		if (!at || json_object_size(wrapped) != 1)
			return xb_nft_refuse(reading, "not an object of a ruleset:", "");
		error = take(context, json_object_iter_key(at), json_object_iter_value(at));
		if (error)
			return error;
	}
	return 0;
}

/* A document that is read. */
struct ruleset {
	struct xb_reading *reading;
	bool has_rules;
	struct xb_nft_chosen chosen;
};

/* Commands, for one, are no objects. */
static int look_at_object(void *context, const char *kind, const json_t *object)
{
	static const char *const kinds[] = {"metainfo",	  "table",	    "set",     "map",
					    "counter",	  "quota",	    "limit",   "ct helper",
					    "ct timeout", "ct expectation", "secmark", "synproxy",
					    "flowtable"};
	struct ruleset *ruleset = context;

	(void)object;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i]))
			return 0;
	ruleset->has_rules = true;
	return !strcmp(kind, "chain") || !strcmp(kind, "rule")
		       ? 0
		       : xb_nft_refuse(ruleset->reading, "not an object of a ruleset:", kind);
}

/* --- sets without rules --- */

/* "ipv4_addr", or {"typeof": {"payload": {"protocol": "ip", "field": "saddr"}}} */
static bool has_sources(const json_t *set)
{
	const json_t *type = json_object_get(set, "type"),
		     *payload = json_object_get(json_object_get(type, "typeof"), "payload");
	const char *protocol = xb_nft_text(payload, "protocol");

	if (json_is_string(type))
		return xb_nft_is(type, "ipv4_addr") || xb_nft_is(type, "ipv6_addr");
	return json_object_size(payload) == 2 && !strcmp(xb_nft_text(payload, "field"), "saddr") &&
	       (!strcmp(protocol, "ip") || !strcmp(protocol, "ip6"));
}

static int keep_element(struct ruleset *ruleset, const json_t *set, const json_t *json)
{
	struct xb_nft_element element = xb_nft_unwrap(json);
	struct xb_listfile *file = ruleset->reading->file;
	struct xb_item item = {.timeout = element.timeout};
	struct xb_span span;
	bool mapped;
	int error = xb_nft_value(file, element.value, &span, &mapped);

	if (error)
		return xb_line_leave_out(ruleset->reading, file->count, error);
	if (!element.timed)
		item.timeout = xb_nft_seconds(json_object_get(set, "timeout"));
	if (mapped || element.conditional)
		return xb_line_unknown(file, file->lines, "'%s' %s",
				       XB_SHOW(json_string_value(element.value) ?: "a range"),
				       mapped ? "is the source of no packet" : "has a condition");
	return xb_span_keep(file, &span, &item, element.comment);
}

static int keep_set(void *context, const char *kind, const json_t *set)
{
	struct ruleset *ruleset = context;
	const json_t *elements = json_object_get(set, "elem"), *element;
	char path[XB_NFT_PATH];
	bool counts = false;
	size_t index;
	int error = 0;

	snprintf(path, sizeof(path), "%s %s %s", xb_nft_text(set, "family"),
		 xb_nft_text(set, "table"), xb_nft_text(set, "name"));
	if ((strcmp(kind, "set") != 0 && strcmp(kind, "map") != 0) || !json_array_size(elements))
		return 0;
	if (!has_sources(set) || strcmp(kind, "set") != 0)
		return xb_line_unknown(ruleset->reading->file, ruleset->reading->file->lines,
				       "the elements of '%s' are not sources alone", XB_SHOW(path));
	error = xb_nft_counts(ruleset->reading, &ruleset->chosen, path, &counts);
	json_array_foreach(elements, index, element)
	{
		if (error || !counts)
			break;
		error = keep_element(ruleset, set, element);
	}
	return error;
}

/* --- documents --- */

bool xb_nft_is_ruleset(const json_t *root)
{
	return json_is_array(json_object_get(root, "nftables"));
}

int xb_nft_take(struct xb_reading *reading, const json_t *root)
{
	const json_t *objects = json_object_get(root, "nftables");
	struct ruleset ruleset = {.reading = reading};
	int error;

	reading->format = &xb_nft_format;
	error = xb_nft_for_each(reading, objects, &ruleset, look_at_object);
	if (error)
		return error;
	return ruleset.has_rules ? xb_nft_judge(reading, objects)
				 : xb_nft_for_each(reading, objects, &ruleset, keep_set);
}

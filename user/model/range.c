/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/range.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

struct xb_span xb_span_of(const struct xb_entry *entry)
{
	xb_address first = (xb_address)entry->hi << 64 | entry->lo;

	return (struct xb_span){first, first | xb_address_behind(entry->length),
				xb_entry_is_ipv6(entry)};
}

int xb_span_between(const struct xb_entry *first, const struct xb_entry *last, struct xb_span *span)
{
	*span = xb_span_of(first);
	span->last = xb_span_of(last).last;
	if (xb_entry_is_ipv6(first) != xb_entry_is_ipv6(last))
		return xb_input_error("a range from IPv4 to IPv6, or the other way round");
	return span->first <= span->last ? 0 : xb_input_error("the range ends before it begins");
}

static bool parse_address(const char *text, size_t size, struct xb_entry *address)
{
	bool right = !memchr(text, '/', size) && !xb_entry_parse(text, size, NULL, address, NULL);

	if (!right)
		xb_error_clear();
	return right;
}

int xb_span_parse(const char *text, size_t size, struct xb_span *span)
{
	const char *dash = memchr(text, '-', size);
	size_t before = dash ? (size_t)(dash - text) : 0;
	struct xb_entry first, last;

	if (!dash || !parse_address(text, before, &first) ||
	    !parse_address(dash + 1, size - before - 1, &last))
		return -ENOENT;
	return xb_span_between(&first, &last, span);
}

bool xb_span_next(struct xb_span *span, struct xb_entry *prefix)
{
	uint8_t length = span->ipv6 ? 128 : 32;
	xb_address last;

	while (length && !(span->first & xb_address_behind(length - 1)) &&
	       span->last - span->first >= xb_address_behind(length - 1))
		length--;
	*prefix = (struct xb_entry){.hi = (uint64_t)(span->first >> 64),
				    .lo = (uint64_t)span->first,
				    .kind = span->ipv6	  ? XB_NET6
					    : length > 24 ? XB_HOST4
							  : XB_PREFIX4,
				    .length = length};
	last = span->first | xb_address_behind(length);
	span->first = last + 1;
	return last < span->last;
}

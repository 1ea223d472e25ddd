/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/feedguard.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Walks the entries of one kind, which are in order: what begins below `end` is counted already. */
struct span {
	size_t at;
	uint8_t kind;
};

static bool peek(const struct xb_listfile *file, struct span *span, struct xb_entry *entry)
{
	for (; span->at < file->count; span->at++) {
		*entry = xb_listfile_at(file, span->at).entry;
		if (entry->kind == span->kind)
			return true;
	}
	return false;
}

/* Addresses of an entry as numbers of its first 64 bits: what is longer counts as nothing there. */
static double width(const struct xb_entry *entry)
{
	return ldexp(1, 64 - entry->length);
}

/* How much of the numbers of 64 bits the entries of two kinds cover together. */
static double cover(const struct xb_listfile *file, uint8_t kind, uint8_t other)
{
	struct span one = {.kind = kind}, two = {.kind = other};
	double covered = 0, end = 0;

	for (;;) {
		struct xb_entry first, second;
		bool has_first = peek(file, &one, &first), has_second = peek(file, &two, &second);
		bool is_second = has_second && (!has_first || second.hi < first.hi);
		const struct xb_entry *next = is_second ? &second : &first;
		double from, to;

		if (!has_first && !has_second)
			return covered;
		if (is_second)
			two.at++;
		else
			one.at++;
		from = fmax((double)next->hi, end);
		to = (double)next->hi + width(next);
		if (to > from) {
			covered += to - from;
			end = to;
		}
	}
}

double xb_feed_share(const struct xb_listfile *file, bool ipv6)
{
	if (ipv6)
		return fmax(cover(file, XB_NET6, XB_NET6), cover(file, XB_ALLOW6, XB_ALLOW6)) /
		       ldexp(1, 61);
	return fmax(cover(file, XB_PREFIX4, XB_HOST4), cover(file, XB_ALLOW4, XB_ALLOW4)) /
	       ldexp(1, 64);
}

static bool lists_canary(const struct xb_entry *entry, const struct xb_entry *canary)
{
	struct xb_entry whole = *entry;

	if (xb_entry_is_allow(entry) || entry->kind == XB_EXCEPT_NAME)
		return false;
	if (xb_entry_is_name(entry) && xb_name_is_exact(entry->name, entry->length)) {
		whole.length--;
		return whole.length == canary->length && xb_entry_inside(&whole, canary);
	}
	/* A prefix within a canary lists a part of it; a domain below one is another domain. */
	return xb_entry_inside(entry, canary) ||
	       (!xb_entry_is_name(canary) && xb_entry_inside(canary, entry));
}

static bool finds_canary(const struct xb_feed_guard *guard, const struct xb_entry *entry,
			 struct xb_feed_refusal *refusal)
{
	for (size_t i = 0; i < guard->canary_count; i++) {
		if (!lists_canary(entry, &guard->canaries[i]))
			continue;
		*refusal = (struct xb_feed_refusal){
			.why = XB_FEED_CANARY, .entry = *entry, .canary = guard->canaries[i]};
		return true;
	}
	return false;
}

static bool is_too_wide(const struct xb_feed_guard *guard, const struct xb_listfile *file,
			bool ipv6, struct xb_feed_refusal *refusal)
{
	double share = guard->share > 0 ? xb_feed_share(file, ipv6) : 0;

	if (share <= guard->share)
		return false;
	*refusal = (struct xb_feed_refusal){.why = XB_FEED_SHARE, .share = share, .ipv6 = ipv6};
	return true;
}

bool xb_feed_guard_check(const struct xb_feed_guard *guard, const struct xb_listfile *file,
			 struct xb_feed_refusal *refusal)
{
	if (guard->most_entries && file->count > guard->most_entries) {
		*refusal = (struct xb_feed_refusal){.why = XB_FEED_MANY_ENTRIES};
		return false;
	}
	for (size_t i = 0; guard->canary_count && i < file->count; i++) {
		struct xb_entry entry = xb_listfile_at(file, i).entry;

		if (finds_canary(guard, &entry, refusal))
			return false;
	}
	return !is_too_wide(guard, file, false, refusal) &&
	       !is_too_wide(guard, file, true, refusal);
}

bool xb_feed_is_html(const char *begin, size_t size)
{
	static const char *const tags[] = {"<!doctype", "<html",  "<head", "<body",
					   "<script",	"<title", "<?xml"};

	if (size >= 3 && !memcmp(begin, "\xef\xbb\xbf", 3)) {
		begin += 3;
		size -= 3;
	}
	while (size && memchr(" \t\r\n", *begin, 4)) {
		begin++;
		size--;
	}
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (size >= strlen(tags[i]) && !strncasecmp(begin, tags[i], strlen(tags[i])))
			return true;
	return size >= 4 && !memcmp(begin, "<!--", 4);
}

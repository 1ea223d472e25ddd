/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of entries: what parses has one text and one key, both lead back to it, and order, key and
 * what lies in what agree. */
#include "base/array.h"
#include "fuzz.h"
#include "model/entry.h"
#include "store/leaf.h"

#define ENTRIES 8

struct parsed {
	struct xb_entry entry; /* first, for xb_entry_sort */
	uint8_t form[XB_NAME_BYTES];
	uint64_t number;
};

static void check_address(const struct xb_entry *entry)
{
	struct xb_entry cut = xb_entry_covering(entry, entry->length);

	must(entry->length <= xb_entry_full_length(entry));
	must(!xb_entry_compare(&cut, entry));
	must(entry->kind != XB_PREFIX4 || entry->length <= 24);
	must(entry->kind != XB_HOST4 || entry->length > 24);
	must(!xb_entry_is_ipv4(entry) || (!entry->lo && !(uint32_t)entry->hi));
}

static bool is_small(uint8_t byte)
{
	return byte && strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", byte);
}

/* The form is labels of at most 63 small bytes, up to its end. */
static void check_name(const struct xb_entry *entry)
{
	uint32_t at = 0, labels = 0;

	while (at < entry->length && entry->name[at]) {
		must(entry->name[at] < 64);
		for (uint32_t i = 1; i <= entry->name[at]; i++)
			must(is_small(entry->name[at + i]));
		at += entry->name[at] + 1U;
		labels++;
	}
	must(at + xb_name_is_exact(entry->name, entry->length) == entry->length);
	must(labels && labels == xb_name_labels(entry->name, entry->length));
}

static void leads_back(const struct xb_entry *entry)
{
	uint8_t form[XB_NAME_BYTES], key[XB_ENTRY_KEY_BYTES];
	struct xb_entry again;
	char text[XB_ENTRY_TEXT];
	bool host_bits;
	size_t bytes;

	xb_entry_format(entry, text);
	must_be_clear(text);
	must(!xb_entry_parse(text, strlen(text), form, &again, &host_bits));
	must(!xb_entry_compare(entry, &again) && !host_bits);
	bytes = xb_entry_encode(entry, key);
	must(bytes <= sizeof(key) && key[0] == entry->kind);
	must(xb_entry_is_name(entry) || bytes <= XB_ADDRESS_KEY_BYTES);
	must(xb_entry_decode(key, bytes, &again) == bytes);
	must(!xb_entry_compare(entry, &again));
	must(xb_entry_keys(entry) <= 128);
	while (xb_entry_widen(&again)) {
		must(xb_entry_inside(&again, entry));
		must(!xb_entry_inside(entry, &again));
	}
}

static bool is_wider(const struct xb_entry *outer, const struct xb_entry *inner)
{
	struct xb_entry entry = *inner;

	do
		if (!xb_entry_compare(&entry, outer))
			return true;
	while (xb_entry_widen(&entry));
	return false;
}

static void compare(const struct xb_entry *a, const struct xb_entry *b)
{
	uint8_t a_key[XB_ENTRY_KEY_BYTES], b_key[XB_ENTRY_KEY_BYTES];
	size_t a_size = xb_entry_encode(a, a_key), b_size = xb_entry_encode(b, b_key);
	int order = xb_entry_compare(a, b), of_keys = xb_leaf_compare(a_key, a_size, b_key, b_size);

	must((order < 0) == (of_keys < 0) && (order > 0) == (of_keys > 0));
	must((order < 0) == (xb_entry_compare(b, a) > 0));
	must(xb_entry_inside(a, b) == is_wider(a, b));
}

static void sort(const struct parsed *parsed, size_t count)
{
	struct parsed *sorted = xb_array_alloc(ENTRIES, sizeof(*sorted));

	must(sorted);
	memcpy(sorted, parsed, count * sizeof(*sorted));
	must(!xb_entry_sort(&sorted, count, sizeof(*sorted)));
	for (size_t i = 1; i < count; i++) {
		int order = xb_entry_compare(&sorted[i - 1].entry, &sorted[i].entry);

		must(order < 0 || (!order && sorted[i - 1].number < sorted[i].number));
	}
	free(sorted);
}

static bool parse(const char *text, size_t size, struct parsed *parsed)
{
	struct xb_entry *entry = &parsed->entry, allow;
	bool host_bits;
	int error;

	xb_error_clear();
	error = xb_entry_parse(text, size, NULL, entry, NULL);
	must(error || !xb_entry_is_name(entry));
	error = xb_entry_parse(text, size, parsed->form, entry, &host_bits);
	if (error) {
		must(xb_error_class() == XB_ERROR_INPUT);
		must_be_clear(xb_error_message());
		return false;
	}
	if (xb_entry_is_name(entry))
		check_name(entry);
	else
		check_address(entry);
	leads_back(entry);
	allow = xb_entry_allow(entry);
	must(xb_entry_is_allow(&allow) && xb_entry_inside(entry, &allow));
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parsed parsed[ENTRIES] = {0};
	size_t count = 0;

	for (size_t at = 0, end; at <= size && count < ENTRIES; at = end + 1) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		char *text;

		end = newline ? (size_t)(newline - data) : size;
		/* Of its own size, so that nothing behind it can be read. */
		text = malloc(end - at);
		must(text || end == at);
		memcpy(text, data + at, end - at);
		parsed[count].number = count;
		count += parse(text, end - at, &parsed[count]);
		free(text);
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			compare(&parsed[i].entry, &parsed[j].entry);
	sort(parsed, count);
	return 0;
}

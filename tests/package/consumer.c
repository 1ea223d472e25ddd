/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of somebody else may do with libxdp-bloom-dev: reads a list file, puts it into a
 * store of its own, asks that store, and makes a filter of it. consumer LIST DIRECTORY ENTRY: exits
 * 0 if the entry is in the list. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <xdp_bloom/bloom.h>
#include <xdp_bloom/hash.h>
#include <xdp_bloom/layout.h>

#include "base/program.h"
#include "lists/reader.h"
#include "model/entry.h"
#include "store/membership.h"
#include "store/store.h"

/* As docs/bloom.md has it: a filter to a file, and back. */
static int in_filter(const struct xb_listfile *file, const char *directory, const char *wanted)
{
	struct xb_filter_options options = {.kind = XB_FILTER_STANDARD};
	struct xb_filter *filter;
	char text[XB_ENTRY_TEXT], path[4096];
	int found;

	snprintf(path, sizeof(path), "%s/filter", directory);
	if (xb_filter_create(1000000, 1e-9, &options, &filter))
		return -1;
	for (size_t i = 0; i < file->count; i++) {
		xb_entry_format(&file->items[i].entry, text);
		xb_filter_put(filter, text, strlen(text));
	}
	if (xb_filter_write(filter, path))
		return -1;
	xb_filter_free(filter);
	if (xb_filter_read(path, XB_FILTER_ASK, XB_FUNNEL_STRING, &filter))
		return -1;
	found = xb_filter_might_contain(filter, wanted, strlen(wanted));
	xb_filter_free(filter);
	return found;
}

int main(int argc, char **argv)
{
	struct xb_listfile file = {0};
	struct xb_store *store;
	struct xb_entry entry;
	uint8_t name[XB_NAME_BYTES];
	int found = 0;

	if (argc != 4 || xb_entry_parse(argv[3], strlen(argv[3]), name, &entry, NULL))
		return 2;
	if (xb_listfile_read(argv[1], NULL, &file) ||
	    xb_store_open(argv[2], XB_STORE_CREATE, &store))
		return 3;
	for (size_t i = 0; i < file.count; i++)
		found |= !xb_entry_compare(&file.items[i].entry, &entry);
	printf("%zu entries read as %s by libxdp-bloom %s\n", file.count, file.format, XB_VERSION);
	if (in_filter(&file, argv[2], argv[3]) != found)
		return 4;
	xb_store_close(store);
	xb_listfile_free(&file);
	return !found;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of somebody else may do with libxdp-bloom-dev: reads a list file, puts it into a
 * store of its own and asks that store. consumer LIST DIRECTORY ENTRY: exits 0 if the entry is in
 * the list. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <xdp_bloom/hash.h>
#include <xdp_bloom/layout.h>

#include "base/program.h"
#include "lists/reader.h"
#include "model/entry.h"
#include "store/membership.h"
#include "store/store.h"

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
	xb_store_close(store);
	xb_listfile_free(&file);
	return !found;
}

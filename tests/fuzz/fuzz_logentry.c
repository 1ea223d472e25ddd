/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes that may be an entry of a fleet's log: a refusal in one line, or an entry that is written
 * as the same bytes, all of whose changes can be listed and shared. */
#include <errno.h>

#include "bloomd/fleet/changecodec.h"
#include "bloomd/fleet/logentry.h"
#include "fuzz.h"
#include "model/comment.h"

static const struct mac_key key;
static const uint8_t before[MAC_BYTES];

static void must_be_shared(const struct xb_shared_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_shared_change *change = &changes->item[i];
		uint8_t form[XB_NAME_BYTES];
		char text[XB_ENTRY_TEXT];
		struct xb_entry entry;

		must(xb_list_name_ok(change->list));
		must(xb_entry_is_shared(&change->entry));
		must(!xb_comment_check(change->comment, change->comment_size));
		xb_entry_format(&change->entry, text);
		must(!xb_entry_parse_listed(text, strlen(text), form, &entry, NULL));
		must(!xb_entry_compare(&entry, &change->entry));
	}
}

/* But for the chain, which the writer makes. */
static void must_come_back(struct logentry *entry, const uint8_t *bytes, size_t size)
{
	uint8_t *written;
	size_t written_size;

	must(!logentry_write(entry, &key, 1, before, &written, &written_size));
	must(written_size == size);
	must(!memcmp(written, bytes, size - MAC_BYTES));
	must(logentry_chains(written, size, &key, 1, before) == 1);
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of that size, so that the sanitizer sees a read behind it. */
	uint8_t *bytes = malloc(size);
	struct logentry entry;
	int error;

	if (size)
		memcpy(bytes, data, size);
	error = logentry_read(bytes, size, &entry);
	if (error)
		must_be_clear(xb_error_message());
	else
		must(entry.changes.count <= LOGENTRY_CHANGES);
	if (!error) {
		must_be_shared(&entry.changes);
		must_come_back(&entry, bytes, size);
	}
	must(!error || error == -EINVAL);
	must(logentry_chains(bytes, size, &key, 1, before) >= 0);
	logentry_free(&entry);
	free(bytes);
	return 0;
}

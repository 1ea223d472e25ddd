/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte that says which fields there are, the list, the key of the entry, and these fields. */
#include "bloomd/fleet/changecodec.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/comment.h"

#define PUT	 1U
#define EXPIRES	 2U
#define COMMENTS 4U

static int bad_entry(const struct xb_entry *entry, const char *why)
{
	char text[XB_ENTRY_TEXT];

	xb_utf8_clean((char *)(uintptr_t)xb_entry_format(entry, text));
	return xb_input_error("a fleet does not share %s: %s", text, why);
}

/* Whether it is the form of a name that could be typed. */
static bool is_name(const struct xb_entry *entry)
{
	uint8_t form[XB_NAME_BYTES], used;
	char text[XB_NAME_TEXT];

	for (size_t i = 0; i < entry->length; i += entry->name[i] + 1U)
		if (memchr(entry->name + i + 1, '.', entry->name[i]) ||
		    memchr(entry->name + i + 1, '\0', entry->name[i]))
			return false;
	xb_name_format(entry->name, entry->length, text);
	return !xb_name_parse(text, strlen(text), form, &used) && used == entry->length &&
	       !memcmp(form, entry->name, used);
}

/* Whether the address has no bits behind its length, and is not in the form of IPv6 that means
 * IPv4. */
static bool is_address(const struct xb_entry *entry)
{
	struct xb_entry cut = xb_entry_covering(entry, entry->length);

	return !xb_entry_compare(&cut, entry) && !xb_entry_is_mapped(entry);
}

int change_check_entry(const struct xb_entry *entry)
{
	bool sound = xb_entry_is_name(entry) ? is_name(entry) : is_address(entry);

	if (!sound)
		return bad_entry(entry, "it is not in the form that lists have");
	if (!xb_entry_is_shared(entry))
		return bad_entry(entry, "it is too wide, or on the allowlist");
	return 0;
}

int change_check(const struct xb_shared_change *change)
{
	int error = change_check_entry(&change->entry);

	if (!error && !change->put && (change->added || change->expires || change->comment_size))
		error = bad_entry(&change->entry, "a delete has neither times nor a comment");
	return error ? error : xb_comment_check(change->comment, change->comment_size);
}

static uint8_t flags_of(const struct xb_shared_change *change)
{
	return (uint8_t)((change->put ? PUT : 0) | (change->expires ? EXPIRES : 0) |
			 (change->comment_size ? COMMENTS : 0));
}

/* Keys of addresses say themselves where they end. */
void change_write_entry(const struct xb_entry *entry, struct bytes_out *out)
{
	uint8_t key[XB_ENTRY_KEY_BYTES];
	size_t size = xb_entry_encode(entry, key);

	bytes_put_byte(out, key[0]);
	if (xb_entry_is_name(entry))
		bytes_put_byte(out, entry->length);
	bytes_put(out, key + 1, size - 1);
}

void change_write(const struct xb_shared_change *change, uint32_t list, struct bytes_out *out)
{
	bytes_put_byte(out, flags_of(change));
	bytes_put_number(out, list);
	change_write_entry(&change->entry, out);
	if (change->put)
		bytes_put_word(out, change->added);
	if (change->expires)
		bytes_put_word(out, change->expires);
	if (!change->comment_size)
		return;
	bytes_put_byte(out, (uint8_t)change->comment_size);
	bytes_put(out, change->comment, change->comment_size);
}

static void read_name(struct bytes_in *in, struct xb_entry *entry)
{
	uint8_t key[XB_ENTRY_KEY_BYTES];
	const uint8_t *name;
	uint8_t size;

	key[0] = bytes_byte(in);
	size = bytes_byte(in);
	name = bytes_pass(in, size);
	if (!name)
		return;
	memcpy(key + 1, name, size);
	in->wrong |= !xb_entry_decode(key, size + 1U, entry);
	entry->name = name;
}

static void read_address(struct bytes_in *in, struct xb_entry *entry)
{
	size_t size = xb_entry_decode(in->at, in->left, entry);

	in->wrong |= !size;
	bytes_pass(in, size);
}

void change_read_entry(struct bytes_in *in, struct xb_entry *entry)
{
	*entry = (struct xb_entry){0};
	in->wrong |= !in->left || *in->at == XB_ALLOW_NAME;
	if (in->wrong)
		return;
	if (*in->at == XB_NAME || *in->at == XB_EXCEPT_NAME)
		read_name(in, entry);
	else
		read_address(in, entry);
}

static void read_comment(struct bytes_in *in, struct xb_shared_change *change)
{
	change->comment_size = bytes_byte(in);
	in->wrong |= !change->comment_size;
	change->comment = (const char *)bytes_pass(in, change->comment_size);
}

int change_read(struct bytes_in *in, uint32_t lists, struct xb_shared_change *change,
		uint32_t *list)
{
	uint8_t flags = bytes_byte(in);

	*change =
		(struct xb_shared_change){.list = change->list, .put = flags & PUT, .comment = ""};
	in->wrong |= flags > (PUT | EXPIRES | COMMENTS) || (flags && !(flags & PUT)) || !lists;
	*list = (uint32_t)bytes_number(in, lists - 1ULL);
	change_read_entry(in, &change->entry);
	if (flags & PUT)
		change->added = bytes_word(in);
	if (flags & EXPIRES) {
		change->expires = bytes_word(in);
		in->wrong |= !change->expires;
	}
	if (flags & COMMENTS)
		read_comment(in, change);
	if (in->wrong)
		return xb_input_error("a change is damaged");
	return change_check(change);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A head, the names of lists in the order in which changes first have them, the changes, and the
 * chain. */
#include "bloomd/fleet/logentry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/changecodec.h"

#define VERSION	 1
#define HEAD_MAX (2 + 3 * XB_FLEET_ID + 5 * BYTES_NUMBER_MAX)
#define LAST_MS	 ((uint64_t)UINT32_MAX * 1000 + 999) /* what the store can hold ends in 2106 */

/* Names of lists, each once. */
struct names {
	const char *name[XB_SHARES_MAX];
	uint32_t count;
};

void logentry_free(struct logentry *entry)
{
	xb_shared_changes_free(&entry->changes);
}

static int bad(const char *why)
{
	return xb_input_error("this is not an entry of a fleet's log: %s", why);
}

static int check_numbers(const struct logentry *entry)
{
	size_t count = entry->changes.count;

	if (entry->kind != LOGENTRY_CHANGE)
		return count || entry->first || entry->last ? bad("its kind has no changes") : 0;
	if (!count || count > LOGENTRY_CHANGES)
		return bad("it has no changes, or too many");
	if (!entry->first || entry->last < entry->first || entry->last - entry->first < count - 1)
		return bad("its changes have other numbers");
	return 0;
}

/* All but the changes themselves. */
static int check(const struct logentry *entry)
{
	if (entry->kind < LOGENTRY_CHANGE || entry->kind > LOGENTRY_BEAT)
		return bad("its kind is unknown");
	if (!entry->term || bytes_are_zero(entry->epoch, sizeof(entry->epoch)) ||
	    bytes_are_zero(entry->publisher, sizeof(entry->publisher)))
		return bad("it lacks a term, an epoch or a publisher");
	if (entry->term > XB_FLEET_POSITION_MAX)
		return bad("its term is too high");
	if (entry->time > LAST_MS)
		return bad("its time is too late");
	if (entry->kind == LOGENTRY_BEGIN &&
	    bytes_are_zero(entry->snapshot, sizeof(entry->snapshot)))
		return bad("it begins without a snapshot");
	return check_numbers(entry);
}

/* Whether an entry of a log can stand there. */
static bool has_place(uint64_t position)
{
	return position && position <= XB_FLEET_POSITION_MAX;
}

/* --- writing --- */

/* The number of the name, which gets one if it has none; XB_SHARES_MAX: there are too many. */
static uint32_t number_of(struct names *names, const char *list)
{
	/* Neighbours are mostly of one list. */
	for (uint32_t i = names->count; i > 0; i--)
		if (!strcmp(names->name[i - 1], list))
			return i - 1;
	if (names->count == XB_SHARES_MAX)
		return XB_SHARES_MAX;
	names->name[names->count] = list;
	return names->count++;
}

static int check_changes(const struct logentry *entry, struct names *names)
{
	for (size_t i = 0; i < entry->changes.count; i++) {
		const struct xb_shared_change *change = &entry->changes.item[i];
		int error = change_check(change);

		if (error)
			return error;
		if (!xb_list_name_ok(change->list))
			return bad("a list has a name that is none");
		if (number_of(names, change->list) == XB_SHARES_MAX)
			return bad("it has too many lists");
	}
	return 0;
}

static void write_head(const struct logentry *entry, struct bytes_out *out)
{
	bytes_put_byte(out, VERSION);
	bytes_put_byte(out, (uint8_t)entry->kind);
	bytes_put_number(out, entry->term);
	bytes_put(out, entry->epoch, sizeof(entry->epoch));
	bytes_put(out, entry->publisher, sizeof(entry->publisher));
	bytes_put_number(out, entry->time);
	if (entry->kind == LOGENTRY_BEGIN)
		bytes_put(out, entry->snapshot, sizeof(entry->snapshot));
}

static void write_changes(const struct logentry *entry, struct names *names, struct bytes_out *out)
{
	const struct xb_shared_changes *changes = &entry->changes;

	bytes_put_number(out, entry->first);
	bytes_put_number(out, entry->last - entry->first);
	bytes_put_number(out, names->count);
	for (uint32_t i = 0; i < names->count; i++)
		bytes_put_list(out, names->name[i]);
	bytes_put_number(out, changes->count);
	for (size_t i = 0; i < changes->count; i++)
		change_write(&changes->item[i], number_of(names, changes->item[i].list), out);
}

static int chain_of(const void *bytes, size_t size, const struct mac_key *key, uint64_t position,
		    const uint8_t before[MAC_BYTES], uint8_t chain[MAC_BYTES])
{
	uint8_t head[sizeof("entry") + MAC_BYTES + BYTES_NUMBER_MAX] = "entry";
	struct bytes_out out = {head + sizeof("entry")};
	struct mac_part parts[2] = {{head, 0}, {bytes, size}};

	bytes_put(&out, before, MAC_BYTES);
	bytes_put_number(&out, position);
	parts[0].size = (size_t)(out.at - head);
	return mac_of(key, parts, 2, chain);
}

/* Into room that is large enough for any such entry. */
static int write_into(struct logentry *entry, struct names *names, const struct mac_key *key,
		      uint64_t position, const uint8_t before[MAC_BYTES], uint8_t *bytes,
		      size_t *size)
{
	struct bytes_out out = {bytes};
	int error;

	write_head(entry, &out);
	if (entry->kind == LOGENTRY_CHANGE)
		write_changes(entry, names, &out);
	error = chain_of(bytes, (size_t)(out.at - bytes), key, position, before, entry->chain);
	bytes_put(&out, entry->chain, MAC_BYTES);
	*size = (size_t)(out.at - bytes);
	return error;
}

int logentry_write(struct logentry *entry, const struct mac_key *key, uint64_t position,
		   const uint8_t before[MAC_BYTES], uint8_t **bytes, size_t *size)
{
	struct names names = {0};
	int error = check(entry);

	*bytes = NULL;
	*size = 0;
	if (!error && !has_place(position))
		error = bad("it has a position that is none");
	if (!error)
		error = check_changes(entry, &names);
	if (error)
		return error;
	*bytes = malloc(HEAD_MAX + names.count * BYTES_LIST_MAX +
			entry->changes.count * CHANGE_BYTES_MAX + MAC_BYTES);
	if (!*bytes)
		return xb_out_of_memory();
	error = write_into(entry, &names, key, position, before, *bytes, size);
	if (!error)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return error;
}

/* --- reading --- */

static void read_head(struct bytes_in *in, struct logentry *entry)
{
	entry->kind = bytes_byte(in);
	entry->term = bytes_number(in, UINT64_MAX);
	bytes_copy(in, entry->epoch, sizeof(entry->epoch));
	bytes_copy(in, entry->publisher, sizeof(entry->publisher));
	entry->time = bytes_number(in, UINT64_MAX);
	if (entry->kind == LOGENTRY_BEGIN)
		bytes_copy(in, entry->snapshot, sizeof(entry->snapshot));
}

static void read_names(struct bytes_in *in, char room[XB_SHARES_MAX][65], struct names *names)
{
	uint32_t count = (uint32_t)bytes_number(in, XB_SHARES_MAX);

	for (uint32_t i = 0; i < count && !in->wrong; i++) {
		bytes_list(in, room[i]);
		/* A name that is there already has another number. */
		in->wrong |= number_of(names, room[i]) != i;
	}
}

/* used: how many of the names the changes before it have. */
static int read_change(struct bytes_in *in, const struct names *names, uint32_t *used,
		       struct xb_shared_changes *changes)
{
	struct xb_shared_change change = {0};
	uint32_t list = 0;
	int error = change_read(in, names->count, &change, &list);

	if (error)
		return error;
	if (list > *used)
		return bad("its lists are not in the order of its changes");
	*used += list == *used;
	change.list = names->name[list];
	return xb_shared_changes_add(changes, &change);
}

static int read_changes(struct bytes_in *in, struct logentry *entry)
{
	char room[XB_SHARES_MAX][65];
	struct names names = {0};
	uint32_t used = 0;
	uint64_t count;
	int error = 0;

	entry->first = bytes_number(in, UINT64_MAX);
	entry->last = entry->first + bytes_number(in, UINT64_MAX - entry->first);
	read_names(in, room, &names);
	count = bytes_number(in, LOGENTRY_CHANGES);
	for (uint64_t i = 0; i < count && !error; i++)
		error = read_change(in, &names, &used, &entry->changes);
	if (!error && used < names.count)
		error = bad("it has a list without changes");
	return error;
}

static int check_version(struct bytes_in *in)
{
	uint8_t version = bytes_byte(in);

	if (version == VERSION)
		return 0;
	return xb_input_error("this log entry has version %u, and only %d is known here; upgrade "
			      "xdp-bloom",
			      version, VERSION);
}

int logentry_read(const void *bytes, size_t size, struct logentry *entry)
{
	struct bytes_in in = {bytes, size, false};
	int error;

	*entry = (struct logentry){0};
	if (!size || size > LOGENTRY_BYTES)
		return bad("it is empty or too large");
	error = check_version(&in);
	if (error)
		return error;
	read_head(&in, entry);
	if (entry->kind == LOGENTRY_CHANGE)
		error = read_changes(&in, entry);
	if (error)
		return error;
	bytes_copy(&in, entry->chain, sizeof(entry->chain));
	if (in.wrong || in.left)
		return bad("it is damaged");
	return check(entry);
}

int logentry_chains(const void *bytes, size_t size, const struct mac_key *key, uint64_t position,
		    const uint8_t before[MAC_BYTES])
{
	uint8_t chain[MAC_BYTES];
	int error;

	if (size < MAC_BYTES || !has_place(position))
		return 0;
	error = chain_of(bytes, size - MAC_BYTES, key, position, before, chain);
	return error ? error : mac_equal(chain, (const uint8_t *)bytes + size - MAC_BYTES);
}

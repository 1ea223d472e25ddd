/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A head, lineage, lists, chunks and marks, each with their number in front, and the MAC. */
#include "bloomd/fleet/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/bytes.h"
#include "bloomd/fleet/changecodec.h"

#define VERSION	     1
#define LAST_MS	     ((uint64_t)UINT32_MAX * 1000 + 999) /* what the store can hold ends in 2106 */
#define HEAD_MAX     (1 + 5 * XB_FLEET_ID + 9 * BYTES_NUMBER_MAX)
#define ANCESTOR_MAX (XB_FLEET_ID + 2 * BYTES_NUMBER_MAX)
#define LIST_MAX     (BYTES_LIST_MAX + BYTES_NUMBER_MAX + sizeof(struct xb_digest))
#define CHUNK_MAX                                                                                  \
	(4 * BYTES_NUMBER_MAX + 2 * MAC_BYTES + sizeof(struct xb_digest) + ENTRY_BYTES_MAX)
#define CHUNK_LEAST (4 + 2 * MAC_BYTES + sizeof(struct xb_digest) + 4)
#define MARK_MAX    (XB_FLEET_ID + BYTES_NUMBER_MAX)

void manifest_free(struct manifest *manifest)
{
	free(manifest->chunks);
	free(manifest->marks);
	xb_arena_free(&manifest->names);
	manifest->chunks = NULL;
	manifest->marks = NULL;
	manifest->chunk_count = manifest->mark_count = 0;
}

static int bad(const char *why)
{
	return xb_input_error("this is not the manifest of a fleet's snapshot: %s", why);
}

/* --- what must hold, in what is written and in what is read --- */

static int check_head(const struct manifest *manifest)
{
	if (bytes_are_zero(manifest->id, sizeof(manifest->id)) ||
	    bytes_are_zero(manifest->maker, sizeof(manifest->maker)) ||
	    bytes_are_zero(manifest->epoch, sizeof(manifest->epoch)) || !manifest->term)
		return bad("it lacks an identity, a maker, an epoch or a term");
	if (manifest->time > LAST_MS)
		return bad("its time is too late");
	if (manifest->position > XB_FLEET_POSITION_MAX || manifest->term > XB_FLEET_POSITION_MAX)
		return bad("its position or its term is too high");
	if (manifest->before && manifest->before >= manifest->position)
		return bad("the snapshot before it is not before it");
	return 0;
}

static int check_lineage(const struct manifest *manifest)
{
	uint64_t term = manifest->term;

	if (manifest->ancestors > XB_LINEAGE_MAX)
		return bad("its lineage is too long");
	for (size_t i = 0; i < manifest->ancestors; i++) {
		const struct xb_ancestor *ancestor = &manifest->lineage[i];

		if (ancestor->term >= term || !ancestor->term)
			return bad("its lineage is not in order");
		if (bytes_are_zero(ancestor->epoch, XB_FLEET_ID) ||
		    !memcmp(ancestor->epoch, manifest->epoch, XB_FLEET_ID))
			return bad("its lineage has an epoch that cannot be there");
		term = ancestor->term;
	}
	return 0;
}

static int check_chunk(const struct manifest_chunk *chunk, const struct manifest_chunk *former)
{
	if (!chunk->count || chunk->size < chunk->count || chunk->size > 2 * CHUNK_BYTES ||
	    !chunk->bloom_size || chunk->bloom_size > 2 * CHUNK_BYTES)
		return bad("a chunk has a size that cannot be");
	if (former && xb_entry_compare(&former->first, &chunk->first) >= 0)
		return bad("the chunks of a list are not in order");
	return change_check_entry(&chunk->first);
}

/* Of the chunks from *at on, those of the list; sets *at behind them. */
static int check_list(const struct manifest *manifest, uint32_t list, size_t *at)
{
	const struct manifest_list *of = &manifest->lists[list];
	const struct manifest_chunk *former = NULL;
	struct xb_digest digest = {{0, 0}};
	uint64_t count = 0;
	int error;

	if (!xb_list_name_ok(of->name))
		return bad("a list has a name that is none");
	for (uint32_t i = 0; i < list; i++)
		if (!strcmp(manifest->lists[i].name, of->name))
			return bad("it has a list twice");
	for (; *at < manifest->chunk_count && manifest->chunks[*at].list == list; ++*at) {
		const struct manifest_chunk *chunk = &manifest->chunks[*at];

		error = check_chunk(chunk, former);
		if (error)
			return error;
		former = chunk;
		count += chunk->count;
		xb_digest_add(&digest, &chunk->digest, 1);
	}
	if (count != of->count || !xb_digest_equals(&digest, &of->digest))
		return bad("the chunks of a list are not the list");
	return 0;
}

static int check_lists(const struct manifest *manifest)
{
	size_t at = 0;
	int error = 0;

	if (manifest->list_count > XB_SHARES_MAX || manifest->chunk_count > MANIFEST_CHUNKS)
		return bad("it has too many lists or chunks");
	for (uint32_t i = 0; !error && i < manifest->list_count; i++)
		error = check_list(manifest, i, &at);
	if (!error && at < manifest->chunk_count)
		error = bad("its chunks are not in order");
	return error;
}

static int check_marks(const struct manifest *manifest)
{
	const struct xb_fleet_mark *marks = manifest->marks;

	if (manifest->mark_count > MANIFEST_MARKS)
		return bad("it has too many marks");
	for (size_t i = 0; i < manifest->mark_count; i++) {
		if (!marks[i].last)
			return bad("a mark has no number");
		if (i && memcmp(marks[i - 1].publisher, marks[i].publisher, XB_FLEET_ID) >= 0)
			return bad("its marks are not in order");
	}
	return 0;
}

static int check(const struct manifest *manifest)
{
	int error = check_head(manifest);

	if (!error)
		error = check_lineage(manifest);
	if (!error)
		error = check_lists(manifest);
	return error ? error : check_marks(manifest);
}

bool manifest_is_before(const struct manifest *manifest, uint64_t term, uint64_t position)
{
	return manifest->term < term || (manifest->term == term && manifest->position < position);
}

const struct manifest_list *manifest_list_of(const struct manifest *manifest, const char *list)
{
	for (size_t i = 0; i < manifest->list_count; i++)
		if (!strcmp(manifest->lists[i].name, list))
			return &manifest->lists[i];
	return NULL;
}

static int compare_marks(const void *a, const void *b)
{
	return memcmp(((const struct xb_fleet_mark *)a)->publisher,
		      ((const struct xb_fleet_mark *)b)->publisher, XB_FLEET_ID);
}

uint64_t manifest_mark(const struct manifest *manifest, const uint8_t publisher[XB_FLEET_ID])
{
	struct xb_fleet_mark wanted = {0};
	const struct xb_fleet_mark *mark;

	memcpy(wanted.publisher, publisher, XB_FLEET_ID);
	if (!manifest->mark_count)
		return 0;
	mark = bsearch(&wanted, manifest->marks, manifest->mark_count, sizeof(wanted),
		       compare_marks);
	return mark ? mark->last : 0;
}

/* --- writing --- */

static void write_head(const struct manifest *manifest, struct bytes_out *out)
{
	bytes_put_byte(out, VERSION);
	bytes_put(out, manifest->id, sizeof(manifest->id));
	bytes_put(out, manifest->maker, sizeof(manifest->maker));
	bytes_put_number(out, manifest->time);
	bytes_put_number(out, manifest->term);
	bytes_put(out, manifest->epoch, sizeof(manifest->epoch));
	bytes_put_number(out, manifest->position);
	bytes_put(out, manifest->chain, sizeof(manifest->chain));
	bytes_put_number(out, manifest->before);
}

static void write_lineage(const struct manifest *manifest, struct bytes_out *out)
{
	bytes_put_number(out, manifest->ancestors);
	for (size_t i = 0; i < manifest->ancestors; i++) {
		bytes_put(out, manifest->lineage[i].epoch, XB_FLEET_ID);
		bytes_put_number(out, manifest->lineage[i].term);
		bytes_put_number(out, manifest->lineage[i].position);
	}
}

static void write_lists(const struct manifest *manifest, struct bytes_out *out)
{
	bytes_put_number(out, manifest->list_count);
	for (size_t i = 0; i < manifest->list_count; i++) {
		bytes_put_list(out, manifest->lists[i].name);
		bytes_put_number(out, manifest->lists[i].count);
		bytes_put_digest(out, &manifest->lists[i].digest);
	}
}

static void write_chunks(const struct manifest *manifest, struct bytes_out *out)
{
	bytes_put_number(out, manifest->chunk_count);
	for (size_t i = 0; i < manifest->chunk_count; i++) {
		const struct manifest_chunk *chunk = &manifest->chunks[i];

		bytes_put_number(out, chunk->list);
		bytes_put_number(out, chunk->count);
		bytes_put_number(out, chunk->size);
		bytes_put(out, chunk->mac, sizeof(chunk->mac));
		bytes_put_digest(out, &chunk->digest);
		change_write_entry(&chunk->first, out);
		bytes_put_number(out, chunk->bloom_size);
		bytes_put(out, chunk->bloom_mac, sizeof(chunk->bloom_mac));
	}
}

static void write_marks(const struct manifest *manifest, struct bytes_out *out)
{
	bytes_put_number(out, manifest->mark_count);
	for (size_t i = 0; i < manifest->mark_count; i++) {
		bytes_put(out, manifest->marks[i].publisher, XB_FLEET_ID);
		bytes_put_number(out, manifest->marks[i].last);
	}
}

static int mac_of_manifest(const void *bytes, size_t size, const struct mac_key *key,
			   uint8_t mac[MAC_BYTES])
{
	struct mac_part parts[] = {{"manifest", sizeof("manifest")}, {bytes, size}};

	return mac_of(key, parts, 2, mac);
}

static int write_into(const struct manifest *manifest, const struct mac_key *key, uint8_t *bytes,
		      size_t *size)
{
	struct bytes_out out = {bytes};

	write_head(manifest, &out);
	write_lineage(manifest, &out);
	write_lists(manifest, &out);
	write_chunks(manifest, &out);
	write_marks(manifest, &out);
	*size = (size_t)(out.at - bytes) + MAC_BYTES;
	if (*size > MANIFEST_BYTES)
		return xb_input_error("the manifest of the snapshot would be larger than %zu MiB",
				      MANIFEST_BYTES >> 20);
	return mac_of_manifest(bytes, *size - MAC_BYTES, key, out.at);
}

int manifest_write(const struct manifest *manifest, const struct mac_key *key, uint8_t **bytes,
		   size_t *size)
{
	int error = check(manifest);

	*bytes = NULL;
	*size = 0;
	if (error)
		return error;
	*bytes = malloc(HEAD_MAX + manifest->ancestors * ANCESTOR_MAX +
			manifest->list_count * LIST_MAX + manifest->chunk_count * CHUNK_MAX +
			manifest->mark_count * MARK_MAX + MAC_BYTES);
	if (!*bytes)
		return xb_out_of_memory();
	error = write_into(manifest, key, *bytes, size);
	if (!error)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return error;
}

/* --- reading --- */

static void read_head(struct bytes_in *in, struct manifest *manifest)
{
	bytes_copy(in, manifest->id, sizeof(manifest->id));
	bytes_copy(in, manifest->maker, sizeof(manifest->maker));
	manifest->time = bytes_number(in, UINT64_MAX);
	manifest->term = bytes_number(in, UINT64_MAX);
	bytes_copy(in, manifest->epoch, sizeof(manifest->epoch));
	manifest->position = bytes_number(in, UINT64_MAX);
	bytes_copy(in, manifest->chain, sizeof(manifest->chain));
	manifest->before = bytes_number(in, UINT64_MAX);
}

static void read_lineage(struct bytes_in *in, struct manifest *manifest)
{
	manifest->ancestors = bytes_number(in, XB_LINEAGE_MAX);
	for (size_t i = 0; i < manifest->ancestors; i++) {
		bytes_copy(in, manifest->lineage[i].epoch, XB_FLEET_ID);
		manifest->lineage[i].term = bytes_number(in, UINT64_MAX);
		manifest->lineage[i].position = bytes_number(in, XB_FLEET_POSITION_MAX);
	}
}

static void read_lists(struct bytes_in *in, struct manifest *manifest)
{
	manifest->list_count = bytes_number(in, XB_SHARES_MAX);
	for (size_t i = 0; i < manifest->list_count; i++) {
		bytes_list(in, manifest->lists[i].name);
		manifest->lists[i].count = bytes_number(in, UINT64_MAX);
		bytes_digest(in, &manifest->lists[i].digest);
	}
}

/* Room for as many as there are, if there are bytes for them; least: bytes that each takes. NULL:
 * there are none, or *error is set. */
static void *read_count(struct bytes_in *in, uint64_t most, size_t least, size_t size,
			size_t *count, int *error)
{
	size_t many = bytes_number(in, most);
	void *room;

	*count = 0;
	in->wrong |= many > in->left / least;
	if (in->wrong || !many)
		return NULL;
	room = calloc(many, size);
	if (room)
		*count = many;
	else
		*error = xb_out_of_memory();
	return room;
}

/* A name stays when the bytes are gone. */
static int read_first(struct bytes_in *in, struct manifest *manifest, struct xb_entry *first)
{
	change_read_entry(in, first);
	if (in->wrong || !xb_entry_is_name(first))
		return 0;
	first->name = xb_arena_copy(&manifest->names, first->name, first->length);
	return first->name ? 0 : -EIO;
}

static int read_chunk(struct bytes_in *in, struct manifest *manifest, struct manifest_chunk *chunk)
{
	int error;

	chunk->list = (uint32_t)bytes_number(in, UINT32_MAX);
	chunk->count = (uint32_t)bytes_number(in, UINT32_MAX);
	chunk->size = (uint32_t)bytes_number(in, UINT32_MAX);
	bytes_copy(in, chunk->mac, sizeof(chunk->mac));
	bytes_digest(in, &chunk->digest);
	error = read_first(in, manifest, &chunk->first);
	chunk->bloom_size = (uint32_t)bytes_number(in, UINT32_MAX);
	bytes_copy(in, chunk->bloom_mac, sizeof(chunk->bloom_mac));
	return error;
}

static int read_chunks(struct bytes_in *in, struct manifest *manifest)
{
	int error = 0;

	manifest->chunks = read_count(in, MANIFEST_CHUNKS, CHUNK_LEAST, sizeof(*manifest->chunks),
				      &manifest->chunk_count, &error);
	for (size_t i = 0; !error && manifest->chunks && i < manifest->chunk_count; i++)
		error = read_chunk(in, manifest, &manifest->chunks[i]);
	return error;
}

static int read_marks(struct bytes_in *in, struct manifest *manifest)
{
	int error = 0;

	manifest->marks = read_count(in, MANIFEST_MARKS, 1 + XB_FLEET_ID, sizeof(*manifest->marks),
				     &manifest->mark_count, &error);
	for (size_t i = 0; i < manifest->mark_count; i++) {
		bytes_copy(in, manifest->marks[i].publisher, XB_FLEET_ID);
		manifest->marks[i].last = bytes_number(in, UINT64_MAX);
	}
	return error;
}

/* The MAC goes first: with a key of the fleet, what follows is what a member wrote. */
static int check_mac(const uint8_t *bytes, size_t size, const struct mac_key *key)
{
	uint8_t mac[MAC_BYTES];
	int error;

	if (size <= MAC_BYTES || size > MANIFEST_BYTES)
		return bad("it is too short or too large");
	error = mac_of_manifest(bytes, size - MAC_BYTES, key, mac);
	if (error || mac_equal(mac, bytes + size - MAC_BYTES))
		return error;
	return xb_input_error("the manifest of the snapshot is damaged, or of a fleet with another "
			      "key");
}

static int read_parts(struct bytes_in *in, struct manifest *manifest)
{
	uint8_t version = bytes_byte(in);
	int error;

	if (version != VERSION)
		return xb_input_error("this snapshot has version %u, and only %d is known here; "
				      "upgrade xdp-bloom",
				      version, VERSION);
	read_head(in, manifest);
	read_lineage(in, manifest);
	read_lists(in, manifest);
	error = read_chunks(in, manifest);
	if (!error)
		error = read_marks(in, manifest);
	if (!error && (in->wrong || in->left))
		error = bad("its fields do not fit into it");
	return error;
}

int manifest_read(const void *bytes, size_t size, const struct mac_key *key,
		  struct manifest *manifest)
{
	struct bytes_in in = {bytes, size - MAC_BYTES, false};
	int error = check_mac(bytes, size, key);

	*manifest = (struct manifest){0};
	if (!error)
		error = read_parts(&in, manifest);
	return error ? error : check(manifest);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each thread hashes all keys, and puts those into the maps that fall on its share of them. */
#include "filter/fill.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "filter/lengthmap.h"
#include "filter/limitmap.h"
#include "filter/namedepths.h"
#include "filter/prefixmap.h"
#include "filter/scopemap.h"

/* One thread's work: the keys that fall on its share of the blocks and buckets. */
struct share {
	struct xb_generation *generation;
	const struct xb_contents *contents;
	uint32_t part, parts;
	int error;
	pthread_t thread;
};

#define CHUNK 4096

static uint32_t share_start(uint32_t all, uint32_t part, uint32_t parts)
{
	return (uint32_t)((uint64_t)all * part / parts);
}

/* What a thread fills of one stage. */
struct fill {
	struct xb_bloom *bloom;
	struct xb_exact *confirm; /* NULL: there is none */
	uint8_t *used;
	uint64_t *hashes; /* of a chunk; threads may have small stacks */
	uint32_t *extras; /* addresses or verdicts of it */
	uint32_t first_block, last_block, first_part, last_part;
};

static int fill_begin(const struct share *share, struct xb_bloom *bloom, struct xb_exact *confirm,
		      struct fill *fill)
{
	uint32_t blocks = bloom->geometry.blocks, parts = confirm->geometry.parts;

	*fill = (struct fill){
		.bloom = bloom,
		.confirm = parts ? confirm : NULL,
		.first_block = share_start(blocks, share->part, share->parts),
		.last_block = share_start(blocks, share->part + 1, share->parts),
		.first_part = share_start(parts, share->part, share->parts),
		.last_part = share_start(parts, share->part + 1, share->parts),
	};
	fill->used = calloc(
		(size_t)(fill->last_part - fill->first_part) * confirm->geometry.size + 1, 1);
	fill->hashes = calloc(CHUNK, sizeof(*fill->hashes));
	fill->extras = calloc(CHUNK, sizeof(*fill->extras));
	return fill->used && fill->hashes && fill->extras ? 0 : xb_out_of_memory();
}

static void fill_end(struct fill *fill)
{
	free(fill->used);
	free(fill->hashes);
	free(fill->extras);
}

/* What is listed, in a Bloom filter and a table of its own. */
struct stage {
	struct xb_bloom *bloom;
	struct xb_exact *confirm;
	size_t count; /* keys */
	/* Puts the hashes of a chunk into fill->hashes. Returns what belongs to its keys in the
	 * table, or NULL. */
	const uint32_t *(*hash)(const struct share *share, size_t start, size_t count,
				const struct fill *fill);
};

static const uint32_t *hash_host4(const struct share *share, size_t start, size_t count,
				  const struct fill *fill)
{
	const uint32_t *address = &share->contents->host4[start];

	for (size_t i = 0; i < count; i++)
		fill->hashes[i] = xb_hash_ipv4(&share->generation->params.key, address[i]);
	return address;
}

static const uint32_t *hash_net6(const struct share *share, size_t start, size_t count,
				 const struct fill *fill)
{
	for (size_t i = 0; i < count; i++) {
		const struct xb_entry *entry = &share->contents->net6[start + i];

		fill->hashes[i] = xb_hash_ipv6(&share->generation->params.key6, entry->hi,
					       entry->lo, entry->length);
	}
	return NULL;
}

static const uint32_t *hash_names(const struct share *share, size_t start, size_t count,
				  const struct fill *fill)
{
	for (size_t i = 0; i < count; i++) {
		const struct xb_named *named = &share->contents->names[start + i];

		fill->hashes[i] = xb_name_hash(&share->generation->name_key, named->entry.name,
					       named->entry.length);
		fill->extras[i] = named->slot;
	}
	return fill->extras;
}

static const uint32_t *hash_scoped(const struct share *share, size_t start, size_t count,
				   const struct fill *fill)
{
	for (size_t i = 0; i < count; i++) {
		const struct xb_scoped *scoped = &share->contents->scoped[start + i];

		fill->hashes[i] =
			xb_scopemap_hash(&share->generation->params, &scoped->entry, scoped->class);
	}
	return NULL;
}

static int fill_chunk(const struct fill *fill, const uint32_t *extras, size_t count)
{
	xb_bloom_build(fill->bloom, fill->hashes, count, fill->first_block, fill->last_block);
	return fill->confirm ? xb_exact_build(fill->confirm, fill->hashes, extras, count,
					      fill->first_part, fill->last_part, fill->used)
			     : 0;
}

static int fill_stage(const struct share *share, const struct stage *stage)
{
	struct fill fill;
	int error = fill_begin(share, stage->bloom, stage->confirm, &fill);

	for (size_t start = 0; !error && start < stage->count; start += CHUNK) {
		size_t count = stage->count - start < CHUNK ? stage->count - start : CHUNK;

		error = fill_chunk(&fill, stage->hash(share, start, count, &fill), count);
		if (!share->part && start / CHUNK % 64 == 0)
			xb_progress("building the filter", start, stage->count);
	}
	if (!share->part)
		xb_progress("building the filter", stage->count, stage->count);
	fill_end(&fill);
	return error;
}

static void *fill_share(void *context)
{
	struct share *share = context;
	struct xb_generation *generation = share->generation;
	const struct xb_contents *contents = share->contents;
	const struct stage stages[] = {
		{&generation->host4, &generation->confirm4, contents->host4_count, hash_host4},
		{&generation->net6, &generation->confirm6, contents->net6_count, hash_net6},
		{&generation->names, &generation->confirm_names, contents->names_count, hash_names},
		{&generation->scoped, &generation->confirm_scoped, contents->scoped_count,
		 hash_scoped},
	};

	for (size_t i = 0; !share->error && i < sizeof(stages) / sizeof(stages[0]); i++)
		if (stages[i].count)
			share->error = fill_stage(share, &stages[i]);
	return NULL;
}

#define SHARES_MAX	  64
#define KEYS_WORTH_THREAD 50000

static int fill_stages(struct xb_generation *generation, const struct xb_contents *contents)
{
	struct share shares[SHARES_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t parts = cpus > SHARES_MAX ? SHARES_MAX : cpus < 1 ? 1 : (uint32_t)cpus;
	bool started[SHARES_MAX] = {false};
	int error = 0;

	if (xb_contents_keys(contents) < KEYS_WORTH_THREAD)
		parts = 1;
	for (uint32_t i = 0; i < parts; i++) {
		shares[i] = (struct share){
			.generation = generation, .contents = contents, .part = i, .parts = parts};
		started[i] = i && !pthread_create(&shares[i].thread, NULL, fill_share, &shares[i]);
	}
	for (uint32_t i = 0; i < parts; i++)
		if (!started[i])
			fill_share(&shares[i]);
	for (uint32_t i = 0; i < parts; i++) {
		if (started[i])
			pthread_join(shares[i].thread, NULL);
		if (shares[i].error && !error)
			error = shares[i].error;
	}
	xb_exact_built(&generation->confirm4);
	xb_exact_built(&generation->confirm6);
	xb_exact_built(&generation->confirm_names);
	xb_exact_built(&generation->confirm_scoped);
	return error;
}

/* What stands in front of addresses that are listed for services. */
static void fill_scopes(struct xb_generation *generation, const struct xb_contents *contents)
{
	struct xb_lengths *lengths6 = (struct xb_lengths *)(void *)generation->scope_lengths6.base;
	uint64_t *ports = (uint64_t *)(void *)generation->scope_ports.base;
	uint64_t *lengths4 = (uint64_t *)(void *)generation->scope_lengths4.base;
	uint32_t cells = generation->params.scope_cells;

	for (uint32_t class = 1; class < XB_CLASSES; class ++)
		if (contents->classes >> class & 1 && contents->class[class].scope)
			xb_scopemap_add_ports(ports, contents->class[class].scope, class);
	for (size_t i = 0; i < contents->scoped_count; i++) {
		const struct xb_entry *entry = &contents->scoped[i].entry;

		if (xb_entry_is_ipv4(entry))
			xb_scopemap_mark4(lengths4, entry, contents->scoped[i].class);
		else
			xb_lengthmap_mark(lengths6,
					  xb_lengthmap_cell(&generation->params.key, cells, entry),
					  entry);
	}
}

static void fill_limits(struct xb_generation *generation, const struct xb_contents *contents)
{
	const struct xb_params *params = &generation->params;

	xb_limitmap_add_ports((uint64_t *)(void *)generation->limit_ports.base, &contents->limits);
	xb_limitmap_fill((struct xb_meter_line *)(void *)generation->meter.base,
			 params->limits.lines, params->generation);
}

/* One that has no place for a key is built anew, larger, as any exact table. */
static int fill_suffixes(struct xb_generation *generation, const struct xb_contents *contents)
{
	const struct xb_suffixes *suffixes = &contents->suffixes;
	const struct xb_buckets *geometry = &generation->params.suffixes;
	uint8_t *used = calloc((size_t)geometry->parts * geometry->size, 1);
	int error = used ? 0 : xb_out_of_memory();

	for (size_t i = 0; !error && i < suffixes->count; i++) {
		const struct xb_suffix_item *item = &suffixes->item[i];
		uint64_t hash = xb_name_hash(&generation->name_key, item->form, item->length);
		uint32_t says = item->says;

		error = xb_exact_build(&generation->suffixes, &hash, &says, 1, 0, geometry->parts,
				       used);
	}
	xb_exact_built(&generation->suffixes);
	free(used);
	return error;
}

static void fill_slotmap(struct xb_generation *generation, const struct xb_slotmap *slotmap)
{
	const struct xb_params *params = &generation->params;

	memcpy(generation->slots6.base, slotmap->slots, xb_map_bytes(XB_MAP_SLOTS6, params));
	memcpy(generation->cells6.base, slotmap->cells, xb_map_bytes(XB_MAP_CELLS6, params));
	memcpy(generation->lengths6.base, slotmap->others, xb_map_bytes(XB_MAP_LENGTHS6, params));
	generation->header->length_probes = xb_slotmap_most(slotmap);
}

static int fill_prefix6(struct xb_generation *generation, const struct xb_contents *contents)
{
	struct xb_prefix6map map = xb_generation_prefix6map(generation);
	int error = 0;

	for (size_t i = 0; !error && i < contents->prefix6_count; i++)
		error = xb_prefix6map_add(&map, &contents->prefix6[i]);
	return error;
}

int xb_fill(struct xb_generation *generation, const struct xb_contents *contents,
	    const struct xb_slotmap *slotmap)
{
	const struct xb_params *params = &generation->params;
	int error = xb_generation_map_all(generation);

	if (error)
		return error;
	for (size_t i = 0; i < contents->prefix4_count; i++)
		xb_prefixmap_add(&generation->prefix4, &contents->prefix4[i]);
	error = fill_prefix6(generation, contents);
	for (size_t i = 0; !error && i < contents->allow_count; i++)
		error = xb_allowmaps_add(&generation->allow, &contents->allow[i]);
	if (params->net6.blocks)
		fill_slotmap(generation, slotmap);
	for (size_t i = 0; i < contents->names_count; i++)
		xb_namedepths_list((struct xb_depths *)(void *)generation->depths.base,
				   &contents->names[i].entry);
	if (params->scoped.blocks)
		fill_scopes(generation, contents);
	if (params->limits.lines)
		fill_limits(generation, contents);
	if (!error && params->suffixes.parts)
		error = fill_suffixes(generation, contents);
	if (!error)
		error = fill_stages(generation, contents);
	generation->header->scoped_keys = contents->scoped_count;
	generation->header->host4_keys = contents->host4_count;
	generation->header->net6_keys = contents->net6_count;
	generation->header->names_keys = contents->names_count;
	return error;
}

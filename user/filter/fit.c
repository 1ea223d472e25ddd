/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/fit.h"

#include "filter/lengthmap.h"
#include "filter/levels6.h"
#include "filter/prefixmap.h"
#include "filter/scopemap.h"
#include "filter/slotmap.h"

/* Keys that a generation would have, by stage. */
struct load {
	uint64_t host4, net6, names, scoped;
};

/* Whether the generation has the stage for which the entry gets keys, and counts these. */
static bool takes_listed(const struct xb_params *params, const struct xb_entry *entry,
			 struct load *load)
{
	switch (entry->kind) {
	case XB_PREFIX4:
		return params->prefix4;
	case XB_HOST4:
		load->host4 += xb_entry_keys(entry);
		return params->host4.blocks;
	case XB_NET6:
		if (xb_prefix6map_takes(entry))
			return params->prefix6_pages;
		load->net6 += xb_levels6_keys(&params->levels6, entry);
		return params->net6.blocks;
	default:
		return true;
	}
}

/* The same for the classes that an entry comes to, or leaves. */
static bool takes_classes(const struct xb_params *params, const struct xb_change *change,
			  struct load *load)
{
	uint32_t differ = change->before ^ change->after;

	for (uint32_t class = 1; class < XB_CLASSES; class ++) {
		if (!(differ >> class & 1))
			continue;
		if (!params->scoped.blocks || !params->scopes.identity[class])
			return false;
		load->scoped += change->after >> class & 1;
	}
	return true;
}

static bool takes(const struct xb_params *params, const struct xb_change *change, struct load *load)
{
	uint32_t came = change->after & ~change->before;

	if (change->entry.kind == XB_NAME) {
		load->names += change->what == XB_LISTED;
		return params->names.blocks;
	}
	if (xb_entry_is_allow(&change->entry))
		return true;
	if (came & XB_CLASSES_ALL && !takes_listed(params, &change->entry, load))
		return false;
	return takes_classes(params, change, load);
}

/* So that a filter which a change fills can take others while a larger one is built. */
static bool is_near(uint64_t keys, const struct xb_geometry *bloom, bool confirmed)
{
	return keys <= xb_generation_full(bloom, confirmed) + bloom->capacity / 8;
}

bool xb_fit_accepts(const struct xb_generation *generation, const struct xb_changes *changes)
{
	const struct xb_params *params = &generation->params;
	struct load load = {.host4 = generation->header->host4_keys,
			    .net6 = generation->header->net6_keys,
			    .names = generation->header->names_keys,
			    .scoped = generation->header->scoped_keys};

	if (changes->bulk)
		return false;
	for (size_t i = 0; i < changes->count; i++)
		if (!takes(params, &changes->change[i], &load))
			return false;
	return is_near(load.host4, &params->host4, params->confirm) &&
	       is_near(load.net6, &params->net6, params->confirm) &&
	       is_near(load.names, &params->names, true) &&
	       is_near(load.scoped, &params->scoped, true) &&
	       load.names <= xb_exact_room(&params->confirm_names) &&
	       load.scoped <= xb_exact_room(&params->confirm_scoped) &&
	       (!params->confirm || (load.host4 <= xb_exact_room(&params->confirm4) &&
				     load.net6 <= xb_exact_room(&params->confirm6)));
}

/* The cell of the entry, and cell 0, which marking it reads. */
static int prepare_cell(const struct xb_generation *generation, struct xb_mapping *lengths,
			uint32_t cells, const struct xb_entry *entry)
{
	uint32_t cell = xb_lengthmap_cell(&generation->params.key, cells, entry);
	int error = xb_mapping_map(lengths, 0, sizeof(struct xb_lengths));

	return error ? error
		     : xb_mapping_map(lengths, cell * sizeof(struct xb_lengths),
				      sizeof(struct xb_lengths));
}

static int prepare_net6_key(struct xb_generation *generation, const struct xb_entry *key)
{
	uint64_t hash = xb_generation_hash(generation, key);
	int error = xb_bloom_prepare(&generation->net6, hash);

	if (!error && generation->params.confirm)
		error = xb_exact_prepare(&generation->confirm6, hash, 0);
	return error;
}

/* All keys of an entry have the same first 32 bits, and so the same cells. */
static int prepare_net6(struct xb_generation *generation, const struct xb_entry *entry)
{
	const struct xb_levels6 *levels = &generation->params.levels6;
	int error = xb_mapping_map_all(&generation->slots6);

	for (uint32_t i = 0; !error && i < xb_levels6_keys(levels, entry); i++) {
		struct xb_entry key = xb_levels6_key(levels, entry, i);

		error = prepare_net6_key(generation, &key);
	}
	if (!error)
		error = xb_mapping_map(&generation->cells6,
				       xb_slotmap_word(&generation->params, entry) *
					       sizeof(uint64_t),
				       sizeof(uint64_t));
	return error ? error
		     : prepare_cell(generation, &generation->lengths6,
				    generation->params.length_cells, entry);
}

static int prepare_host4(struct xb_generation *generation, const struct xb_entry *entry)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++) {
		uint32_t address = xb_entry_ipv4(entry) + i;
		uint64_t hash = xb_hash_ipv4(&generation->params.key, address);

		error = xb_bloom_prepare(&generation->host4, hash);
		if (!error && generation->params.confirm)
			error = xb_exact_prepare(&generation->confirm4, hash, address);
	}
	return error;
}

static int prepare_name(struct xb_generation *generation, const struct xb_entry *entry)
{
	uint64_t hash = xb_generation_hash(generation, entry);
	int error = xb_bloom_prepare(&generation->names, hash);

	if (!error)
		error = xb_exact_prepare(&generation->confirm_names, hash, 0);
	return error ? error : xb_mapping_map_all(&generation->depths);
}

static int prepare_lengths(struct xb_generation *generation, const struct xb_entry *entry)
{
	struct xb_mapping *lengths4 = &generation->scope_lengths4;
	struct xb_scope_span span;
	int error;

	if (!xb_entry_is_ipv4(entry))
		return prepare_cell(generation, &generation->scope_lengths6,
				    generation->params.scope_cells, entry);
	span = xb_scopemap_span4(entry);
	error = xb_mapping_map(lengths4, span.first * sizeof(uint64_t),
			       span.count * sizeof(uint64_t));
	return error ? error
		     : xb_mapping_map(lengths4, XB_SCOPE_CELLS4 * sizeof(uint64_t),
				      sizeof(uint64_t));
}

static int prepare_scoped(struct xb_generation *generation, const struct xb_entry *entry,
			  uint32_t classes)
{
	int error = prepare_lengths(generation, entry);

	for (uint32_t class = 1; !error && class < XB_CLASSES; class ++) {
		uint64_t hash = xb_scopemap_hash(&generation->params, entry, class);

		if (!(classes >> class & 1))
			continue;
		error = xb_bloom_prepare(&generation->scoped, hash);
		if (!error)
			error = xb_exact_prepare(&generation->confirm_scoped, hash, 0);
	}
	return error;
}

/* changes: of the whole change, each of which may take a page. */
static int prepare_prefix6(struct xb_generation *generation, const struct xb_entry *entry,
			   size_t changes)
{
	struct xb_prefix6map map = xb_generation_prefix6map(generation);

	return xb_prefix6map_prepare(&map, entry, (uint32_t)changes);
}

static int prepare_listed(struct xb_generation *generation, const struct xb_entry *entry,
			  size_t changes)
{
	return entry->kind == XB_PREFIX4    ? xb_prefixmap_prepare(&generation->prefix4, entry)
	       : entry->kind == XB_HOST4    ? prepare_host4(generation, entry)
	       : xb_prefix6map_takes(entry) ? prepare_prefix6(generation, entry, changes)
					    : prepare_net6(generation, entry);
}

static int prepare_address(struct xb_generation *generation, const struct xb_change *change,
			   size_t changes)
{
	uint32_t differ = change->before ^ change->after;
	int error =
		(differ & XB_CLASSES_ALL) ? prepare_listed(generation, &change->entry, changes) : 0;

	if (!error && differ & ~XB_CLASSES_ALL)
		error = prepare_scoped(generation, &change->entry, differ);
	return error;
}

/* From so many changes on, mapping everything is cheaper than page by page. */
#define MANY_CHANGES 256

int xb_fit_prepare(struct xb_generation *generation, const struct xb_changes *changes)
{
	int error = 0;

	if (changes->count >= MANY_CHANGES)
		return xb_generation_map_all(generation);
	for (size_t i = 0; !error && i < changes->count; i++) {
		const struct xb_entry *entry = &changes->change[i].entry;

		if (entry->kind == XB_NAME)
			error = prepare_name(generation, entry);
		else if (!xb_entry_is_allow(entry))
			error = prepare_address(generation, &changes->change[i], changes->count);
		else if (entry->kind != XB_ALLOW_NAME)
			error = xb_mapping_map_all(&generation->allow.gate);
		else if (generation->params.names.blocks)
			error = xb_mapping_map_all(&generation->depths);
	}
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the generation in force, changing it in place, publishing and removing. */
#include "filter/generation.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/knownpins.h"
#include "attach/pin.h"
#include "attach/swap.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/mapfault.h"
#include "filter/limitmap.h"

/* The mapping of a map that userspace changes by memory; NULL: it has none. */
static struct xb_mapping *window_of(struct xb_generation *generation, enum xb_map map)
{
	switch (map) {
	case XB_MAP_HOST4:
		return &generation->host4.bits;
	case XB_MAP_NET6:
		return &generation->net6.bits;
	case XB_MAP_SLOTS6:
		return &generation->slots6;
	case XB_MAP_CELLS6:
		return &generation->cells6;
	case XB_MAP_LENGTHS6:
		return &generation->lengths6;
	case XB_MAP_PREFIX4:
		return &generation->prefix4;
	case XB_MAP_PREFIX6:
		return &generation->prefix6;
	case XB_MAP_CONFIRM4:
		return &generation->confirm4.buckets;
	case XB_MAP_CONFIRM6:
		return &generation->confirm6.buckets;
	case XB_MAP_NAMES:
		return &generation->names.bits;
	case XB_MAP_CONFIRM_NAMES:
		return &generation->confirm_names.buckets;
	case XB_MAP_DEPTHS:
		return &generation->depths;
	case XB_MAP_GATE:
		return &generation->allow.gate;
	case XB_MAP_SCOPED:
		return &generation->scoped.bits;
	case XB_MAP_CONFIRM_SCOPED:
		return &generation->confirm_scoped.buckets;
	case XB_MAP_SCOPE_PORTS:
		return &generation->scope_ports;
	case XB_MAP_SCOPE_LENGTHS4:
		return &generation->scope_lengths4;
	case XB_MAP_SCOPE_LENGTHS6:
		return &generation->scope_lengths6;
	case XB_MAP_LIMIT_PORTS:
		return &generation->limit_ports;
	case XB_MAP_METER:
		return &generation->meter;
	case XB_MAP_SUFFIXES:
		return &generation->suffixes.buckets;
	default:
		return NULL;
	}
}

struct xb_generation *xb_generation_new(void)
{
	struct xb_generation *generation = calloc(1, sizeof(*generation));

	if (!generation) {
		xb_out_of_memory();
		return NULL;
	}
	generation->program = generation->file = -1;
	for (enum xb_map map = 0; map < XB_MAPS; map++)
		generation->map[map] = -1;
	return generation;
}

size_t xb_generation_file_bytes(const struct xb_params *params)
{
	return XB_COUNTERS_PAGE + ((size_t)params->host4.blocks + params->net6.blocks +
				   params->names.blocks + params->scoped.blocks) *
					  sizeof(struct xb_counters);
}

void xb_generation_counters_name(uint64_t store, const char *name, char file[XB_COUNTERS_NAME])
{
	snprintf(file, XB_COUNTERS_NAME, "%016llx-%.*s" XB_COUNTERS_SUFFIX,
		 (unsigned long long)store, XB_GENERATION_NAME - 1, name);
}

static void close_counters(struct xb_generation *generation)
{
	if (generation->header)
		munmap(generation->header, generation->file_bytes);
	if (generation->file >= 0)
		close(generation->file);
	generation->header = NULL;
	generation->host4.counters = generation->net6.counters = NULL;
	generation->names.counters = generation->scoped.counters = NULL;
	generation->file = -1;
}

void xb_generation_close(struct xb_generation *generation)
{
	if (!generation)
		return;
	for (enum xb_map map = 0; map < XB_MAPS; map++) {
		if (window_of(generation, map))
			xb_mapping_close(window_of(generation, map));
		if (generation->map[map] >= 0)
			close(generation->map[map]);
	}
	close_counters(generation);
	if (generation->program >= 0)
		close(generation->program);
	free(generation);
}

static int map_file(struct xb_generation *generation)
{
	void *place;

	if (generation->file < 0)
		return 0;
	generation->file_bytes = xb_generation_file_bytes(&generation->params);
	place = mmap(NULL, generation->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		     generation->file, 0);
	if (place == MAP_FAILED)
		return xb_system_error(errno, "cannot map the counters");
	xb_mapfault_expect(XB_COUNTERS_SUFFIX,
			   "the counters of the filter were cut off while they were in use; the "
			   "next command builds the filter anew");
	generation->header = place;
	generation->host4.counters =
		(struct xb_counters *)(void *)((uint8_t *)place + XB_COUNTERS_PAGE);
	generation->net6.counters = generation->host4.counters + generation->params.host4.blocks;
	generation->names.counters = generation->net6.counters + generation->params.net6.blocks;
	generation->scoped.counters = generation->names.counters + generation->params.names.blocks;
	return 0;
}

int xb_generation_map(struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	int error = 0;

	generation->host4.geometry = params->host4;
	generation->net6.geometry = params->net6;
	generation->confirm4.geometry = params->confirm4;
	generation->confirm6.geometry = params->confirm6;
	generation->confirm6.slots = XB_SLOTS_PREFIX;
	generation->host4.key = generation->net6.key = params->key;
	generation->confirm4.key4 = generation->confirm6.key4 = params->key4;
	generation->confirm6.key = params->key;
	generation->names.geometry = params->names;
	generation->names.key = params->key;
	generation->confirm_names.geometry = params->confirm_names;
	generation->confirm_names.slots = XB_SLOTS_NAME;
	generation->confirm_names.key = params->key;
	generation->scoped.geometry = params->scoped;
	generation->scoped.key = params->key;
	generation->confirm_scoped.geometry = params->confirm_scoped;
	generation->confirm_scoped.slots = XB_SLOTS_HASH;
	generation->confirm_scoped.key = params->key;
	generation->suffixes.geometry = params->suffixes;
	generation->suffixes.slots = XB_SLOTS_NAME;
	generation->suffixes.key = params->key;
	generation->allow.names = generation->map[XB_MAP_ALLOW_NAMES];
	generation->allow.key = &generation->name_key;
	generation->allow.depths = &generation->depths;
	generation->allow.trie4 = generation->map[XB_MAP_ALLOW4];
	generation->allow.trie6 = generation->map[XB_MAP_ALLOW6];
	for (enum xb_map map = 0; !error && map < XB_MAPS; map++)
		if (window_of(generation, map) && xb_map_entries(map, params))
			error = xb_mapping_open(window_of(generation, map), generation->map[map],
						xb_map_bytes(map, params));
	return error ? error : map_file(generation);
}

double xb_generation_rate(const struct xb_generation *generation)
{
	double rate;

	memcpy(&rate, &generation->params.rate, sizeof(rate));
	return rate;
}

bool xb_generation_is_sound(const struct xb_generation *generation)
{
	return generation->header && !generation->header->dirty;
}

void xb_generation_note_known(const struct xb_paths *paths, struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;

	generation->known = params->known || xb_limitmap_know(&params->limits)
				    ? xb_knownpins_identity(paths->pins)
				    : 0;
}

/* Whether it admits known sources, those of now, just if it should; and its limits know those of
 * now, if there are any. */
static bool knows_whom_it_should(const struct xb_generation *generation, const struct xb_meta *meta)
{
	const struct xb_params *params = &generation->params;
	bool admits = meta->policy == XB_POLICY_ALLOW_ONLY && meta->admits_known;

	if (params->admits_known != admits || (admits && !params->known))
		return false;
	return admits || xb_limitmap_know(&params->limits) ? params->known == generation->known
							   : !params->known;
}

/* Whether it may answer queries. */
static bool answers(const struct xb_params *params)
{
	return params->names.blocks || params->limits.truncates;
}

bool xb_generation_fits(const struct xb_generation *generation, const struct xb_meta *meta)
{
	const struct xb_params *params = &generation->params;
	double rate = xb_generation_rate(generation), wanted = xb_meta_rate(meta);

	return !(rate > wanted) && !(rate < wanted) && params->confirm == !meta->unconfirmed &&
	       params->allow_only == (meta->policy == XB_POLICY_ALLOW_ONLY) &&
	       knows_whom_it_should(generation, meta) &&
	       (!answers(params) || params->answer_limit == meta->answer_limit) &&
	       (!params->names.blocks ||
		!memcmp(&params->ports, &meta->ports, sizeof(params->ports)));
}

int xb_generation_policy(const struct xb_generation *generation, uint32_t *policy)
{
	uint32_t first = 0;

	if (bpf_map_lookup_elem(generation->map[XB_MAP_POLICY], &first, policy))
		return xb_system_error(errno, "cannot read the policy");
	return 0;
}

int xb_generation_set_policy(const struct xb_generation *generation, uint32_t policy)
{
	uint32_t first = 0;

	if (bpf_map_update_elem(generation->map[XB_MAP_POLICY], &first, &policy, BPF_ANY))
		return xb_system_error(errno, "cannot set the policy");
	return 0;
}

bool xb_generation_is_current(const struct xb_generation *generation, const struct xb_meta *meta)
{
	return generation->header->applied == meta->sequence &&
	       generation->header->mark == meta->mark;
}

int xb_generation_match(const struct xb_generation *generation, const struct xb_meta *meta)
{
	if (generation->params.store != meta->identity ||
	    !xb_generation_is_current(generation, meta) || !xb_generation_fits(generation, meta))
		return -ENOENT;
	return xb_generation_set_policy(generation, meta->policy);
}

uint64_t xb_generation_full(const struct xb_geometry *bloom, bool confirmed)
{
	return bloom->capacity + (confirmed ? bloom->capacity / 8 : 0);
}

bool xb_generation_is_full(const struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	const struct xb_counters_header *header = generation->header;

	return header->host4_keys > xb_generation_full(&params->host4, params->confirm) ||
	       header->net6_keys > xb_generation_full(&params->net6, params->confirm) ||
	       header->names_keys > xb_generation_full(&params->names, true) ||
	       header->scoped_keys > xb_generation_full(&params->scoped, true) ||
	       (params->net6.blocks && header->length_probes > params->length_probes);
}

uint64_t xb_generation_hash(const struct xb_generation *generation, const struct xb_entry *entry)
{
	const struct xb_params *params = &generation->params;

	return xb_entry_is_name(entry)
		       ? xb_name_hash(&generation->name_key, entry->name, entry->length)
		       : xb_hash_ipv6(&params->key6, entry->hi, entry->lo, entry->length);
}

struct xb_slotmap xb_generation_slotmap(const struct xb_generation *generation)
{
	return (struct xb_slotmap){
		.slots = (struct xb_slots6 *)(void *)generation->slots6.base,
		.cells = (uint64_t *)(void *)generation->cells6.base,
		.others = (struct xb_lengths *)(void *)generation->lengths6.base,
		.params = &generation->params,
	};
}

struct xb_prefix6map xb_generation_prefix6map(struct xb_generation *generation)
{
	return (struct xb_prefix6map){.words = &generation->prefix6,
				      .pages = generation->params.prefix6_pages,
				      .taken = &generation->header->prefix6_taken};
}

int xb_generation_map_all(struct xb_generation *generation)
{
	int error = 0;

	for (enum xb_map map = 0; !error && map < XB_MAPS; map++) {
		struct xb_mapping *window = window_of(generation, map);

		if (window && window->base)
			error = xb_mapping_map_all(window);
	}
	return error;
}

int xb_generation_pin(const struct xb_paths *paths, struct xb_generation *generation)
{
	int error = 0;

	for (enum xb_map map = 0; !error && map < XB_MAPS; map++)
		if (generation->map[map] >= 0)
			error = xb_pin(generation->map[map], paths->pins, generation->name,
				       xb_map_name(map));
	return error ? error
		     : xb_pin(generation->program, paths->pins, generation->name, "program");
}

int xb_generation_publish(const struct xb_paths *paths, const struct xb_anchor *anchor,
			  struct xb_generation *generation)
{
	int error;

	xb_fault("publish-before");
	error = xb_anchor_swap(anchor, generation->program);
	if (error)
		return error;
	generation->in_force = true;
	xb_fault("publish-swapped");
	xb_anchor_quiesce();
	xb_generation_sweep(paths, generation->params.store, generation->name);
	return 0;
}

static void remove_pins(const struct xb_paths *paths, const char *keep)
{
	DIR *listing = opendir(paths->pins);
	struct dirent *item;

	if (!listing)
		return;
	while ((item = readdir(listing)))
		if (!strncmp(item->d_name, XB_GENERATION_PREFIX, strlen(XB_GENERATION_PREFIX)) &&
		    (!keep || strcmp(item->d_name, keep)))
			xb_unpin_directory(paths->pins, XB_PINS_TOP, item->d_name);
	closedir(listing);
}

void xb_generation_sweep_counters(const struct xb_paths *paths, uint64_t store, const char *keep)
{
	char ours[32], kept[XB_COUNTERS_NAME] = "";
	int directory = xb_directory_below(paths->run, XB_COUNTERS_DIRECTORY);
	DIR *listing = directory < 0 ? NULL : fdopendir(directory);
	struct dirent *item;

	if (!listing) {
		if (directory >= 0)
			close(directory);
		return;
	}
	snprintf(ours, sizeof(ours), "%016llx-", (unsigned long long)store);
	if (keep)
		xb_generation_counters_name(store, keep, kept);
	while ((item = readdir(listing)))
		if (!strncmp(item->d_name, ours, strlen(ours)) && strcmp(item->d_name, kept))
			unlinkat(directory, item->d_name, 0);
	closedir(listing);
}

static void remove_own_counters(const struct xb_paths *paths,
				const struct xb_generation *generation)
{
	int directory = xb_directory_below(paths->run, XB_COUNTERS_DIRECTORY);
	char file[XB_COUNTERS_NAME];

	if (directory < 0)
		return;
	xb_generation_counters_name(generation->params.store, generation->name, file);
	unlinkat(directory, file, 0);
	close(directory);
}

void xb_generation_discard(const struct xb_paths *paths, struct xb_generation *generation)
{
	if (!generation)
		return;
	xb_unpin_directory(paths->pins, XB_PINS_TOP, generation->name);
	remove_own_counters(paths, generation);
	xb_generation_close(generation);
}

void xb_generation_forget_counters(const struct xb_paths *paths, struct xb_generation *generation)
{
	remove_own_counters(paths, generation);
	close_counters(generation);
}

void xb_generation_sweep(const struct xb_paths *paths, uint64_t store, const char *keep)
{
	remove_pins(paths, keep);
	xb_generation_sweep_counters(paths, store, keep);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From keys to a generation: size it, check that it fits, load it, have it filled. */
#include "filter/build.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/classcounts.h"
#include "attach/pin.h"
#include "base/capability.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/processor.h"
#include "filter.skel.h"
#include "filter/demand.h"
#include "filter/fill.h"
#include "filter/levels6.h"
#include "filter/limitmap.h"
#include "filter/scopemap.h"
#include "filter/slotmap.h"

#define MIB (1024.0 * 1024)

/* A call gives all that it is asked for if that is no more than 256 bytes. */
static int draw_name_key(const struct xb_build *build, struct xb_name_key *key)
{
	size_t done = 0;

	if (build->keys_of)
		*key = build->keys_of->name_key;
	while (!build->keys_of && done < sizeof(*key)) {
		ssize_t got = getrandom((uint8_t *)key + done, sizeof(*key) - done, 0);

		if (got < 0 && errno != EINTR)
			return xb_system_error(errno, "no random numbers");
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int random_params(const struct xb_build *build, struct xb_params *params)
{
	params->store = build->store;
	memcpy(&params->rate, &build->rate, sizeof(params->rate));
	while (!params->generation)
		if (getrandom(&params->generation, sizeof(params->generation), 0) < 0)
			return xb_system_error(errno, "no random numbers");
	if (build->keys_of) {
		params->key = build->keys_of->params.key;
		params->key4 = build->keys_of->params.key4;
		params->key6 = build->keys_of->params.key6;
		return 0;
	}
	if (getrandom(&params->key, sizeof(params->key), 0) != sizeof(params->key) ||
	    getrandom(&params->key4, sizeof(params->key4), 0) != sizeof(params->key4) ||
	    getrandom(&params->key6, sizeof(params->key6), 0) != sizeof(params->key6))
		return xb_system_error(errno, "no random numbers");
	xb_exact_key4(&params->key4);
	return 0;
}

/* Cells enough that a clean source seldom falls on a listed /32's cell: four for each /32 in the
 * list. */
static uint32_t cells_for(uint64_t distinct)
{
	return distinct > UINT32_MAX / 8 ? UINT32_MAX / 2 : (uint32_t)(4 * distinct + 1024);
}

/* Whether a prefix has another /32 than the one before, which *last notes. */
static bool is_next_head(const struct xb_entry *entry, uint64_t *last)
{
	if (entry->kind != XB_NET6 || entry->length < XB_LENGTH_SPLIT || entry->hi >> 32 == *last)
		return false;
	*last = entry->hi >> 32;
	return true;
}

static uint32_t count_scope_cells(const struct xb_contents *contents)
{
	uint64_t distinct = 0, last = UINT64_MAX;

	for (size_t i = 0; i < contents->scoped_count; i++)
		distinct += is_next_head(&contents->scoped[i].entry, &last);
	return cells_for(distinct);
}

/* What is to be built, with IPv6 prefixes as keys of their levels, and which lengths can match. */
struct layout {
	struct xb_contents contents;
	struct xb_entry *keys6;
	struct xb_slotmap map;
};

static void free_layout(const struct layout *layout)
{
	free(layout->keys6);
	free(layout->map.slots);
	free(layout->map.cells);
	free(layout->map.others);
}

static int lay_out_levels(const struct xb_build *build, const struct xb_contents *contents,
			  struct xb_params *params, struct layout *layout)
{
	int error;

	if (build->size_of)
		params->levels6 = build->size_of->levels6;
	else
		xb_levels6_choose(contents->net6, contents->net6_count, &params->levels6);
	layout->contents = *contents;
	error = xb_levels6_expand(&params->levels6, contents->net6, contents->net6_count,
				  &layout->keys6, &layout->contents.net6_count);
	if (layout->keys6)
		layout->contents.net6 = layout->keys6;
	return error;
}

static enum xb_direct6 direct_kind(const struct xb_slots6 *slots)
{
	if (!(slots->always & 1))
		return XB_DIRECT6_NONE;
	return slots->length[0] == 128 ? XB_DIRECT6_HOSTS : XB_DIRECT6_PREFIXES;
}

static int lay_out_lengths(const struct xb_build *build, const struct xb_contents *contents,
			   struct xb_params *params, struct xb_slotmap *map)
{
	struct xb_slotmap_plan plan = xb_slotmap_plan(contents->net6, contents->net6_count);

	params->cell_words = build->size_of ? build->size_of->cell_words : plan.cell_words;
	params->length_cells = build->size_of ? build->size_of->length_cells : plan.length_cells;
	*map = (struct xb_slotmap){
		.slots = calloc(1, sizeof(*map->slots)),
		.cells = calloc((size_t)params->cell_words + 1, sizeof(*map->cells)),
		.others = calloc((size_t)params->length_cells + 1, sizeof(*map->others)),
		.params = params,
	};
	if (!map->slots || !map->cells || !map->others)
		return xb_out_of_memory();
	xb_slotmap_begin(map, &plan);
	for (size_t i = 0; i < contents->net6_count; i++)
		xb_slotmap_mark(map, &contents->net6[i]);
	params->direct6 = map->slots->slot[0];
	params->direct6_kind = direct_kind(map->slots);
	return 0;
}

static int create_counters(const struct xb_paths *paths, struct xb_generation *generation)
{
	struct xb_counters_header header = {.magic = XB_COUNTERS_MAGIC,
					    .generation = generation->params.generation,
					    .dirty = 1};
	char file[XB_COUNTERS_NAME];
	int directory = xb_directory_shared(paths->run, XB_COUNTERS_DIRECTORY), error = 0;

	if (directory < 0)
		return directory;
	xb_generation_counters_name(generation->params.store, generation->name, file);
	xb_fault("counters-create");
	generation->file =
		openat(directory, file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (generation->file < 0)
		error = xb_system_error(errno, "cannot create the counters in %s", paths->run);
	close(directory);
	if (error)
		return error;
	error = posix_fallocate(generation->file, 0,
				(off_t)xb_generation_file_bytes(&generation->params));
	if (error)
		return xb_system_error(error, "cannot allocate the counters in %s", paths->run);
	if (pwrite(generation->file, &header, sizeof(header), 0) != sizeof(header))
		return xb_system_error(errno, "cannot write the counters in %s", paths->run);
	return 0;
}

static void size_maps(const struct filter_bpf *skeleton, const struct xb_params *params)
{
	for (enum xb_map i = 0; i < XB_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(skeleton->obj, xb_map_name(i));
		uint32_t entries = xb_map_entries(i, params);

		if (entries)
			bpf_map__set_max_entries(map, entries);
		else
			bpf_map__set_autocreate(map, false);
	}
}

/* The maps of known sources are those that are pinned, which outlive generations. */
static int lend_known(const struct xb_build *build, const struct filter_bpf *skeleton)
{
	struct bpf_map *state = skeleton->maps.known_state, *sets = skeleton->maps.known_sets;
	int error;

	if (!build->known) {
		bpf_map__set_autocreate(state, false);
		bpf_map__set_autocreate(sets, false);
		return 0;
	}
	error = bpf_map__reuse_fd(state, build->known->state);
	return error ? error : bpf_map__reuse_fd(sets, build->known->sets);
}

static int take_fd(int fd, int *out)
{
	*out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *out < 0 ? xb_system_error(errno, "cannot duplicate a descriptor") : 0;
}

static int take_fds(const struct filter_bpf *skeleton, struct xb_generation *generation)
{
	int error =
		take_fd(bpf_program__fd(skeleton->progs.xdp_bloom_filter), &generation->program);

	for (enum xb_map i = 0; !error && i < XB_MAPS; i++)
		if (xb_map_entries(i, &generation->params))
			error = take_fd(
				bpf_object__find_map_fd_by_name(skeleton->obj, xb_map_name(i)),
				&generation->map[i]);
	return error;
}

/* Loads the program and its maps; pins the parameters and the key of names, which userspace reads
 * back from there. */
static int load(const struct xb_build *build, struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	const char *pins = build->paths->pins;
	struct filter_bpf *skeleton;
	int error = xb_capabilities_need();

	if (error)
		return error;
	skeleton = filter_bpf__open();
	if (!skeleton)
		return xb_system_error(errno, "cannot open the filter program");
	skeleton->rodata_params->params = *params;
	skeleton->rodata_params->params.reads_in_order = XB_READS_IN_ORDER;
	skeleton->rodata_name_key->name_key = generation->name_key;
	size_maps(skeleton, params);
	error = xb_anchor_lend(build->anchor, skeleton->obj);
	if (!error)
		error = lend_known(build, skeleton);
	xb_anchor_set_flavour(build->anchor, skeleton->progs.xdp_bloom_filter);
	if (!error)
		error = filter_bpf__load(skeleton);
	if (error) {
		error = xb_system_error(-error, "the kernel refused a filter of %.1f MiB",
					(double)xb_maps_bytes(params) / MIB);
		goto out;
	}
	error = take_fds(skeleton, generation);
	if (!error)
		error = xb_class_counts_begin(build->anchor, params);
	if (!error)
		error = xb_pin_subdirectory(pins, generation->name);
	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.rodata_params), pins, generation->name,
			       "params");
	if (!error && xb_params_hash_names(params))
		error = xb_pin(bpf_map__fd(skeleton->maps.rodata_name_key), pins, generation->name,
			       "name_key");
out:
	filter_bpf__destroy(skeleton);
	return error;
}

static uint64_t count_allowed_names(const struct xb_contents *contents)
{
	uint64_t count = 0;

	for (size_t i = 0; i < contents->allow_count; i++)
		count += xb_entry_is_name(&contents->allow[i]);
	return count;
}

static int size_generation(const struct xb_build *build, const struct xb_contents *contents,
			   uint32_t slack, uint32_t probes, struct xb_params *params)
{
	const struct xb_demand demand = {
		.host4_keys = contents->host4_count,
		.net6_keys = contents->net6_count,
		.names_keys = contents->names_count,
		.scoped_keys = contents->scoped_count,
		.allow_names = count_allowed_names(contents),
		.prefix4 = contents->prefix4_count,
		.prefix6_pages =
			contents->prefix6_count
				? xb_prefix6map_pages(contents->prefix6, contents->prefix6_count)
				: 0,
		.length_probes = probes,
		.length_cells = params->length_cells,
		.cell_words = params->cell_words,
		.scope_cells = count_scope_cells(contents),
		.rate = build->rate,
		.confirm = build->confirm,
		.suffixes = contents->suffixes.count,
		.slack = slack,
		.capacity = build->capacity,
	};
	struct xb_params own;

	params->limits = xb_limitmap_limits(&contents->limits);
	params->known = build->known ? build->known->known->identity : 0;
	params->admits_known = build->known && build->admits_known;
	own = *params;
	params->allow_only = build->policy == XB_POLICY_ALLOW_ONLY;
	params->ports = build->ports;
	params->answer_limit = build->answer_limit;
	if (contents->scoped_count)
		params->scopes = xb_scopemap_scopes(contents->class, contents->classes);
	if (!build->size_of)
		return xb_demand_size(&demand, params);
	*params = *build->size_of;
	params->generation = own.generation;
	params->store = own.store;
	params->rate = own.rate;
	params->key = own.key;
	params->key4 = own.key4;
	params->key6 = own.key6;
	params->direct6_kind = own.direct6_kind;
	params->direct6 = own.direct6;
	params->limits = own.limits;
	params->known = own.known;
	params->admits_known = own.admits_known;
	xb_demand_size_suffixes(&demand, params);
	return 0;
}

/* Draws keys and decides sizes. *layout: to be freed by the caller. */
static int lay_out(const struct xb_build *build, const struct xb_contents *contents, uint32_t slack,
		   struct xb_params *params, struct layout *layout)
{
	int error = random_params(build, params);

	*layout = (struct layout){0};
	if (!error)
		error = lay_out_levels(build, contents, params, layout);
	if (!error)
		error = lay_out_lengths(build, &layout->contents, params, &layout->map);
	if (!error)
		error = size_generation(build, &layout->contents, slack,
					xb_slotmap_most(&layout->map), params);
	return error ? error : xb_demand_check(build->paths, params);
}

int xb_build_rehearse(const struct xb_build *build, const struct xb_contents *contents)
{
	struct xb_params params = {0};
	struct layout layout;
	int error = lay_out(build, contents, 0, &params, &layout);

	free_layout(&layout);
	return error;
}

static int build_once(const struct xb_build *build, const struct xb_contents *contents,
		      uint32_t slack, struct xb_generation **out)
{
	struct xb_generation *generation = xb_generation_new();
	struct layout layout;
	struct xb_params *params;
	int error;

	*out = NULL;
	if (!generation)
		return -ENOMEM;
	params = &generation->params;
	error = lay_out(build, contents, slack, params, &layout);
	if (!error && xb_params_hash_names(params))
		error = draw_name_key(build, &generation->name_key);
	if (error) {
		free_layout(&layout);
		xb_generation_close(generation);
		return error;
	}
	generation->known = params->known;
	snprintf(generation->name, sizeof(generation->name), XB_GENERATION_PREFIX "%016llx",
		 (unsigned long long)params->generation);
	error = load(build, generation);
	if (!error)
		error = create_counters(build->paths, generation);
	if (!error)
		error = xb_generation_map(generation);
	if (!error)
		error = xb_fill(generation, &layout.contents, &layout.map);
	if (!error)
		error = xb_generation_set_policy(generation, build->policy);
	if (error)
		goto fail;
	generation->header->applied = build->sequence;
	generation->header->mark = build->mark;
	__atomic_store_n(&generation->header->dirty, 0, __ATOMIC_SEQ_CST);
	error = xb_generation_pin(build->paths, generation);
	if (error)
		goto fail;
	free_layout(&layout);
	*out = generation;
	return 0;
fail:
	free_layout(&layout);
	xb_generation_discard(build->paths, generation);
	return error;
}

/* A key the exact look-up had no place for, though it is not full, as when most addresses are
 * listed by several ranges: a larger one will have. */
#define BUILD_TRIES 6

int xb_build(const struct xb_build *build, const struct xb_contents *contents,
	     struct xb_generation **out)
{
	int error = -EXFULL;

	for (uint32_t tries = 0; error == -EXFULL && tries < BUILD_TRIES; tries++)
		error = build_once(build, contents, tries, out);
	return error == -EXFULL ? xb_system_error(0,
						  "the exact look-up could not be built: no "
						  "place for a key in %d tries",
						  BUILD_TRIES)
				: error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each stage gets its share of the wanted capacity; maps are memory, counters a file in the run
 * directory, which is memory as a rule. */
#include "filter/demand.h"

#include <errno.h>
#include <string.h>
#include <sys/vfs.h>

#include "attach/pin.h"
#include "base/error.h"
#include "base/memory.h"
#include "bloom/exact.h"
#include "bloom/sizing.h"
#include "filter/generation.h"
#include "filter/maps.h"

#define MIB		(1024.0 * 1024)
#define ALLOW_NAMES_MIN 1024

/* A stage's share of the wanted capacity, at least its keys and some room to grow. */
static uint64_t stage_capacity(uint64_t keys, uint64_t all, uint64_t wanted)
{
	uint64_t needed = keys + xb_size_headroom(keys);
	double share = (double)wanted * (double)keys / (double)all;

	if (share <= (double)needed)
		return needed;
	return share < (double)UINT64_MAX ? (uint64_t)share : UINT64_MAX;
}

/* The exact table for so many keys, and some eighths of them more. */
static int size_confirm(uint64_t keys, uint32_t slack, enum xb_slots slots,
			struct xb_buckets *buckets)
{
	*buckets = xb_size_exact(keys + keys / 8 * slack, slots);
	return (uint64_t)buckets->parts * buckets->size < UINT32_MAX
		       ? 0
		       : xb_input_error(
				 "%llu keys are more than one exact table can be addressed for",
				 (unsigned long long)keys);
}

/* Names are always confirmed, since the verdict of each stands there; so the rate is only a matter
 * of cost. */
static int size_names(const struct xb_demand *demand, uint64_t capacity, struct xb_params *params)
{
	int error = xb_size_bloom(capacity, XB_CONFIRMED_RATE, &params->names);

	if (demand->allow_names > (UINT32_MAX - ALLOW_NAMES_MIN) / 2)
		return xb_input_error("%llu allowed names are more than one map can have",
				      (unsigned long long)demand->allow_names);
	params->allow_names = (uint32_t)(demand->allow_names * 2 + ALLOW_NAMES_MIN);
	return error ? error
		     : size_confirm(capacity, demand->slack, XB_SLOTS_NAME, &params->confirm_names);
}

static int size_host4(const struct xb_demand *demand, uint64_t capacity, struct xb_params *params)
{
	int error = xb_size_bloom(capacity, demand->rate, &params->host4);

	return error || !demand->confirm
		       ? error
		       : size_confirm(capacity, demand->slack, XB_SLOTS_ADDRESS, &params->confirm4);
}

static int size_net6(const struct xb_demand *demand, uint64_t capacity, struct xb_params *params)
{
	int error;

	params->length_cells = demand->length_cells;
	params->cell_words = demand->cell_words;
	/* Room for lengths to come, so that the next one is no reason to build anew. */
	params->length_probes = demand->length_probes + demand->length_probes / 4 + 1;
	error = xb_size_bloom(capacity, demand->rate / params->length_probes, &params->net6);
	return error || !demand->confirm
		       ? error
		       : size_confirm(capacity, demand->slack, XB_SLOTS_PREFIX, &params->confirm6);
}

/* Always confirmed, since the exact table alone tells one class from another. */
static int size_scoped(const struct xb_demand *demand, uint64_t capacity, struct xb_params *params)
{
	int error = xb_size_bloom(capacity, XB_CONFIRMED_RATE, &params->scoped);

	params->scope_cells = demand->scope_cells;
	return error ? error
		     : size_confirm(capacity, demand->slack, XB_SLOTS_HASH,
				    &params->confirm_scoped);
}

void xb_demand_size_suffixes(const struct xb_demand *demand, struct xb_params *params)
{
	uint64_t keys = demand->suffixes;

	params->suffixes = keys ? xb_size_exact(keys + keys / 8 * demand->slack, XB_SLOTS_NAME)
				: (struct xb_buckets){0};
}

int xb_demand_size(const struct xb_demand *demand, struct xb_params *params)
{
	const struct {
		uint64_t keys;
		int (*size)(const struct xb_demand *demand, uint64_t capacity,
			    struct xb_params *params);
	} stages[] = {{demand->host4_keys, size_host4},
		      {demand->net6_keys, size_net6},
		      {demand->names_keys, size_names},
		      {demand->scoped_keys, size_scoped}};
	uint64_t all =
		demand->host4_keys + demand->net6_keys + demand->names_keys + demand->scoped_keys;
	int error = 0;

	params->host4 = params->net6 = params->names = params->scoped = (struct xb_geometry){0};
	params->confirm4 = params->confirm6 = (struct xb_buckets){0};
	params->confirm_names = params->confirm_scoped = (struct xb_buckets){0};
	params->allow_names = params->scope_cells = 0;
	params->prefix4 = demand->prefix4;
	params->prefix6_pages = demand->prefix6_pages;
	params->confirm = demand->confirm;
	params->length_cells = params->cell_words = params->length_probes = 0;
	params->layout = XB_GENERATION_LAYOUT;
	xb_demand_size_suffixes(demand, params);
	for (size_t i = 0; !error && i < sizeof(stages) / sizeof(stages[0]); i++)
		if (stages[i].keys)
			error = stages[i].size(
				demand, stage_capacity(stages[i].keys, all, demand->capacity),
				params);
	return error ? -E2BIG : 0;
}

/* What verifying the largest program takes, on whose account it is loaded: 7 MiB and 29 were
 * measured on Linux 6.18. */
static uint64_t verification_bytes(const struct xb_params *params)
{
	return (xb_params_hash_names(params) || params->limits.truncates ? 32ULL : 8ULL) << 20;
}

static uint64_t bytes_free(const struct statfs *fs)
{
	return (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
}

/* Of the file system the run directory is on, or will be. UINT64_MAX: nobody knows. */
static uint64_t run_available(const struct xb_paths *paths)
{
	char parent[XB_PATH_MAX];
	struct statfs fs;

	if (!statfs(paths->run, &fs))
		return bytes_free(&fs);
	if (errno != ENOENT || xb_path_parent(parent, paths->run) || statfs(parent, &fs))
		return UINT64_MAX;
	return bytes_free(&fs);
}

int xb_demand_check(const struct xb_paths *paths, const struct xb_params *params)
{
	uint64_t maps = xb_maps_bytes(params), counters = xb_generation_file_bytes(params);
	uint64_t verification = verification_bytes(params), available = xb_memory_available();
	uint64_t room = run_available(paths);

	if (maps + counters + verification > available) {
		xb_system_error(0,
				"the filter needs %.0f MiB, its counters %.0f MiB and its "
				"verification %.0f MiB; %.0f MiB are available",
				(double)maps / MIB, (double)counters / MIB,
				(double)verification / MIB, (double)available / MIB);
		return -ENOSPC;
	}
	if (counters > room) {
		xb_system_error(0, "the counters need %llu KiB in %s; %llu KiB are free",
				(unsigned long long)(counters + 1023) / 1024, paths->run,
				(unsigned long long)room / 1024);
		return -ENOSPC;
	}
	return 0;
}

bool xb_demand_is_met(const struct xb_paths *paths, uint64_t keys)
{
	uint64_t available = xb_memory_available(), room = run_available(paths);
	uint64_t least = room < available ? room : available;

	return room != UINT64_MAX && least > XB_DEMAND_BYTES &&
	       keys <= (least - XB_DEMAND_BYTES) / XB_DEMAND_KEY_BYTES;
}

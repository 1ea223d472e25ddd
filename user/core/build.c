/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From keys to a generation: size it, check that it fits, load it, fill it. */
#include "build.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "error.h"
#include "filter.skel.h"
#include "lengthmap.h"
#include "pin.h"
#include "prefixmap.h"
#include "sizing.h"

#define MIB (1024.0 * 1024)

/* A stage's share of the wanted capacity, at least its keys and some room to grow. */
static uint64_t stage_capacity(uint64_t keys, uint64_t all, uint64_t wanted)
{
	uint64_t needed = keys + xb_size_headroom(keys);
	double share = (double)wanted * (double)keys / (double)all;

	return share > (double)needed ? (uint64_t)share : needed;
}

int xb_build_size(uint64_t host4_keys, uint64_t net6_keys, bool prefix4, uint32_t length_probes,
		  uint32_t length_cells, double rate, uint64_t capacity, struct xb_params *params)
{
	uint64_t all = host4_keys + net6_keys;
	int error = 0;

	params->host4 = params->net6 = (struct xb_geometry){0};
	params->prefix4 = prefix4;
	params->length_cells = params->length_probes = 0;
	params->layout = XB_GENERATION_LAYOUT;
	if (host4_keys)
		error = xb_size_bloom(stage_capacity(host4_keys, all, capacity), rate,
				      &params->host4);
	if (!error && net6_keys) {
		params->length_cells = length_cells;
		/* Room for lengths to come, so that the next one is no reason to build anew. */
		params->length_probes = length_probes + length_probes / 4 + 1;
		error = xb_size_bloom(stage_capacity(net6_keys, all, capacity),
				      rate / params->length_probes, &params->net6);
	}
	return error;
}

static uint64_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	if (!file)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(file);
	return kib ? kib * 1024 : UINT64_MAX;
}

int xb_build_check_room(const struct xb_paths *paths, const struct xb_params *params)
{
	struct xb_memory memory = xb_generation_memory(params);
	uint64_t maps = memory.host4_bits + memory.net6_bits + memory.prefix4 + memory.lengths6;
	uint64_t available = memory_available();
	struct statfs fs;

	if (maps + memory.counters > available)
		return xb_system_error(0,
				       "the filter needs %.0f MiB and its counters %.0f MiB; %.0f "
				       "MiB are available",
				       (double)maps / MIB, (double)memory.counters / MIB,
				       (double)available / MIB);
	if (mkdir(paths->run, 0700) < 0 && errno != EEXIST)
		return xb_system_error(errno, "cannot make the run directory %s", paths->run);
	if (!statfs(paths->run, &fs) &&
	    (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < memory.counters)
		return xb_system_error(0, "the counters need %.0f MiB in %s; %.0f MiB are free",
				       (double)memory.counters / MIB, paths->run,
				       (double)fs.f_bavail * (double)fs.f_bsize / MIB);
	return 0;
}

static int random_params(const struct xb_build *build, struct xb_params *params)
{
	params->store = build->store;
	memcpy(&params->rate, &build->rate, sizeof(params->rate));
	while (!params->generation)
		if (getrandom(&params->generation, sizeof(params->generation), 0) < 0)
			return xb_system_error(errno, "no random numbers");
	if (build->key)
		params->key = *build->key;
	else if (getrandom(&params->key, sizeof(params->key), 0) != sizeof(params->key))
		return xb_system_error(errno, "no random numbers");
	return 0;
}

/* Cells enough that a clean source seldom falls on a listed /32's cell: four for each /32 in the
 * list. */
static uint32_t count_cells(const struct xb_keys *keys)
{
	uint64_t distinct = 0, last = UINT64_MAX;

	for (size_t i = 0; i < keys->net6_count; i++) {
		if (keys->net6[i].length >= XB_LENGTH_SPLIT && keys->net6[i].hi >> 32 != last) {
			last = keys->net6[i].hi >> 32;
			distinct++;
		}
	}
	return distinct > UINT32_MAX / 8 ? UINT32_MAX / 2 : (uint32_t)(4 * distinct + 1024);
}

static struct xb_lengths *length_table(const struct xb_keys *keys, const struct xb_key *key,
				       uint32_t cells)
{
	struct xb_lengths *table = calloc((size_t)cells + 1, sizeof(*table));

	if (!table)
		return NULL;
	for (size_t i = 0; i < keys->net6_count; i++)
		xb_lengthmap_mark(table, xb_lengthmap_cell(key, cells, &keys->net6[i]),
				  &keys->net6[i]);
	return table;
}

static int create_counters(const struct xb_paths *paths, struct xb_generation *generation)
{
	struct xb_counters_header header = {.magic = XB_COUNTERS_MAGIC,
					    .generation = generation->params.generation,
					    .dirty = 1};
	char path[XB_PATH_MAX];
	int error = xb_generation_counters_path(paths, generation->params.store, generation->name,
						path, sizeof(path));

	if (error)
		return error;
	generation->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (generation->file < 0)
		return xb_system_error(errno, "cannot create %s", path);
	error = posix_fallocate(generation->file, 0,
				(off_t)xb_generation_file_bytes(&generation->params));
	if (error)
		return xb_system_error(error, "cannot allocate the counters in %s", paths->run);
	if (pwrite(generation->file, &header, sizeof(header), 0) != sizeof(header))
		return xb_system_error(errno, "cannot write %s", path);
	return 0;
}

static void size_map(struct bpf_map *map, uint32_t entries)
{
	if (entries)
		bpf_map__set_max_entries(map, entries);
	else
		bpf_map__set_autocreate(map, false);
}

static int take_fd(int fd, int *out)
{
	*out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *out < 0 ? xb_system_error(errno, "cannot duplicate a descriptor") : 0;
}

static int take_fds(const struct filter_bpf *skeleton, struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	int error =
		take_fd(bpf_program__fd(skeleton->progs.xdp_bloom_filter), &generation->program);

	if (!error && params->host4.blocks)
		error = take_fd(bpf_map__fd(skeleton->maps.host4), &generation->host4_map);
	if (!error && params->net6.blocks)
		error = take_fd(bpf_map__fd(skeleton->maps.net6), &generation->net6_map);
	if (!error && params->net6.blocks)
		error = take_fd(bpf_map__fd(skeleton->maps.lengths6), &generation->lengths6_map);
	if (!error && params->prefix4)
		error = take_fd(bpf_map__fd(skeleton->maps.prefix4), &generation->prefix4_map);
	return error;
}

/* Loads the program and its maps; pins the parameters, which userspace reads back from there. */
static int load(const struct xb_build *build, struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;
	struct filter_bpf *skeleton = filter_bpf__open();
	char directory[XB_PATH_MAX];
	int error;

	if (!skeleton)
		return xb_system_error(errno, "cannot open the filter program");
	skeleton->rodata_params->params = *params;
	size_map(skeleton->maps.host4, params->host4.blocks);
	size_map(skeleton->maps.net6, params->net6.blocks);
	size_map(skeleton->maps.lengths6, params->net6.blocks ? params->length_cells + 1 : 0);
	size_map(skeleton->maps.prefix4, params->prefix4 ? XB_PREFIX4_WORDS : 0);
	error = bpf_map__reuse_fd(skeleton->maps.ifaces, build->link->ifaces);
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.stats, build->link->stats);
	/* A program array takes programs of its entry's flavour only. */
	if (build->link->flavour == XB_FLAVOUR_LINK)
		bpf_program__set_flags(skeleton->progs.xdp_bloom_filter, BPF_F_XDP_HAS_FRAGS);
	else
		bpf_program__set_expected_attach_type(skeleton->progs.xdp_bloom_filter, 0);
	if (!error)
		error = filter_bpf__load(skeleton);
	if (error) {
		struct xb_memory memory = xb_generation_memory(params);

		error = xb_system_error(-error, "the kernel refused a filter of %.1f MiB",
					(double)(memory.host4_bits + memory.net6_bits +
						 memory.lengths6 + memory.prefix4) /
						MIB);
		goto out;
	}
	error = take_fds(skeleton, generation);
	if (!error)
		error = xb_pin_path(directory, build->paths->pins, generation->name);
	if (!error && mkdir(directory, 0700) < 0)
		error = xb_system_error(errno, "cannot make %s", directory);
	if (!error)
		error = xb_pin(bpf_map__fd(skeleton->maps.rodata_params), directory, "params");
out:
	filter_bpf__destroy(skeleton);
	return error;
}

/* One thread's work: the keys that fall on its share of the blocks. */
struct share {
	struct xb_generation *generation;
	const struct xb_keys *keys;
	uint32_t part, parts;
	pthread_t thread;
};

#define CHUNK 4096

static uint32_t share_start(uint32_t blocks, uint32_t part, uint32_t parts)
{
	return (uint32_t)((uint64_t)blocks * part / parts);
}

static void fill_host4(const struct share *share)
{
	struct xb_generation *generation = share->generation;
	const struct xb_keys *keys = share->keys;
	uint32_t blocks = generation->params.host4.blocks;
	uint64_t hashes[CHUNK];

	for (size_t start = 0; start < keys->host4_count; start += CHUNK) {
		size_t count =
			keys->host4_count - start < CHUNK ? keys->host4_count - start : CHUNK;

		for (size_t i = 0; i < count; i++)
			hashes[i] = xb_hash_ipv4(&generation->params.key, keys->host4[start + i]);
		xb_counting_build(&generation->host4, hashes, count,
				  share_start(blocks, share->part, share->parts),
				  share_start(blocks, share->part + 1, share->parts));
		if (!share->part && start / CHUNK % 64 == 0)
			xb_progress("building the filter", start, keys->host4_count);
	}
	if (!share->part)
		xb_progress("building the filter", keys->host4_count, keys->host4_count);
}

static void fill_net6(const struct share *share)
{
	struct xb_generation *generation = share->generation;
	const struct xb_keys *keys = share->keys;
	uint32_t blocks = generation->params.net6.blocks;
	uint64_t hashes[CHUNK];

	for (size_t start = 0; start < keys->net6_count; start += CHUNK) {
		size_t count = keys->net6_count - start < CHUNK ? keys->net6_count - start : CHUNK;

		for (size_t i = 0; i < count; i++) {
			const struct xb_entry *entry = &keys->net6[start + i];

			hashes[i] = xb_hash_ipv6(&generation->params.key, entry->hi, entry->lo,
						 entry->length);
		}
		xb_counting_build(&generation->net6, hashes, count,
				  share_start(blocks, share->part, share->parts),
				  share_start(blocks, share->part + 1, share->parts));
	}
}

static void *fill_share(void *context)
{
	fill_host4(context);
	fill_net6(context);
	return NULL;
}

#define SHARES_MAX	  64
#define KEYS_WORTH_THREAD 50000

static void fill_blooms(struct xb_generation *generation, const struct xb_keys *keys)
{
	struct share shares[SHARES_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t parts = cpus > SHARES_MAX ? SHARES_MAX : cpus < 1 ? 1 : (uint32_t)cpus;
	bool started[SHARES_MAX] = {false};

	if (keys->host4_count + keys->net6_count < KEYS_WORTH_THREAD)
		parts = 1;
	for (uint32_t i = 0; i < parts; i++) {
		shares[i] = (struct share){
			.generation = generation, .keys = keys, .part = i, .parts = parts};
		started[i] = i && !pthread_create(&shares[i].thread, NULL, fill_share, &shares[i]);
	}
	for (uint32_t i = 0; i < parts; i++)
		if (!started[i])
			fill_share(&shares[i]);
	for (uint32_t i = 0; i < parts; i++)
		if (started[i])
			pthread_join(shares[i].thread, NULL);
}

static int map_whole(struct xb_window *window)
{
	return window->base ? xb_window_map_all(window) : 0;
}

static int fill(struct xb_generation *generation, const struct xb_keys *keys,
		const struct xb_lengths *table)
{
	const struct xb_params *params = &generation->params;
	int error = map_whole(&generation->host4.bits);

	if (!error)
		error = map_whole(&generation->net6.bits);
	if (!error)
		error = map_whole(&generation->lengths6);
	if (!error)
		error = map_whole(&generation->prefix4);
	if (error)
		return error;
	for (size_t i = 0; i < keys->prefix4_count; i++)
		xb_prefixmap_add(&generation->prefix4, &keys->prefix4[i]);
	if (params->net6.blocks) {
		memcpy(generation->lengths6.base, table,
		       ((size_t)params->length_cells + 1) * sizeof(*table));
		generation->header->length_probes = xb_lengthmap_most(table, params->length_cells);
	}
	fill_blooms(generation, keys);
	generation->header->host4_keys = keys->host4_count;
	generation->header->net6_keys = keys->net6_count;
	return 0;
}

static int size_generation(const struct xb_build *build, const struct xb_keys *keys,
			   uint32_t probes, uint32_t cells, struct xb_params *params)
{
	if (!build->size)
		return xb_build_size(keys->host4_count, keys->net6_count, keys->prefix4_count,
				     probes, cells, build->rate, build->capacity, params);
	params->host4 = build->size->host4;
	params->net6 = build->size->net6;
	params->prefix4 = build->size->prefix4;
	params->length_cells = build->size->length_cells;
	params->length_probes = build->size->length_probes;
	params->layout = XB_GENERATION_LAYOUT;
	return 0;
}

int xb_build(const struct xb_build *build, const struct xb_keys *keys, struct xb_generation **out)
{
	struct xb_generation *generation = calloc(1, sizeof(*generation));
	struct xb_lengths *table = NULL;
	uint32_t cells = build->size ? build->size->length_cells : count_cells(keys);
	struct xb_params *params;
	int error;

	*out = NULL;
	if (!generation)
		return xb_out_of_memory();
	generation->program = generation->host4_map = generation->net6_map =
		generation->lengths6_map = generation->prefix4_map = generation->file = -1;
	params = &generation->params;
	error = random_params(build, params);
	if (error)
		goto fail;
	snprintf(generation->name, sizeof(generation->name), XB_GENERATION_PREFIX "%016llx",
		 (unsigned long long)params->generation);
	table = length_table(keys, &params->key, cells);
	if (!table) {
		error = xb_out_of_memory();
		goto fail;
	}
	error = size_generation(build, keys, xb_lengthmap_most(table, cells), cells, params);
	if (!error)
		error = xb_build_check_room(build->paths, params);
	if (!error)
		error = load(build, generation);
	if (!error)
		error = create_counters(build->paths, generation);
	if (!error)
		error = xb_generation_map(generation);
	if (!error)
		error = fill(generation, keys, table);
	if (error)
		goto fail;
	generation->header->applied = build->sequence;
	__atomic_store_n(&generation->header->dirty, 0, __ATOMIC_SEQ_CST);
	error = xb_generation_pin(build->paths, generation);
	if (error)
		goto fail;
	free(table);
	*out = generation;
	return 0;
fail:
	free(table);
	xb_generation_discard(build->paths, generation);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the generation in force, changing it in place, publishing and removing. */
#include "generation.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changelog.h"
#include "error.h"
#include "fault.h"
#include "lengthmap.h"
#include "pin.h"
#include "prefixmap.h"

static const char *const map_names[XB_MAPS] = {
	[XB_MAP_HOST4] = "host4",	[XB_MAP_NET6] = "net6",
	[XB_MAP_LENGTHS6] = "lengths6", [XB_MAP_PREFIX4] = "prefix4",
	[XB_MAP_CONFIRM4] = "confirm4", [XB_MAP_CONFIRM6] = "confirm6",
	[XB_MAP_GATE] = "allow_gate",	[XB_MAP_ALLOW4] = "allow4",
	[XB_MAP_ALLOW6] = "allow6",	[XB_MAP_POLICY] = "policy",
};

const char *xb_map_name(enum xb_map map)
{
	return map_names[map];
}

static uint32_t bucket_entries(const struct xb_buckets *buckets)
{
	return (uint32_t)(xb_confirm_bytes(buckets) / sizeof(struct xb_bucket));
}

uint32_t xb_map_entries(enum xb_map map, const struct xb_params *params)
{
	switch (map) {
	case XB_MAP_HOST4:
		return params->host4.blocks;
	case XB_MAP_NET6:
		return params->net6.blocks;
	case XB_MAP_LENGTHS6:
		return params->net6.blocks ? params->length_cells + 1 : 0;
	case XB_MAP_PREFIX4:
		return params->prefix4 ? XB_PREFIX4_WORDS : 0;
	case XB_MAP_CONFIRM4:
		return bucket_entries(&params->confirm4);
	case XB_MAP_CONFIRM6:
		return bucket_entries(&params->confirm6);
	case XB_MAP_GATE:
		return XB_GATE_ALL_WORDS;
	case XB_MAP_ALLOW4:
	case XB_MAP_ALLOW6:
		return XB_ALLOW_MAX;
	case XB_MAP_POLICY:
		return 1;
	case XB_MAPS:
		break;
	}
	return 0;
}

uint64_t xb_map_bytes(enum xb_map map, const struct xb_params *params)
{
	static const uint32_t value_bytes[XB_MAPS] = {
		[XB_MAP_HOST4] = sizeof(struct xb_block),
		[XB_MAP_NET6] = sizeof(struct xb_block),
		[XB_MAP_LENGTHS6] = sizeof(struct xb_lengths),
		[XB_MAP_PREFIX4] = sizeof(uint64_t),
		[XB_MAP_CONFIRM4] = sizeof(struct xb_bucket),
		[XB_MAP_CONFIRM6] = sizeof(struct xb_bucket),
		[XB_MAP_GATE] = sizeof(uint64_t),
		[XB_MAP_POLICY] = sizeof(uint32_t),
	};

	return (uint64_t)xb_map_entries(map, params) * value_bytes[map];
}

uint64_t xb_generation_bytes(const struct xb_params *params)
{
	uint64_t bytes = 0;

	for (enum xb_map map = 0; map < XB_MAPS; map++)
		bytes += xb_map_bytes(map, params);
	return bytes;
}

/* The mapping of a map that userspace changes by memory; NULL: it has none. */
static struct xb_window *window_of(struct xb_generation *generation, enum xb_map map)
{
	switch (map) {
	case XB_MAP_HOST4:
		return &generation->host4.bits;
	case XB_MAP_NET6:
		return &generation->net6.bits;
	case XB_MAP_LENGTHS6:
		return &generation->lengths6;
	case XB_MAP_PREFIX4:
		return &generation->prefix4;
	case XB_MAP_CONFIRM4:
		return &generation->confirm4.buckets;
	case XB_MAP_CONFIRM6:
		return &generation->confirm6.buckets;
	case XB_MAP_GATE:
		return &generation->allow.gate;
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
	return XB_COUNTERS_PAGE +
	       ((size_t)params->host4.blocks + params->net6.blocks) * sizeof(struct xb_counters);
}

#define COUNTERS_SUFFIX ".counters"

int xb_generation_counters_path(const struct xb_paths *paths, uint64_t store, const char *name,
				char *path, size_t size)
{
	if ((size_t)snprintf(path, size, "%s/%016llx-%s" COUNTERS_SUFFIX, paths->run,
			     (unsigned long long)store, name) >= size)
		return xb_input_error("%s: path too long", paths->run);
	return 0;
}

void xb_generation_close(struct xb_generation *generation)
{
	if (!generation)
		return;
	for (enum xb_map map = 0; map < XB_MAPS; map++) {
		if (window_of(generation, map))
			xb_window_close(window_of(generation, map));
		if (generation->map[map] >= 0)
			close(generation->map[map]);
	}
	if (generation->header)
		munmap(generation->header, generation->file_bytes);
	if (generation->program >= 0)
		close(generation->program);
	if (generation->file >= 0)
		close(generation->file);
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
	generation->header = place;
	generation->host4.counters =
		(struct xb_counters *)(void *)((uint8_t *)place + XB_COUNTERS_PAGE);
	generation->net6.counters = generation->host4.counters + generation->params.host4.blocks;
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
	generation->confirm6.wide = true;
	generation->host4.key = generation->net6.key = params->key;
	generation->confirm4.key = generation->confirm6.key = params->key;
	generation->allow.trie4 = generation->map[XB_MAP_ALLOW4];
	generation->allow.trie6 = generation->map[XB_MAP_ALLOW6];
	for (enum xb_map map = 0; !error && map < XB_MAPS; map++)
		if (window_of(generation, map) && xb_map_entries(map, params))
			error = xb_window_open(window_of(generation, map), generation->map[map],
					       xb_map_bytes(map, params));
	return error ? error : map_file(generation);
}

/* A file of the right size that names this generation, or -1. */
static int open_counters(const struct xb_paths *paths, const struct xb_generation *generation)
{
	struct xb_counters_header header;
	char path[XB_PATH_MAX];
	struct stat st;
	int fd;

	if (xb_generation_counters_path(paths, generation->params.store, generation->name, path,
					sizeof(path)))
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 ||
	    (size_t)st.st_size != xb_generation_file_bytes(&generation->params) ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != XB_COUNTERS_MAGIC ||
	    header.generation != generation->params.generation) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_pins(const char *directory, struct xb_generation *generation)
{
	struct xb_params *params = &generation->params;
	int error, fd = xb_pin_open(directory, "params");
	uint32_t zero = 0;

	if (fd < 0)
		return fd;
	error = bpf_map_lookup_elem(fd, &zero, params)
			? xb_system_error(errno, "cannot read %s/params", directory)
			: 0;
	close(fd);
	if (!error && params->layout != XB_GENERATION_LAYOUT)
		return -ENOENT; /* another version's: to be built anew */
	for (enum xb_map map = 0; !error && map < XB_MAPS; map++) {
		if (!xb_map_entries(map, params))
			continue;
		generation->map[map] = xb_pin_open(directory, xb_map_name(map));
		error = generation->map[map] < 0 ? generation->map[map] : 0;
	}
	return error;
}

/* The name of the pin directory whose program has this identity. *program: a descriptor of it. */
static int find_active(const char *pins, uint32_t id, char *name, size_t size, int *program)
{
	struct dirent *item;
	DIR *listing = opendir(pins);
	int error = -ENOENT;

	if (!listing)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", pins);
	while (error == -ENOENT && (item = readdir(listing))) {
		char directory[XB_PATH_MAX];
		int fd;

		if (strncmp(item->d_name, XB_GENERATION_PREFIX, strlen(XB_GENERATION_PREFIX)) ||
		    strlen(item->d_name) >= size)
			continue;
		if (xb_pin_path(directory, pins, item->d_name))
			continue;
		fd = xb_pin_open(directory, "program");
		if (fd < 0)
			continue;
		if (xb_program_id(fd) != id) {
			close(fd);
			continue;
		}
		strcpy(name, item->d_name);
		*program = fd;
		error = 0;
	}
	closedir(listing);
	return error;
}

int xb_generation_open(const struct xb_paths *paths, const struct xb_link *link,
		       struct xb_generation **out)
{
	struct xb_generation *generation;
	char directory[XB_PATH_MAX];
	uint32_t id = xb_link_active(link);
	int error;

	*out = NULL;
	if (!id)
		return -ENOENT;
	generation = xb_generation_new();
	if (!generation)
		return -ENOMEM;
	error = find_active(paths->pins, id, generation->name, sizeof(generation->name),
			    &generation->program);
	if (!error)
		error = xb_pin_path(directory, paths->pins, generation->name);
	if (!error)
		error = open_pins(directory, generation);
	if (!error) {
		generation->file = open_counters(paths, generation);
		error = xb_generation_map(generation);
	}
	if (error) {
		xb_generation_close(generation);
		return error;
	}
	*out = generation;
	return 0;
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

bool xb_generation_accepts(const struct xb_generation *generation, const struct xb_changes *changes)
{
	const struct xb_params *params = &generation->params;
	uint64_t host4 = generation->header->host4_keys, net6 = generation->header->net6_keys;

	if (changes->bulk)
		return false;
	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_entry *entry = &changes->change[i].entry;
		bool listed = changes->change[i].listed;
		uint64_t keys = listed ? xb_entry_keys(entry) : 0;

		if (entry->kind == XB_PREFIX4 && !params->prefix4)
			return false;
		if (entry->kind == XB_HOST4 && !params->host4.blocks)
			return false;
		if (entry->kind == XB_NET6 && !params->net6.blocks)
			return false;
		if (entry->kind == XB_HOST4)
			host4 += keys;
		if (entry->kind == XB_NET6)
			net6 += keys;
	}
	return host4 <= params->host4.capacity + params->host4.capacity / 8 &&
	       net6 <= params->net6.capacity + params->net6.capacity / 8 &&
	       (!params->confirm || (host4 <= xb_confirm_room(&params->confirm4, false) &&
				     net6 <= xb_confirm_room(&params->confirm6, true)));
}

bool xb_generation_fits(const struct xb_generation *generation, const struct xb_meta *meta)
{
	const struct xb_params *params = &generation->params;
	double rate = xb_generation_rate(generation), wanted = xb_meta_rate(meta);

	return !(rate > wanted) && !(rate < wanted) && params->confirm == !meta->unconfirmed &&
	       params->allow_only == (meta->policy == XB_POLICY_ALLOW_ONLY);
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

bool xb_generation_is_full(const struct xb_generation *generation)
{
	const struct xb_params *params = &generation->params;

	return generation->header->host4_keys > params->host4.capacity ||
	       generation->header->net6_keys > params->net6.capacity ||
	       (params->net6.blocks && generation->header->length_probes > params->length_probes);
}

static uint64_t hash_net6(const struct xb_generation *generation, const struct xb_entry *entry)
{
	return xb_hash_ipv6(&generation->params.key, entry->hi, entry->lo, entry->length);
}

static int prepare_net6(struct xb_generation *generation, const struct xb_entry *entry)
{
	uint32_t cell =
		xb_lengthmap_cell(&generation->params.key, generation->params.length_cells, entry);
	uint64_t hash = hash_net6(generation, entry);
	int error = xb_counting_prepare(&generation->net6, hash);

	if (!error && generation->params.confirm)
		error = xb_confirm_prepare(&generation->confirm6, hash);
	if (!error)
		error = xb_window_map(&generation->lengths6, 0, sizeof(struct xb_lengths));
	if (!error)
		error = xb_window_map(&generation->lengths6, cell * sizeof(struct xb_lengths),
				      sizeof(struct xb_lengths));
	return error;
}

static int prepare_host4(struct xb_generation *generation, const struct xb_entry *entry)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++) {
		uint64_t hash = xb_hash_ipv4(&generation->params.key, xb_entry_ipv4(entry) + i);

		error = xb_counting_prepare(&generation->host4, hash);
		if (!error && generation->params.confirm)
			error = xb_confirm_prepare(&generation->confirm4, hash);
	}
	return error;
}

/* From so many changes on, mapping everything is cheaper than page by page. */
#define MANY_CHANGES 256

int xb_generation_map_all(struct xb_generation *generation)
{
	int error = 0;

	for (enum xb_map map = 0; !error && map < XB_MAPS; map++) {
		struct xb_window *window = window_of(generation, map);

		if (window && window->base)
			error = xb_window_map_all(window);
	}
	return error;
}

int xb_generation_prepare(struct xb_generation *generation, const struct xb_changes *changes)
{
	int error = 0;

	if (changes->count >= MANY_CHANGES)
		return xb_generation_map_all(generation);
	for (size_t i = 0; !error && i < changes->count; i++) {
		const struct xb_entry *entry = &changes->change[i].entry;

		switch (entry->kind) {
		case XB_PREFIX4:
			error = xb_prefixmap_prepare(&generation->prefix4, entry);
			break;
		case XB_HOST4:
			error = prepare_host4(generation, entry);
			break;
		case XB_NET6:
			error = prepare_net6(generation, entry);
			break;
		default:
			error = xb_window_map_all(&generation->allow.gate);
		}
	}
	return error;
}

static int mismatch(void)
{
	return xb_system_error(0, "the filter does not match the list; it is built anew by the "
				  "next command");
}

/* One stage pair, and the count of its keys. */
struct stage {
	struct xb_counting *bloom;
	struct xb_confirm *confirm; /* NULL: there is none */
	uint64_t *keys;
};

/* A bit that is on must find its key behind it: confirm comes first on the way in, last on the way
 * out. */
static int change_key(const struct stage *stage, uint64_t hash, uint32_t address, bool listed)
{
	int error;

	if (listed) {
		error = stage->confirm ? xb_confirm_add(stage->confirm, hash, address) : 0;
		if (error)
			return error;
		xb_counting_add(stage->bloom, hash);
		++*stage->keys;
		return 0;
	}
	if (xb_counting_delete(stage->bloom, hash) ||
	    (stage->confirm && xb_confirm_delete(stage->confirm, hash, address)))
		return mismatch();
	--*stage->keys;
	return 0;
}

static int apply_net6(struct xb_generation *generation, const struct xb_entry *entry, bool listed)
{
	struct xb_counters_header *header = generation->header;
	struct xb_lengths *table = (struct xb_lengths *)(void *)generation->lengths6.base;
	uint32_t cells = generation->params.length_cells, probes;
	uint32_t cell = xb_lengthmap_cell(&generation->params.key, cells, entry);
	const struct stage stage = {
		.bloom = &generation->net6,
		.confirm = generation->params.confirm ? &generation->confirm6 : NULL,
		.keys = &header->net6_keys,
	};
	int error = change_key(&stage, hash_net6(generation, entry), 0, listed);

	if (error || !listed)
		return error;
	/* A length below /32 costs every source a probe more, unless it was there. */
	if (!cell && !(table[0].bits[0] >> entry->length & 1))
		header->length_probes++;
	probes = xb_lengthmap_mark(table, cell, entry);
	if (probes > header->length_probes)
		header->length_probes = probes;
	return 0;
}

static int apply_host4(struct xb_generation *generation, const struct xb_entry *entry, bool listed)
{
	const struct stage stage = {
		.bloom = &generation->host4,
		.confirm = generation->params.confirm ? &generation->confirm4 : NULL,
		.keys = &generation->header->host4_keys,
	};
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++) {
		uint32_t address = xb_entry_ipv4(entry) + i;

		error = change_key(&stage, xb_hash_ipv4(&generation->params.key, address), address,
				   listed);
	}
	return error;
}

static int apply_prefix4(struct xb_generation *generation, struct xb_txn *txn,
			 const struct xb_change *change)
{
	if (!change->listed)
		return xb_prefixmap_settle(&generation->prefix4, txn, &change->entry);
	xb_prefixmap_add(&generation->prefix4, &change->entry);
	return 0;
}

static int apply_change(struct xb_generation *generation, struct xb_txn *txn,
			const struct xb_change *change, bool *disallowed)
{
	switch (change->entry.kind) {
	case XB_PREFIX4:
		return apply_prefix4(generation, txn, change);
	case XB_HOST4:
		return apply_host4(generation, &change->entry, change->listed);
	case XB_NET6:
		return apply_net6(generation, &change->entry, change->listed);
	default:
		*disallowed |= !change->listed;
		return change->listed ? xb_allow_add(&generation->allow, &change->entry)
				      : xb_allow_delete(&generation->allow, txn, &change->entry);
	}
}

int xb_generation_apply(struct xb_generation *generation, struct xb_txn *txn,
			const struct xb_changes *changes, uint64_t sequence)
{
	struct xb_counters_header *header = generation->header;
	bool disallowed = false;
	int error = 0;

	__atomic_store_n(&header->dirty, 1, __ATOMIC_SEQ_CST);
	xb_fault("apply-dirty");
	for (size_t i = 0; !error && i < changes->count; i++) {
		if (i == changes->count / 2)
			xb_fault("apply-half");
		error = apply_change(generation, txn, &changes->change[i], &disallowed);
	}
	if (!error && disallowed)
		error = xb_allow_settle(&generation->allow, txn);
	if (error)
		return error;
	xb_fault("apply-done");
	__atomic_store_n(&header->applied, sequence, __ATOMIC_SEQ_CST);
	__atomic_store_n(&header->dirty, 0, __ATOMIC_SEQ_CST);
	return 0;
}

int xb_generation_replay(struct xb_generation *generation, struct xb_txn *txn)
{
	while (generation->header->applied < txn->meta.sequence) {
		uint64_t next = generation->header->applied + 1;
		struct xb_changes changes;
		int error = xb_changelog_read(txn, next, &changes);

		if (error)
			return error;
		if (!xb_generation_accepts(generation, &changes)) {
			xb_changes_free(&changes);
			return -ENOENT;
		}
		error = xb_generation_prepare(generation, &changes);
		if (!error)
			error = xb_generation_apply(generation, txn, &changes, next);
		xb_changes_free(&changes);
		if (error)
			return error == -ENOSPC ? -ENOENT : error;
	}
	return generation->header->applied == txn->meta.sequence ? 0 : -ENOENT;
}

int xb_generation_pin(const struct xb_paths *paths, struct xb_generation *generation)
{
	char directory[XB_PATH_MAX];
	int error = xb_pin_path(directory, paths->pins, generation->name);

	for (enum xb_map map = 0; !error && map < XB_MAPS; map++)
		if (generation->map[map] >= 0)
			error = xb_pin(generation->map[map], directory, xb_map_name(map));
	return error ? error : xb_pin(generation->program, directory, "program");
}

int xb_generation_publish(const struct xb_paths *paths, const struct xb_link *link,
			  struct xb_generation *generation)
{
	int error;

	xb_fault("publish-before");
	error = xb_link_swap(link, generation->program);
	if (error)
		return error;
	xb_fault("publish-swapped");
	xb_link_quiesce();
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
			xb_unpin_directory(paths->pins, item->d_name);
	closedir(listing);
}

static void remove_counters(const struct xb_paths *paths, uint64_t store, const char *keep)
{
	char ours[32], kept[XB_PATH_MAX] = "";
	DIR *listing = opendir(paths->run);
	struct dirent *item;

	if (!listing)
		return;
	snprintf(ours, sizeof(ours), "%016llx-", (unsigned long long)store);
	if (keep)
		snprintf(kept, sizeof(kept), "%s%s" COUNTERS_SUFFIX, ours, keep);
	while ((item = readdir(listing)))
		if (!strncmp(item->d_name, ours, strlen(ours)) && strcmp(item->d_name, kept))
			unlinkat(dirfd(listing), item->d_name, 0);
	closedir(listing);
}

void xb_generation_discard(const struct xb_paths *paths, struct xb_generation *generation)
{
	char path[XB_PATH_MAX];

	if (!generation)
		return;
	xb_unpin_directory(paths->pins, generation->name);
	if (!xb_generation_counters_path(paths, generation->params.store, generation->name, path,
					 sizeof(path)))
		unlink(path);
	xb_generation_close(generation);
}

void xb_generation_sweep(const struct xb_paths *paths, uint64_t store, const char *keep)
{
	remove_pins(paths, keep);
	remove_counters(paths, store, keep);
}

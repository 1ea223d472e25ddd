/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the generation in force, changing it in place, publishing and removing. */
#include "generation.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "changelog.h"
#include "error.h"
#include "fault.h"
#include "lengthmap.h"
#include "pin.h"
#include "prefixmap.h"

struct xb_memory xb_generation_memory(const struct xb_params *params)
{
	return (struct xb_memory){
		.host4_bits = (uint64_t)params->host4.blocks * sizeof(struct xb_block),
		.net6_bits = (uint64_t)params->net6.blocks * sizeof(struct xb_block),
		.prefix4 = params->prefix4 ? (uint64_t)XB_PREFIX4_WORDS * 8 : 0,
		.lengths6 = params->net6.blocks ? ((uint64_t)params->length_cells + 1) *
							  sizeof(struct xb_lengths)
						: 0,
		.counters = xb_generation_file_bytes(params),
	};
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
	int fds[] = {generation->program,      generation->host4_map,	generation->net6_map,
		     generation->lengths6_map, generation->prefix4_map, generation->file};

	xb_window_close(&generation->host4.bits);
	xb_window_close(&generation->net6.bits);
	xb_window_close(&generation->lengths6);
	xb_window_close(&generation->prefix4);
	if (generation->header)
		munmap(generation->header, generation->file_bytes);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
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
	struct xb_memory memory = xb_generation_memory(params);
	int error = 0;

	generation->host4.geometry = params->host4;
	generation->net6.geometry = params->net6;
	generation->host4.key = generation->net6.key = params->key;
	if (memory.host4_bits)
		error = xb_window_open(&generation->host4.bits, generation->host4_map,
				       memory.host4_bits);
	if (!error && memory.net6_bits)
		error = xb_window_open(&generation->net6.bits, generation->net6_map,
				       memory.net6_bits);
	if (!error && memory.lengths6)
		error = xb_window_open(&generation->lengths6, generation->lengths6_map,
				       memory.lengths6);
	if (!error && memory.prefix4)
		error = xb_window_open(&generation->prefix4, generation->prefix4_map,
				       memory.prefix4);
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

/* Opens the pin of a map that the generation has only with some stage. */
static int open_map(const char *directory, const char *name, bool present, int *fd)
{
	if (!present)
		return 0;
	*fd = xb_pin_open(directory, name);
	return *fd < 0 ? *fd : 0;
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
	if (!error)
		error = open_map(directory, "host4", params->host4.blocks, &generation->host4_map);
	if (!error)
		error = open_map(directory, "net6", params->net6.blocks, &generation->net6_map);
	if (!error)
		error = open_map(directory, "lengths6", params->net6.blocks,
				 &generation->lengths6_map);
	if (!error)
		error = open_map(directory, "prefix4", params->prefix4, &generation->prefix4_map);
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
	generation = calloc(1, sizeof(*generation));
	if (!generation)
		return xb_out_of_memory();
	generation->program = generation->host4_map = generation->net6_map =
		generation->lengths6_map = generation->prefix4_map = generation->file = -1;
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
	       net6 <= params->net6.capacity + params->net6.capacity / 8;
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
	int error = xb_counting_prepare(&generation->net6, hash_net6(generation, entry));

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

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++)
		error = xb_counting_prepare(
			&generation->host4,
			xb_hash_ipv4(&generation->params.key, xb_entry_ipv4(entry) + i));
	return error;
}

/* From so many changes on, mapping everything is cheaper than page by page. */
#define MANY_CHANGES 256

static int map_everything(struct xb_generation *generation)
{
	struct xb_window *windows[] = {&generation->host4.bits, &generation->net6.bits,
				       &generation->lengths6, &generation->prefix4};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(windows) / sizeof(windows[0]); i++)
		if (windows[i]->base)
			error = xb_window_map_all(windows[i]);
	return error;
}

int xb_generation_prepare(struct xb_generation *generation, const struct xb_changes *changes)
{
	int error = 0;

	if (changes->count >= MANY_CHANGES)
		return map_everything(generation);
	for (size_t i = 0; !error && i < changes->count; i++) {
		const struct xb_entry *entry = &changes->change[i].entry;

		if (entry->kind == XB_PREFIX4)
			error = xb_prefixmap_prepare(&generation->prefix4, entry);
		else if (entry->kind == XB_HOST4)
			error = prepare_host4(generation, entry);
		else
			error = prepare_net6(generation, entry);
	}
	return error;
}

static int change_key(struct xb_counting *filter, uint64_t hash, bool listed, uint64_t *keys)
{
	if (listed) {
		xb_counting_add(filter, hash);
		++*keys;
	} else {
		if (xb_counting_delete(filter, hash))
			return xb_system_error(0, "the counters do not match the list; the filter "
						  "is built anew by the next command");
		--*keys;
	}
	return 0;
}

static int apply_net6(struct xb_generation *generation, const struct xb_entry *entry, bool listed)
{
	struct xb_counters_header *header = generation->header;
	struct xb_lengths *table = (struct xb_lengths *)(void *)generation->lengths6.base;
	uint32_t cells = generation->params.length_cells, probes;
	uint32_t cell = xb_lengthmap_cell(&generation->params.key, cells, entry);
	int error = change_key(&generation->net6, hash_net6(generation, entry), listed,
			       &header->net6_keys);

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
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++)
		error = change_key(&generation->host4,
				   xb_hash_ipv4(&generation->params.key, xb_entry_ipv4(entry) + i),
				   listed, &generation->header->host4_keys);
	return error;
}

int xb_generation_apply(struct xb_generation *generation, struct xb_txn *txn,
			const struct xb_changes *changes, uint64_t sequence)
{
	struct xb_counters_header *header = generation->header;
	int error = 0;

	__atomic_store_n(&header->dirty, 1, __ATOMIC_SEQ_CST);
	xb_fault("apply-dirty");
	for (size_t i = 0; !error && i < changes->count; i++) {
		const struct xb_change *change = &changes->change[i];

		if (i == changes->count / 2)
			xb_fault("apply-half");
		if (change->entry.kind == XB_PREFIX4)
			error = change->listed
					? (xb_prefixmap_add(&generation->prefix4, &change->entry),
					   0)
					: xb_prefixmap_settle(&generation->prefix4, txn,
							      &change->entry);
		else if (change->entry.kind == XB_HOST4)
			error = apply_host4(generation, &change->entry, change->listed);
		else
			error = apply_net6(generation, &change->entry, change->listed);
	}
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
			return error;
	}
	return generation->header->applied == txn->meta.sequence ? 0 : -ENOENT;
}

int xb_generation_pin(const struct xb_paths *paths, struct xb_generation *generation)
{
	char directory[XB_PATH_MAX];
	const struct {
		const char *name;
		int fd;
	} pins[] = {
		{"host4", generation->host4_map},	{"net6", generation->net6_map},
		{"lengths6", generation->lengths6_map}, {"prefix4", generation->prefix4_map},
		{"program", generation->program},
	};
	int error = xb_pin_path(directory, paths->pins, generation->name);

	for (size_t i = 0; !error && i < sizeof(pins) / sizeof(pins[0]); i++)
		if (pins[i].fd >= 0)
			error = xb_pin(pins[i].fd, directory, pins[i].name);
	return error;
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
	/* Every CPU has left the old program when this returns. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
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

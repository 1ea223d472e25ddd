/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A generation: maps, one program specialised for them, and the file with the counters behind their
 * bits. */
#ifndef XB_FILTER_GENERATION_H
#define XB_FILTER_GENERATION_H

#include "attach/anchor.h"
#include "base/paths.h"
#include "bloom/bloom.h"
#include "bloom/exact.h"
#include "filter/allowmaps.h"
#include "filter/maps.h"
#include "filter/prefix6map.h"
#include "filter/slotmap.h"
#include "store/store.h"

/* First page of the counters file. What stands behind it: counters of host4, of net6, of names,
 * of scoped. */
struct xb_counters_header {
	uint64_t magic;
	uint64_t generation;
	uint64_t applied; /* sequence number of the last change that is in the filter */
	uint64_t host4_keys, net6_keys, names_keys;
	uint32_t length_probes; /* the most any source costs now */
	uint32_t dirty;		/* 1: a change was begun and did not end */
	uint64_t mark;		/* of the store at that number, see struct xb_meta */
	uint64_t scoped_keys;
	uint32_t prefix6_taken; /* pages */
};

#define XB_GENERATION_PREFIX "gen-"
#define XB_GENERATION_NAME   32 /* bytes */

#define XB_COUNTERS_SUFFIX ".counters" /* of the name of the file */
#define XB_COUNTERS_NAME   64	       /* bytes, terminator included */

struct xb_generation {
	struct xb_params params;
	struct xb_name_key name_key;   /* if it has names */
	char name[XB_GENERATION_NAME]; /* of its pin directory */
	int program, map[XB_MAPS];     /* -1: not open */
	bool in_force;		       /* packets are judged by it */
	uint64_t known;		       /* identity of the known sources that are pinned now */
	int file;		       /* counters; -1: lost, or another generation's */
	struct xb_counters_header *header;
	size_t file_bytes;
	struct xb_bloom host4, net6, names, scoped;
	struct xb_exact confirm4, confirm6, confirm_names, confirm_scoped;
	struct xb_mapping slots6, cells6, lengths6, prefix4, prefix6, depths;
	struct xb_mapping scope_ports, scope_lengths4, scope_lengths6;
	struct xb_mapping limit_ports, meter;
	struct xb_exact suffixes;
	struct xb_allowmaps allow;
};

/* Allocates a generation with nothing open; NULL with a message: out of memory. */
struct xb_generation *xb_generation_new(void);

void xb_generation_close(struct xb_generation *generation);

/* The tables in front of its longer IPv6 prefixes. */
struct xb_slotmap xb_generation_slotmap(const struct xb_generation *generation);

/* Its IPv6 prefixes up to /32. */
struct xb_prefix6map xb_generation_prefix6map(struct xb_generation *generation);

/* Whether changes can be made in place: counters present and clean. */
bool xb_generation_is_sound(const struct xb_generation *generation);

/* Whether the generation has everything that the store lists, and comes from the same history of
 * the store. */
bool xb_generation_is_current(const struct xb_generation *generation, const struct xb_meta *meta);

/* Looks which known sources are pinned now, if its program has to do with any. */
void xb_generation_note_known(const struct xb_paths *paths, struct xb_generation *generation);

/* Whether its program is what the store wants: rate, confirm stage, policy, known sources. */
bool xb_generation_fits(const struct xb_generation *generation, const struct xb_meta *meta);

/*
 * Called with the writer lock held, right before the generation is put in force, or to keep it
 * there: compares what it was built from with what the store says now, and sets the policy, which
 * is only a word. -ENOENT without a message: it lacks a change, or was built for other settings.
 */
int xb_generation_match(const struct xb_generation *generation, const struct xb_meta *meta);

/* Read the policy in force, and set it for all interfaces from the next packet on. */
int xb_generation_policy(const struct xb_generation *generation, uint32_t *policy);
int xb_generation_set_policy(const struct xb_generation *generation, uint32_t policy);

/* The hash of an IPv6 prefix or a name, by the key of the generation. */
uint64_t xb_generation_hash(const struct xb_generation *generation, const struct xb_entry *entry);

/*
 * How many keys fill a stage: those at which it has the promised rate. If hits are confirmed, an
 * eighth more: what the rate costs then is time, and less of it than to build a larger filter.
 */
uint64_t xb_generation_full(const struct xb_geometry *bloom, bool confirmed);

/* Whether a stage holds more keys than fill it, or a source costs more probes. */
bool xb_generation_is_full(const struct xb_generation *generation);

/* Pins a built generation, its program last, so that an unfinished directory is never taken for a
 * generation. */
int xb_generation_pin(const struct xb_paths *paths, struct xb_generation *generation);

/* The rate for which it was sized. */
double xb_generation_rate(const struct xb_generation *generation);

/* Puts the generation in force, and removes all others once no packet is in them. The caller
 * holds writer and builder lock. */
int xb_generation_publish(const struct xb_paths *paths, const struct xb_anchor *anchor,
			  struct xb_generation *generation);

/* Removes what was built and not published. */
void xb_generation_discard(const struct xb_paths *paths, struct xb_generation *generation);

/* Gives up counters that are of no use any more, and their room. The generation continues to
 * enforce, but cannot be changed any more. */
void xb_generation_forget_counters(const struct xb_paths *paths, struct xb_generation *generation);

/* Removes every generation of this store but the one named (NULL: all), and their counters. */
void xb_generation_sweep(const struct xb_paths *paths, uint64_t store, const char *keep);

/* Removes only the counters of generations that nobody can change any more. */
void xb_generation_sweep_counters(const struct xb_paths *paths, uint64_t store, const char *keep);

/* For builders: reserves the mappings of the maps and the counters that the generation has open. */
int xb_generation_map(struct xb_generation *generation);

/* Maps all of them at once. */
int xb_generation_map_all(struct xb_generation *generation);

/* Name of a generation's counters file in XB_COUNTERS_DIRECTORY: stores may share that directory,
 * so the name says whose it is. */
void xb_generation_counters_name(uint64_t store, const char *name, char file[XB_COUNTERS_NAME]);

/* Size of the counters file. */
size_t xb_generation_file_bytes(const struct xb_params *params);

#define XB_COUNTERS_MAGIC 0x32746e756f436258ULL /* "XbCount2" */
#define XB_COUNTERS_PAGE  4096

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The generation in force beside one that is built anew from the store. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact_contents.h"
#include "filter/build.h"
#include "filter/contents.h"
#include "filter/levels6.h"
#include "filter/scopemap.h"
#include "rig.h"

/* Counters that stuck may differ: a stuck one is at its end however it got there. */
static bool same_counters(const struct xb_counters *a, const struct xb_counters *b, uint32_t blocks,
			  const char *stage)
{
	for (uint32_t block = 0; block < blocks; block++) {
		for (int i = 0; i < XB_BLOCK_BITS / 2; i++) {
			for (int shift = 0; shift < 8; shift += 4) {
				int left = a[block].byte[i] >> shift & 15,
				    right = b[block].byte[i] >> shift & 15;

				if (left != right && left != XB_COUNTER_STUCK) {
					fprintf(stderr,
						"%s: counter of block %u, place %d: %d, rebuilt "
						"%d\n",
						stage, block, 2 * i + shift / 4, left, right);
					return false;
				}
			}
		}
	}
	return true;
}

static bool same_bits(const struct xb_mapping *a, const struct xb_mapping *b, size_t bytes,
		      const char *stage)
{
	for (size_t i = 0; i < bytes; i++) {
		if (a->base[i] != b->base[i]) {
			fprintf(stderr, "%s: byte %zu: %02x, rebuilt %02x\n", stage, i, a->base[i],
				b->base[i]);
			return false;
		}
	}
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct xb_allow6_key));
}

/* As multisets: where a key stands depends on the order in which they came. */
static bool same_buckets(struct xb_exact *a, struct xb_exact *b, const char *stage)
{
	size_t left, right;
	uint64_t *in_a, *in_b;
	bool equal;

	if (!a->geometry.parts && !b->geometry.parts)
		return true;
	in_a = exact_contents(a, &left);
	in_b = exact_contents(b, &right);
	equal = left == right && !memcmp(in_a, in_b, left * sizeof(*in_a));
	if (!equal)
		fprintf(stderr, "%s: other keys than a rebuilt one\n", stage);
	free(in_a);
	free(in_b);
	return equal;
}

/* Every key of a trie, sorted; each as large as the larger kind. */
static struct xb_allow6_key *keys_of(int trie, size_t *count)
{
	struct xb_allow6_key *keys = NULL, key, next;
	size_t room = 0;

	memset(&key, 0, sizeof(key));
	memset(&next, 0, sizeof(next));
	*count = 0;
	while (!bpf_map_get_next_key(trie, *count ? &key : NULL, &next)) {
		if (*count == room) {
			room = room ? 2 * room : 64;
			keys = realloc(keys, room * sizeof(*keys));
		}
		keys[(*count)++] = key = next;
	}
	if (*count)
		qsort(keys, *count, sizeof(*keys), compare_keys);
	return keys;
}

static bool same_trie(int a, int b, const char *stage)
{
	size_t left, right;
	struct xb_allow6_key *in_a = keys_of(a, &left), *in_b = keys_of(b, &right);
	bool equal = left == right && (!left || !memcmp(in_a, in_b, left * sizeof(*in_a)));

	if (!equal)
		fprintf(stderr, "%s: %zu keys, rebuilt %zu\n", stage, left, right);
	free(in_a);
	free(in_b);
	return equal;
}

uint64_t rig_moves(const struct xb_exact *confirm)
{
	const struct xb_bucket *buckets =
		(const struct xb_bucket *)(const void *)confirm->buckets.base;
	uint32_t last = xb_buckets_lines(confirm->geometry.parts, confirm->geometry.size,
					 confirm->geometry.small);

	return __atomic_load_n(&buckets[last].word[XB_BUCKET_MOVES], __ATOMIC_SEQ_CST);
}

/* They may only lead to more look-ups. */
static bool deep_enough(const struct xb_generation *now, const struct xb_generation *fresh)
{
	const struct xb_depths *a = (const struct xb_depths *)(const void *)now->depths.base;
	const struct xb_depths *b = (const struct xb_depths *)(const void *)fresh->depths.base;

	if (!now->params.names.blocks)
		return true;
	if ((!b->first || (a->first && a->first <= b->first)) && a->last >= b->last &&
	    a->exact >= b->exact && a->allowed >= b->allowed)
		return true;
	fprintf(stderr, "depths: %u to %u, %u, %u; rebuilt %u to %u, %u, %u\n", a->first, a->last,
		a->exact, a->allowed, b->first, b->last, b->exact, b->allowed);
	return false;
}

/* Lengths and classes: they may only lead to more look-ups. */
static bool has_bits(const struct xb_mapping *now, const struct xb_mapping *fresh, size_t bytes,
		     const char *stage)
{
	const uint64_t *a = (const uint64_t *)(const void *)now->base;
	const uint64_t *b = (const uint64_t *)(const void *)fresh->base;

	for (size_t i = 0; i < bytes / sizeof(*a); i++) {
		if (b[i] & ~a[i]) {
			fprintf(stderr, "%s: word %zu is %lx, rebuilt %lx\n", stage, i, a[i], b[i]);
			return false;
		}
	}
	return true;
}

/* Whether packets look for all that is listed. A length may have another slot than in the rebuilt
 * generation, by the order in which lengths came. */
static bool looks_for(const struct xb_generation *now, const struct xb_contents *contents)
{
	const struct xb_levels6 *levels = &now->params.levels6;
	struct xb_slotmap map = xb_generation_slotmap(now);

	for (size_t i = 0; i < contents->net6_count; i++) {
		struct xb_entry key = xb_levels6_key(levels, &contents->net6[i], 0);
		char text[XB_ENTRY_TEXT];

		if (xb_slotmap_has(&map, &key))
			continue;
		fprintf(stderr, "nobody looks for %s\n", xb_entry_format(&contents->net6[i], text));
		return false;
	}
	return true;
}

/* The rebuilt generation has the parameters of the other, so this asks the store. */
static bool has_classes(const struct xb_generation *now, const struct xb_contents *contents)
{
	struct xb_scopes wanted = xb_scopemap_scopes(contents->class, contents->classes);

	if (!contents->scoped_count || !memcmp(&now->params.scopes, &wanted, sizeof(wanted)))
		return true;
	fprintf(stderr, "the generation has other classes than the store\n");
	return false;
}

static bool same_scopes(struct xb_generation *now, struct xb_generation *fresh)
{
	const struct xb_params *params = &now->params;

	return same_counters(now->scoped.counters, fresh->scoped.counters, params->scoped.blocks,
			     "scoped") &&
	       same_bits(&now->scoped.bits, &fresh->scoped.bits,
			 xb_map_bytes(XB_MAP_SCOPED, params), "scoped") &&
	       same_buckets(&now->confirm_scoped, &fresh->confirm_scoped, "confirm_scoped") &&
	       same_bits(&now->scope_ports, &fresh->scope_ports,
			 xb_map_bytes(XB_MAP_SCOPE_PORTS, params), "scope_ports") &&
	       has_bits(&now->scope_lengths4, &fresh->scope_lengths4,
			xb_map_bytes(XB_MAP_SCOPE_LENGTHS4, params), "scope_lengths4") &&
	       has_bits(&now->scope_lengths6, &fresh->scope_lengths6,
			xb_map_bytes(XB_MAP_SCOPE_LENGTHS6, params), "scope_lengths6");
}

/* A /16 may have another page, or one that says what the directory would. */
static bool same_prefixes6(struct xb_generation *now, struct xb_generation *fresh)
{
	struct xb_prefix6map a = xb_generation_prefix6map(now), b = xb_generation_prefix6map(fresh);
	uint32_t head = 0;

	if (!a.pages)
		return true;
	do {
		if (xb_prefix6map_word(&a, head) == xb_prefix6map_word(&b, head))
			continue;
		fprintf(stderr, "prefix6: %x:%x::/26 differs\n", head >> 16, head & 0xffff);
		return false;
	} while (head += 64);
	return true;
}

static bool same(struct xb_generation *now, struct xb_generation *fresh)
{
	const struct xb_params *params = &now->params;

	if (memcmp(&now->params.host4, &fresh->params.host4, sizeof(now->params.host4)) ||
	    memcmp(&now->params.net6, &fresh->params.net6, sizeof(now->params.net6)) ||
	    memcmp(&now->params.names, &fresh->params.names, sizeof(now->params.names)) ||
	    now->params.prefix4 != fresh->params.prefix4 ||
	    now->params.prefix6_pages != fresh->params.prefix6_pages) {
		fprintf(stderr, "the rebuilt generation has another size\n");
		return false;
	}
	if (now->header->host4_keys != fresh->header->host4_keys ||
	    now->header->net6_keys != fresh->header->net6_keys ||
	    now->header->names_keys != fresh->header->names_keys ||
	    now->header->scoped_keys != fresh->header->scoped_keys) {
		fprintf(stderr, "keys: %lu, %lu, %lu and %lu, rebuilt %lu, %lu, %lu and %lu\n",
			now->header->host4_keys, now->header->net6_keys, now->header->names_keys,
			now->header->scoped_keys, fresh->header->host4_keys,
			fresh->header->net6_keys, fresh->header->names_keys,
			fresh->header->scoped_keys);
		return false;
	}
	rig_must(xb_generation_map_all(now), "map");
	rig_must(xb_generation_map_all(fresh), "map");
	return same_counters(now->host4.counters, fresh->host4.counters, now->params.host4.blocks,
			     "host4") &&
	       same_counters(now->net6.counters, fresh->net6.counters, now->params.net6.blocks,
			     "net6") &&
	       same_bits(&now->host4.bits, &fresh->host4.bits, xb_map_bytes(XB_MAP_HOST4, params),
			 "host4") &&
	       same_bits(&now->net6.bits, &fresh->net6.bits, xb_map_bytes(XB_MAP_NET6, params),
			 "net6") &&
	       same_counters(now->names.counters, fresh->names.counters, now->params.names.blocks,
			     "names") &&
	       same_bits(&now->names.bits, &fresh->names.bits, xb_map_bytes(XB_MAP_NAMES, params),
			 "names") &&
	       same_buckets(&now->confirm_names, &fresh->confirm_names, "confirm_names") &&
	       same_trie(now->map[XB_MAP_ALLOW_NAMES], fresh->map[XB_MAP_ALLOW_NAMES],
			 "allow_names") &&
	       deep_enough(now, fresh) &&
	       same_bits(&now->prefix4, &fresh->prefix4, xb_map_bytes(XB_MAP_PREFIX4, params),
			 "prefix4") &&
	       same_prefixes6(now, fresh) &&
	       same_bits(&now->allow.gate, &fresh->allow.gate, XB_GATE_BYTES, "allow_gate") &&
	       same_trie(now->map[XB_MAP_ALLOW4], fresh->map[XB_MAP_ALLOW4], "allow4") &&
	       same_trie(now->map[XB_MAP_ALLOW6], fresh->map[XB_MAP_ALLOW6], "allow6") &&
	       same_buckets(&now->confirm4, &fresh->confirm4, "confirm4") &&
	       same_buckets(&now->confirm6, &fresh->confirm6, "confirm6") &&
	       same_scopes(now, fresh);
}

bool rig_matches_rebuild(struct rig *rig)
{
	struct xb_generation *now = rig_generation(rig), *fresh = NULL;
	struct xb_store *store;
	struct xb_contents contents;
	struct xb_anchor anchor;
	struct xb_txn *txn;
	struct xb_build build = {
		.paths = &rig->paths, .anchor = &anchor, .keys_of = now, .size_of = &now->params};
	bool equal;

	rig_must(xb_anchor_open(rig->pins, &anchor), "link");
	rig_must(xb_store_open(rig->state, XB_STORE_READ, &store), "store");
	rig_must(xb_store_read(store, &txn), "store");
	rig_must(xb_contents_take(txn, &contents), "keys");
	rig_must(xb_build(&build, &contents, &fresh), "build");
	equal = xb_generation_is_current(now, &txn->meta) && !now->header->dirty &&
		has_classes(now, &contents) && same(now, fresh) && looks_for(now, &contents);
	if (!xb_generation_is_current(now, &txn->meta))
		fprintf(stderr, "applied %lu of %lu\n", now->header->applied, txn->meta.sequence);
	xb_contents_free(&contents);
	xb_txn_abort(txn);
	xb_store_close(store);
	xb_anchor_close(&anchor);
	xb_generation_discard(&rig->paths, fresh);
	xb_generation_close(now);
	return equal;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tries are the kernel's; the gate's bits are set for every cell an entry touches. */
#include "filter/allowmaps.h"

#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/namedepths.h"
#include "store/walk.h"

/* The bits an entry needs: `count` from `bit` on, in the region that begins at word `region`. */
struct span {
	uint32_t region, bit, count;
};

static struct span cells(uint32_t region, unsigned int bits, uint32_t first, uint8_t length)
{
	return (struct span){
		.region = region,
		.bit = first,
		.count = length < bits ? 1U << (bits - length) : 1,
	};
}

static struct span span_of(const struct xb_entry *entry)
{
	if (entry->kind == XB_ALLOW4)
		return cells(0, XB_GATE_BITS, xb_entry_ipv4(entry) >> (32 - XB_GATE_BITS),
			     entry->length);
	if (entry->length >= 32)
		return cells(XB_GATE_NET6, 0, xb_gate_net6(entry->hi), 0);
	return cells(XB_GATE_SHORT6, 16, (uint32_t)(entry->hi >> 48), entry->length);
}

static void open_gate(uint64_t *words, const struct xb_entry *entry)
{
	struct span span = span_of(entry);

	for (uint32_t bit = span.bit; bit < span.bit + span.count; bit++)
		__atomic_fetch_or(&words[span.region + bit / 64], 1ULL << (bit % 64),
				  __ATOMIC_RELEASE);
}

/* Fills *key (as large as the larger of the two) and returns the trie it is for. */
static int trie_key(const struct xb_allowmaps *allow, const struct xb_entry *entry,
		    struct xb_allow6_key *key)
{
	uint64_t parts[2] = {htobe64(entry->hi), htobe64(entry->lo)};

	*key = (struct xb_allow6_key){.length = entry->length};
	memcpy(key->address, parts, sizeof(parts));
	return entry->kind == XB_ALLOW4 ? allow->trie4 : allow->trie6;
}

static int add_name(struct xb_allowmaps *allow, const struct xb_entry *entry)
{
	uint64_t key = xb_fingerprint(xb_name_hash(allow->key, entry->name, entry->length));
	uint32_t value = 1;

	if (allow->names < 0)
		return 0;
	xb_namedepths_allow((struct xb_depths *)(void *)allow->depths->base, entry);
	if (!bpf_map_update_elem(allow->names, &key, &value, BPF_ANY))
		return 0;
	return errno == E2BIG ? -EXFULL
			      : xb_system_error(errno, "cannot put a domain on the allowlist");
}

int xb_allowmaps_add(struct xb_allowmaps *allow, const struct xb_entry *entry)
{
	struct xb_allow6_key key;
	uint32_t value = 1;
	int trie;

	if (xb_entry_is_name(entry))
		return add_name(allow, entry);
	trie = trie_key(allow, entry, &key);
	if (bpf_map_update_elem(trie, &key, &value, BPF_ANY))
		return xb_system_error(errno, "cannot put an entry on the allowlist");
	open_gate((uint64_t *)(void *)allow->gate.base, entry);
	return 0;
}

static int wanted_gate(struct xb_txn *txn, uint64_t *words)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0 && !xb_entry_is_name(&walk.entry))
		open_gate(words, &walk.entry);
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

static int delete_name(struct xb_allowmaps *allow, const struct xb_entry *entry)
{
	uint64_t key = xb_fingerprint(xb_name_hash(allow->key, entry->name, entry->length));

	if (allow->names >= 0 && bpf_map_delete_elem(allow->names, &key) && errno != ENOENT)
		return xb_system_error(errno, "cannot take a domain off the allowlist");
	return 0;
}

int xb_allowmaps_delete(struct xb_allowmaps *allow, struct xb_txn *txn,
			const struct xb_entry *entry)
{
	struct xb_allow6_key key;
	struct xb_members members;
	int trie, error = xb_members_of(txn, entry, &members);

	if (error != -ENOENT)
		return error;
	if (xb_entry_is_name(entry))
		return delete_name(allow, entry);
	trie = trie_key(allow, entry, &key);
	if (bpf_map_delete_elem(trie, &key) && errno != ENOENT)
		return xb_system_error(errno, "cannot take an entry off the allowlist");
	return 0;
}

int xb_allowmaps_settle(struct xb_allowmaps *allow, struct xb_txn *txn)
{
	uint64_t *words = (uint64_t *)(void *)allow->gate.base;
	uint64_t *wanted = calloc(1, XB_GATE_BYTES);
	int error = wanted ? wanted_gate(txn, wanted) : xb_out_of_memory();

	for (uint32_t i = 0; !error && i < XB_GATE_ALL_WORDS; i++)
		if (words[i] != wanted[i])
			__atomic_store_n(&words[i], wanted[i], __ATOMIC_RELEASE);
	free(wanted);
	return error;
}

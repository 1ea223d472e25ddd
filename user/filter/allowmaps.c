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

static void set_bit(__u64 *word, uint32_t bit)
{
	__atomic_fetch_or(word, 1ULL << bit, __ATOMIC_RELEASE);
}

/* near: for a prefix that has not all of the head. */
static void open_at(struct xb_gate_cell *cells, struct xb_gate gate, bool near)
{
	struct xb_gate_cell *cell = &cells[gate.cell];

	if (!near) {
		set_bit(&cell->head, gate.head);
		return;
	}
	set_bit(&cell->near, gate.near[0]);
	set_bit(&cell->near, gate.near[1]);
}

/* How many places of so many first bits an entry touches. */
static uint32_t places(unsigned int bits, uint8_t length)
{
	return length < bits ? 1U << (bits - length) : 1;
}

static void open_gate4(struct xb_gate_cell *cells, const struct xb_entry *entry)
{
	bool near = entry->length > XB_GATE_HEAD4;
	unsigned int bits = near ? XB_GATE_NEAR4 : XB_GATE_HEAD4;

	for (uint32_t i = 0; i < places(bits, entry->length); i++)
		open_at(cells, xb_gate_ipv4(xb_entry_ipv4(entry) + (i << (32 - bits))), near);
}

static void open_gate6(struct xb_gate_cell *cells, const struct xb_entry *entry)
{
	uint32_t first = (uint32_t)(entry->hi >> 48);

	if (entry->length >= XB_GATE_HEAD6) {
		open_at(cells, xb_gate_ipv6(entry->hi), entry->length >= XB_GATE_NEAR6);
		return;
	}
	for (uint32_t i = first; i < first + places(16, entry->length); i++)
		set_bit(&cells[XB_GATE_SHORT6 + i / 64].head, i % 64);
}

/* For every place that the entry touches. words: those of the cells. */
static void open_gate(uint64_t *words, const struct xb_entry *entry)
{
	struct xb_gate_cell *cells = (struct xb_gate_cell *)(void *)words;

	if (entry->kind == XB_ALLOW4)
		open_gate4(cells, entry);
	else
		open_gate6(cells, entry);
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

	for (uint32_t i = 0; !error && i < XB_GATE_BYTES / sizeof(*words); i++)
		if (words[i] != wanted[i])
			__atomic_store_n(&words[i], wanted[i], __ATOMIC_RELEASE);
	free(wanted);
	return error;
}

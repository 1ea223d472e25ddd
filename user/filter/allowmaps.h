/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allowlist of a generation: two tries and the gate of bits in front of them, and the names. */
#ifndef XB_FILTER_ALLOWMAPS_H
#define XB_FILTER_ALLOWMAPS_H

#include "base/mapping.h"
#include "store/store.h"
#include "xdp_bloom/layout.h"

/* The functions below take entries of the allowlist. The descriptors are not owned. */
struct xb_allowmaps {
	int trie4, trie6;
	int names; /* -1: the generation has no stage for names, so allowed names are left out */
	const struct xb_name_key *key;
	struct xb_mapping *depths;
	struct xb_mapping gate;
};

#define XB_GATE_BYTES (XB_GATE_ALL_CELLS * sizeof(struct xb_gate_cell))

/* Adds the entry, which is in force when this returns. -EXFULL without a message: there is no room
 * for another name. */
int xb_allowmaps_add(struct xb_allowmaps *allow, const struct xb_entry *entry);

/* Removes the entry, unless the transaction still has it. */
int xb_allowmaps_delete(struct xb_allowmaps *allow, struct xb_txn *txn,
			const struct xb_entry *entry);

/* Rebuilds the gate from the entries of the transaction, after deletes. */
int xb_allowmaps_settle(struct xb_allowmaps *allow, struct xb_txn *txn);

#endif

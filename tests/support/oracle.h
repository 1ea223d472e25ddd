/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a list of prefixes covers, by comparing prefixes: it knows of no filter. */
#ifndef XB_TESTS_ORACLE_H
#define XB_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entry.h"

/* Networks of each family and length, sorted, found by binary search. */
struct oracle {
	struct xb_entry *of[2][129];
	size_t count[2][129];
};

void oracle_add(struct oracle *oracle, const struct xb_entry *entry);
/* After the last add, before the first question. */
void oracle_sort(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/* address: of full length, of the same kinds (listed or allowed) as what was added. */
bool oracle_covers(const struct oracle *oracle, const struct xb_entry *address);

/* Anything of this length, as something to list; xb_entry_allow() makes it one to allow. */
struct xb_entry oracle_random(uint64_t *seed, bool ipv4, uint8_t length);

/* Any address inside the entry. */
struct xb_entry oracle_address_in(uint64_t *seed, const struct xb_entry *entry);

#endif

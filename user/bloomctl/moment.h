/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling what a dead writer left from a change that is being made: where store and kernel stand,
 * to be compared with where they stand a little later. */
#ifndef XB_CLI_MOMENT_H
#define XB_CLI_MOMENT_H

#include "bloomctl/cli.h"

/* Every change moves at least one of these. */
struct moment {
	uint64_t transaction; /* the last one of the store; 0: there is no store */
	uint64_t generation;  /* identity of the one in force; 0: none */
	uint64_t applied, mark;
	uint32_t slot, dirty, policy;
};

/* Opens what there is, without a lock; 0 or an error with its message. No store is open. */
int moment_take(const struct cli *cli, struct moment *moment);

bool moment_is_same(const struct moment *a, const struct moment *b);

/* Whether somebody who is alive may be changing something now; then holder names the process. */
bool moment_is_busy(const struct cli *cli, char *holder, size_t size);

#endif

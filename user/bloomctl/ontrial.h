/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trial has put in force for all interfaces, while the store says something else. */
#ifndef XB_CLI_ONTRIAL_H
#define XB_CLI_ONTRIAL_H

#include <stdio.h>

#include "bloomctl/cli.h"
#include "store/store.h"
#include "store/trialrecord.h"

struct ontrial {
	struct xb_trial trial;
	uint64_t left;	 /* seconds until it goes back; 0: nothing of this kind is on trial */
	uint32_t policy; /* in force meanwhile */
};

/* Looks at the kernel, too. txn: NULL if there is no store. The caller closes it, in case of
 * failure too. */
int ontrial_open(const struct cli *cli, struct xb_txn *txn, struct ontrial *ontrial);
void ontrial_close(struct ontrial *ontrial);

/* Reads the store, if there is one, and what is on trial, and calls answer() with them; txn: NULL
 * without a store. Returns the exit code, that of answer() if all could be read. */
int ontrial_show(const struct cli *cli,
		 int (*answer)(const struct cli *cli, struct xb_txn *txn,
			       const struct ontrial *ontrial, void *context),
		 void *context);

/* The verdict on trial for a list; false: none is. */
bool ontrial_verdict(const struct ontrial *ontrial, const char *list, uint32_t *verdict);

/* The same for its scope. */
bool ontrial_scope(const struct ontrial *ontrial, const char *list, struct xb_scope *scope);

/* The limit that is on trial; NULL: none is. */
const struct xb_limit *ontrial_limit_added(const struct ontrial *ontrial);

/* Whether the limit of this name is deleted on trial. */
bool ontrial_limit_deleted(const struct ontrial *ontrial, const char *name);

/* " (on trial until TIME, then AFTERWARDS)" */
void ontrial_print(FILE *out, uint64_t left, const char *afterwards);

/* {KEY: WORD, "seconds_left": N} */
json_t *ontrial_json(const struct ontrial *ontrial, const char *key, const char *word);

#endif

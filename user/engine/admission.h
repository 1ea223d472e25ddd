/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom the policy allow-only admits beside the allowlist: nobody, or sources that nobody added by
 * hand. One rule for all ways into such a state: the command that sets the policy is refused, and
 * any other that leads there warns. */
#ifndef XB_ENGINE_ADMISSION_H
#define XB_ENGINE_ADMISSION_H

#include "engine/context.h"
#include "store/admits.h"

/* What is to be said of a change once it is in force. */
struct xb_admission {
	const char *lack;    /* why nobody who is listed is admitted, the beginning of a sentence */
	bool known;	     /* known sources are admitted, if there are any */
	char strangers[512]; /* what is admitted from now on and was added by nobody; "": nothing */
};

/* An input error if allow-only would admit nobody, or what nobody added by hand. admits: by what
 * the transaction sees. known: it would admit known sources, too. */
int xb_admission_check(const struct xb_paths *paths, const struct xb_txn *txn,
		       const struct xb_admits *admits, bool known);

/* Before a change is committed: what is to be said of it. Takes no longer with more entries, unless
 * a list begins to admit what nobody added by hand. Returns 0 or an error with its message. */
int xb_admission_begin(const struct xb_writer *writer, struct xb_admission *admission);

/* When the kernel has the change: sets *shuts_out to whether nobody is admitted, and warns if that
 * was false; and warns of strangers. */
void xb_admission_settle(const struct xb_paths *paths, const struct xb_admission *admission,
			 bool *shuts_out);

/* Warns if nobody is admitted, when known sources were forgotten without a transaction. */
void xb_admission_look(const struct xb_paths *paths);

#endif

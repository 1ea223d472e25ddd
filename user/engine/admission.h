/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the policy allow-only admits anybody beside the allowlist. One rule for all ways into
 * that state: the command that sets the policy is refused, and any other that leaves nobody
 * admitted warns. */
#ifndef XB_ENGINE_ADMISSION_H
#define XB_ENGINE_ADMISSION_H

#include "base/paths.h"
#include "store/types.h"

/* An input error if allow-only would admit nobody by what the transaction sees. known: it would
 * admit known sources, too. */
int xb_admission_check(const struct xb_paths *paths, struct xb_txn *txn, bool known);

/* Why the policy that the transaction sees admits nobody who is listed, as the beginning of a
 * sentence; NULL: it is not allow-only, or perhaps somebody is. Takes no longer with more entries.
 */
const char *xb_admission_lack(const struct xb_txn *txn);

/*
 * When the kernel has the change: sets *shuts_out to whether nobody is admitted, and warns if that
 * was false. lack: what xb_admission_lack() said. known: known sources are admitted, if there are
 * any.
 */
void xb_admission_settle(const struct xb_paths *paths, const char *lack, bool known,
			 bool *shuts_out);

/* Warns if nobody is admitted, when known sources were forgotten without a transaction. */
void xb_admission_look(const struct xb_paths *paths);

#endif

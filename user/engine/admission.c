/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/admission.h"

#include <stddef.h>

#include "base/error.h"
#include "base/program.h"
#include "engine/known.h"
#include "model/policy.h"
#include "store/admits.h"
#include "store/store.h"
#include "store/txn.h"

static const char *describe_lack(const struct xb_txn *txn)
{
	const struct xb_totals *totals = &txn->meta.totals;

	return (totals->host4 + totals->prefix4 + totals->net6)
		       ? "all lists that have sources only count"
		       : "no source is listed";
}

int xb_admission_check(const struct xb_paths *paths, struct xb_txn *txn, bool known)
{
	bool anybody = false;
	int admits = xb_listed_admit(txn);
	int error = admits < 0 ? admits : 0;

	if (!error && !admits && known)
		error = xb_known_anybody(paths, &anybody);
	if (error || admits || anybody)
		return error;
	return xb_input_error("%s%s: allow-only would shut everybody out%s", describe_lack(txn),
			      known ? ", and nobody is known yet" : "",
			      xb_advice(XB_ADVICE_SHUT_OUT));
}

const char *xb_admission_lack(const struct xb_txn *txn)
{
	return txn->meta.policy == XB_POLICY_ALLOW_ONLY && xb_listed_admit_none(txn)
		       ? describe_lack(txn)
		       : NULL;
}

void xb_admission_settle(const struct xb_paths *paths, const char *lack, bool known,
			 bool *shuts_out)
{
	bool told = *shuts_out, anybody = false;

	*shuts_out = lack && !(known && (xb_known_anybody(paths, &anybody) || anybody));
	if (!*shuts_out || told)
		return;
	xb_warning("%s%s, and the policy is allow-only: everybody is shut out but the allowlist",
		   lack, known ? ", nobody is known" : "");
}

void xb_admission_look(const struct xb_paths *paths)
{
	struct xb_store *store;
	struct xb_txn *txn;
	const char *lack = NULL;
	bool known = false, shuts_out = false;

	if (!xb_store_begin_reading(paths->state, &store, &txn)) {
		lack = xb_admission_lack(txn);
		known = txn->meta.admits_known;
	}
	xb_store_end_reading(store, txn);
	xb_error_clear();
	xb_admission_settle(paths, lack, known, &shuts_out);
}

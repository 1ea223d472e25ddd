/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lists that have a source hold for: a service that somebody asks about, or others. */
#ifndef XB_CLI_HOLDING_H
#define XB_CLI_HOLDING_H

#include "model/scope.h"
#include "store/membership.h"

struct holding {
	bool drops, counts;	      /* lists that hold for what is asked about */
	const struct xb_scope *other; /* of lists that hold for other services; NULL: there is none.
				       * Owned by the transaction */
	bool others;		      /* and these differ in their scopes */
};

/* Adds the lists among members. to: the service asked about; NULL: all packets. */
void holding_add(struct holding *holding, struct xb_txn *txn, struct xb_members members,
		 const struct xb_service *to);

static inline bool holding_is(const struct holding *holding)
{
	return holding->drops || holding->counts;
}

/* The services for which the other lists hold: their scope, or "some services" if they differ.
 * Returns text. */
const char *holding_others(const struct holding *holding, char text[XB_SCOPE_TEXT]);

#endif

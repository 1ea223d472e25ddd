/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answers to Postfix: what was asked about, looked up in the store, as an action. */
#ifndef XB_BLOOMD_ANSWER_H
#define XB_BLOOMD_ANSWER_H

#include "bloomd/base/config.h"
#include "bloomd/postfix/policy.h"
#include "bloomd/postfix/socketmap.h"
#include "store/store.h"

#define ANSWER_MOST 1200 /* bytes */

/* With what it is answered. */
struct answer_view {
	const struct postfix_config *config;
	struct xb_txn *txn;	/* NULL: there is no store yet, so nothing is listed */
	const char *unreadable; /* why the store cannot be read; "": it can */
};

struct answer {
	char text[ANSWER_MOST];
	size_t size;
	bool failed; /* it says that the question cannot be answered */
};

/* Answers a complete request of a socketmap. Its name is a list, or a service such as tcp/25: then
 * all lists that hold for it. The key is an address, a domain, or a mail address, for its domain.
 */
void answer_socketmap(const struct answer_view *view, struct socketmap *map, struct answer *answer);

/* Answers a request for a client: by the lists that hold for the port to which it connected, or for
 * tcp/25 if Postfix does not say; and, if these let it pass, by those that the configuration names
 * for the domain of the sender. */
void answer_policy(const struct answer_view *view, const struct policy *policy,
		   struct answer *answer);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The home of the wanted interfaces: the network namespace in which the store wants them. Names say
 * nothing of it, and pins, which do, are gone after a boot. */
#ifndef XB_STORE_HOME_H
#define XB_STORE_HOME_H

#include "base/netns.h"
#include "store/store.h"

struct xb_home {
	bool known;
	bool initial; /* the machine's first, which is there after each boot; the rest is no matter
		       */
	uint8_t boot[16];
	struct xb_netns netns;
};

/* Where this process is, seen from there. */
enum xb_place {
	XB_PLACE_HOME, /* or nobody can tell */
	XB_PLACE_NEW,  /* no home is known */
	XB_PLACE_AWAY,
	XB_PLACE_HEIR, /* away, and the home is gone: it ended, or the machine has booted since */
};

int xb_home_get(struct xb_txn *txn, struct xb_home *home);

/* Whether it is what xb_home_put() would keep. */
bool xb_home_is_here(const struct xb_home *home);

/* Makes the namespace of this process the home. Writes nothing if it is the home already. */
int xb_home_put(struct xb_txn *txn);

enum xb_place xb_home_place(const struct xb_home *home);

/* The error for a process at such a place (AWAY or HEIR): it says where to go. */
int xb_home_refuse(const struct xb_home *home, enum xb_place place, const char *state);

#endif

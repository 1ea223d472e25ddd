/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The home of the wanted interfaces: the network namespace in which the store wants them. The store
 * records it, because the pins, which show it too, are gone after a boot. */
#ifndef XB_STORE_HOME_H
#define XB_STORE_HOME_H

#include "base/netns.h"
#include "store/store.h"

struct xb_home {
	bool known;
	bool initial; /* the initial namespace, which each boot has; the fields below are unused */
	uint8_t boot[16];
	struct xb_netns netns;
};

/* Where this process is, seen from there. */
enum xb_place {
	XB_PLACE_HOME, /* at home, or it cannot be determined */
	XB_PLACE_NEW,  /* no home is known */
	XB_PLACE_AWAY,
	XB_PLACE_HEIR, /* away, and the home is gone: it ended, or the machine has booted since */
};

int xb_home_get(struct xb_txn *txn, struct xb_home *home);

/* Whether xb_home_put() would leave this record as it is. */
bool xb_home_is_here(const struct xb_home *home);

/* Makes the namespace of this process the home. Writes nothing if it is the home already. */
int xb_home_put(struct xb_txn *txn);

enum xb_place xb_home_place(const struct xb_home *home);

/* Records and returns the error for a process at this place (AWAY or HEIR); it says where to run
 * the command. */
int xb_home_refuse(const struct xb_home *home, enum xb_place place, const char *state);

#endif

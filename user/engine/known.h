/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known sources: makes the kernel remember what the store wants remembered. */
#ifndef XB_ENGINE_KNOWN_H
#define XB_ENGINE_KNOWN_H

#include "attach/knownpins.h"
#include "base/paths.h"
#include "store/knownwish.h"

/*
 * Under the writer lock of the store with this identity. Creates what is missing, from the file if
 * there is one; turns the period, grows what is full, and ends what is forgotten. Unwanted, it is
 * saved and taken away; but what another store wants stays, unless this one wants it, too, and so
 * takes it over. at_home: sockets of this network namespace are heard from now on. An error:
 * nothing is there that filters could use. That nobody learns is a warning.
 */
int xb_known_settle(const struct xb_paths *paths, uint64_t store, const struct xb_known_wish *wish,
		    bool at_home);

/* Whether the kernel can have a filter as the wish says, and grow it once more. If not, an error
 * says until when. */
int xb_known_check(const struct xb_paths *paths, const struct xb_known_wish *wish);

/* Writes the file, if something is pinned; -ENOENT without a message: nothing is. */
int xb_known_save(const struct xb_paths *paths);

/* Forgets all: pins and file. The next xb_known_settle() begins anew, with another key. */
int xb_known_clear(const struct xb_paths *paths);

/* What is known now. Numbers of sources are estimates from the bits of up to 65,536 lines. */
struct xb_known_view {
	bool there;	/* the maps are; the rest is 0 if not */
	bool learns;	/* new ones are learned */
	uint64_t store; /* identity of the store that wants them, or wanted them last */
	bool elsewhere; /* of sockets of another network namespace than this process is in */
	uint32_t remember, left;     /* seconds of a period; until it ends */
	uint64_t capacity, lines;    /* of the set that learns; of all */
	double rate;		     /* of strangers taken for known, as the bits are now */
	double promised;	     /* of the same, what the sets were sized for */
	double now, before, sources; /* of this period; of the one before; different ones in both */
	uint32_t sets;
	uint64_t learned, renewed, lost; /* since it is in the kernel */
	uint64_t saved;			 /* seconds since 1970; 0: never */
};

int xb_known_look(const struct xb_paths *paths, struct xb_known_view *view);

/* Whether this address (hi: IPv4 in the upper half, or the /64) is known. -ENOENT without a
 * message: nothing is there. */
int xb_known_test(const struct xb_paths *paths, bool ipv4, uint64_t hi, bool *known);

/* Whether anybody is known. Nothing is there: nobody. */
int xb_known_anybody(const struct xb_paths *paths, bool *anybody);

/*
 * Clears a bit of the address in each period. In a Bloom filter others may have it, too: so many of
 * those that are known are forgotten with it, by estimate. -ENOENT as above.
 */
int xb_known_forget(const struct xb_paths *paths, bool ipv4, uint64_t hi, bool *was_known,
		    double *others);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The servers that bloomd talks to, and their addresses: a file of the run directory, which bloomd
 * replaces and every survey reads. A line is "ADDRESS HOST SECONDS": the last answer of a resolver
 * that had the address came so many seconds after 1970. */
#ifndef XB_MACHINE_PEERFILE_H
#define XB_MACHINE_PEERFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/lifelines.h"
#include "model/entry.h"

#define XB_PEER_FILE "peers" /* in the run directory */

#define XB_PEER_HOST_MAX  256 /* bytes of a name, terminator included */
#define XB_PEER_HOSTS	  64
#define XB_PEER_ADDRESSES 16 /* of a host */
#define XB_PEERS_MAX	  (XB_PEER_HOSTS * XB_PEER_ADDRESSES)
#define XB_PEER_SECONDS	  (24 * 3600) /* for which an address counts after the last answer */

struct xb_peer {
	struct xb_entry address; /* of full length */
	char host[XB_PEER_HOST_MAX];
	int64_t seen;
};

/* All zero is an empty list. */
struct xb_peer_list {
	struct xb_peer *item;
	size_t count, room;
};

/* The host of a URL as bloomd takes them, or of a proxy, which may lack the scheme. False: it names
 * none (unix:, file:), or none that can be looked up. */
bool xb_peer_host(const char *url, char host[XB_PEER_HOST_MAX]);

/* Whether a peer may have this address: not an unspecified, reserved or loopback one, nor one of a
 * group. */
bool xb_peer_address_ok(const struct xb_entry *address);

/*
 * Adds the address of a host, or renews the time of the one that is there. If the host has its
 * full number, its oldest one makes way if that is older; if the list has, nothing is added.
 * Returns 0 or an error with its message.
 */
int xb_peer_put(struct xb_peer_list *list, const struct xb_peer *peer);

/* Reads the addresses that still count. A line that is not understood is passed by. -ENOENT without
 * a message: there is no file. Other errors have one. The caller frees the list in any case. */
int xb_peers_read(const char *run, int64_t now, struct xb_peer_list *list);

/* Replaces the file. Returns 0 or an error with its message. */
int xb_peers_write(const char *run, const struct xb_peer_list *list);

/* Leaves it empty. */
void xb_peers_free(struct xb_peer_list *list);

/* For a survey: the file speaks for all peers. One that is missing or cannot be read says nothing;
 * the latter is a notice. */
int xb_peers_find(const char *run, struct xb_lifelines *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts that the configuration has bloomd talk to. */
#ifndef XB_BLOOMD_PEERHOSTS_H
#define XB_BLOOMD_PEERHOSTS_H

#include "bloomd/base/config.h"
#include "machine/peerfile.h"

struct peerhosts {
	char name[XB_PEER_HOSTS][XB_PEER_HOST_MAX];
	size_t count;
	size_t more; /* for which there is no room */
};

/*
 * Finds the server of the fleet, that of CrowdSec, proxies of the environment, and the servers of
 * feeds, in this order, each host once. Where a server sends a request on to is not known here:
 * that would be the server's choice.
 */
void peerhosts_find(const struct config *config, struct peerhosts *hosts);

bool peerhosts_have(const struct peerhosts *hosts, const char *name);

#endif

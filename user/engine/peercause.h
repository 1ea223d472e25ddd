/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a server may not answer: we drop its packets. */
#ifndef XB_ENGINE_PEERCAUSE_H
#define XB_ENGINE_PEERCAUSE_H

#include <stddef.h>

#include "base/paths.h"

/*
 * Writes the message of a server that cannot be reached, as much of it as has room. If one of its
 * addresses is listed and not allowed, that stands in front: "192.0.2.7, where bloomd asks
 * feeds.example, is listed (list bans): ...". url: of the configuration. The addresses are those of
 * the file of peers.
 */
void xb_peer_cause(const struct xb_paths *paths, const char *url, const char *message, char *out,
		   size_t room);

#endif

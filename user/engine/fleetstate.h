/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd knows of its fleet, in the file fleet.json of the run directory, which it replaces
 * when something changes and every 10 s; everybody may read it who may read the store. */
#ifndef XB_ENGINE_FLEETSTATE_H
#define XB_ENGINE_FLEETSTATE_H

#include <jansson.h>

#include "base/paths.h"

#define XB_FLEET_STATE "fleet.json" /* in the run directory */

/*
 * An object; texts are UTF-8, safe for a terminal; times seconds since 1970, with fractions:
 *
 *  schema       1
 *  name         of the fleet
 *  host         this host, 32 hex digits
 *  written      when the file was
 *  connected    whether the server answers
 *  state        "connecting", "reading", "resyncing", "rewinding", "beginning", "held", "waiting"
 *               (no log and nobody who may begin one), "failed"
 *  message      why it is not reading; "" otherwise
 *  outcome      of the last connection that was lost: a word; "": none was
 *  since        when the state was entered
 *  last_message when something of the server was last taken
 *  epoch, term, position   of this host; epoch in hex
 *  log_end      last position that the server is known to have
 *  outbox       changes that wait
 *  skew         seconds that this clock is ahead of the server's
 *  lists        array of {name, publish, follow, joined, entries, digest (hex)}
 *  resyncs      {cause: count}
 *  hosts        array of what the hosts report: {host, name, position, term, epoch, time, at,
 * digests {list: hex}, outbox, lists, version}; at: the time as of which the digests are held
 * {list, before, after, snapshot} if an operator has to say yes; otherwise missing
 */

/* Replaces the file. Returns 0 or an error with its message. */
int xb_fleet_state_write(const struct xb_paths *paths, const json_t *state);

/* A new reference, or NULL: *error is -ENOENT without a message if there is none, or another error
 * with its message. */
json_t *xb_fleet_state_read(const struct xb_paths *paths, int *error);

#endif

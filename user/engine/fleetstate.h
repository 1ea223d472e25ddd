/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd knows of its fleet, in the file fleet.json of the run directory, which it replaces
 * when something changes and every 10 s; everybody may read it who may read the store. The outcome
 * of the last `fleet verify` is in a file beside. */
#ifndef XB_ENGINE_FLEETSTATE_H
#define XB_ENGINE_FLEETSTATE_H

#include <jansson.h>

#include "base/paths.h"

#define XB_FLEET_STATE	  "fleet.json" /* in the run directory */
#define XB_FLEET_VERIFIED "fleet-verified.json"

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
 *  message      why it is not reading, cannot publish, or cannot make a snapshot; "" otherwise
 *  outcome      of the last connection that was lost: a word; "": none was
 *  since        when the state was entered
 *  last_message when something of the server was last taken
 *  epoch, term, position   of this host; epoch in hex
 *  log_end      last position that the server is known to have
 *  outbox       changes that wait
 *  skew         seconds that this clock is ahead of the server's
 *  files        when the snapshot was made that came from files last, or is there as files; 0: none
 *  lists        array of {name, publish, follow, joined, entries, digest (hex)}
 *  resyncs      {cause: count}
 *  reports_read when the reports of the hosts were; 0: never
 *  hosts        array of them: {host, name, position, term, epoch, time, at, digests {list: hex},
 *               outbox, lists, version, state, skew, seen}; at: the time as of which the digests
 *               are; skew: as above, of that host; seen: when this host saw the report first
 *  former       this host's report as of the time before, as in hosts; may be missing
 *  held         {list, before, after, snapshot} if an operator has to say yes; otherwise missing
 */

/* Replaces the file. Returns 0 or an error with its message. */
int xb_fleet_state_write(const struct xb_paths *paths, const json_t *state);

/* The host is in no fleet any more: removes the files, if it can. */
void xb_fleet_state_remove(const struct xb_paths *paths);

/* A new reference, or NULL: *error is -ENOENT without a message if there is none, or another error
 * with its message. */
json_t *xb_fleet_state_read(const struct xb_paths *paths, int *error);

#define XB_FLEET_DIFFERENCES 10000 /* that are kept, at most */

/*
 * An object:
 *
 *  token        of the request
 *  fleet        its name
 *  snapshot     {id (hex), time (seconds since 1970, with fractions), term, position}
 *  position     of this host
 *  behind       it has not taken the snapshot, or what leads to it
 *  partial      it does not know all changes since the snapshot
 *  loaded       {bytes, chunks, blooms}: of the snapshot's parts
 *  lists        array of {name, here, snapshot (entries), missing, extra, changed, log, outbox}
 *  differences  array of {list, entry, kind ("missing", "extra", "changed"), here {expires,
 * comment}, snapshot {expires, comment}}, as many as were asked for; what there is not is missing
 *  more         how many others there are
 */
int xb_fleet_verified_write(const struct xb_paths *paths, const json_t *verified);
json_t *xb_fleet_verified_read(const struct xb_paths *paths, int *error);

#endif

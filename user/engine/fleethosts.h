/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports of a fleet's hosts say of them. A host is judged from here: whoever is asked
 * says how others stand to him. */
#ifndef XB_ENGINE_FLEETHOSTS_H
#define XB_ENGINE_FLEETHOSTS_H

#include <jansson.h>

#define XB_FLEET_SKEW	5  /* seconds that clocks may differ */
#define XB_FLEET_SILENT 60 /* seconds without a report */

enum {
	XB_HOST_DIFFERS = 1, /* another digest at the same position as of the same time */
	XB_HOST_SILENT = 2,
	XB_HOST_SKEWED = 4, /* its clock differs from the server's */
};

/* state: as of fleetstate.h. NULL: this host has not reported. */
const json_t *xb_fleet_own_report(const json_t *state);

/* own: as above. host: one of the state's hosts. Returns XB_HOST_ bits. */
unsigned int xb_fleet_judge(const json_t *state, const json_t *own, const json_t *host);

/* How many entries of the log it had yet to apply when it reported, as this host knows the log's
 * end; of a host in another epoch 0. */
long long xb_fleet_behind(const json_t *state, const json_t *host);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families of tallies: what the figures are called, what they mean, and how many there may be. */
#ifndef XB_ENGINE_TALLYFAMILY_H
#define XB_ENGINE_TALLYFAMILY_H

#include <stdint.h>

/* Append a family here and to the table in tallyfamily.c; docs/agent.md lists it. */
enum xb_tally {
	XB_TALLY_API_REQUESTS,	    /* {command,outcome} */
	XB_TALLY_COMMIT_SECONDS,    /* histogram, {} */
	XB_TALLY_EXPIRED,	    /* {} */
	XB_TALLY_FEED_FETCHES,	    /* {feed,outcome} */
	XB_TALLY_FEED_REFUSALS,	    /* {feed,guard} */
	XB_TALLY_FEED_SUCCESS,	    /* gauge {feed}: seconds since 1970 */
	XB_TALLY_FEED_CONTENT,	    /* gauge {feed}: seconds since 1970 */
	XB_TALLY_FEED_ENTRIES,	    /* gauge {feed} */
	XB_TALLY_FEED_PERIOD,	    /* gauge {feed}: seconds */
	XB_TALLY_FLEET_RESYNCS,	    /* {cause} */
	XB_TALLY_CROWDSEC_RESYNCS,  /* {cause} */
	XB_TALLY_CROWDSEC_LEFT_OUT, /* {why} */
	XB_TALLY_FLEET_CONNECTED,   /* gauge {fleet}: 0 or 1 */
	XB_TALLY_FLEET_LAG,	    /* gauge {fleet}: entries of the log */
	XB_TALLY_FLEET_MESSAGE,	    /* gauge {fleet}: seconds since 1970 */
	XB_TALLY_FLEET_OUTBOX,	    /* gauge {fleet}: changes */
	XB_TALLY_FLEET_SKEW,	    /* gauge {fleet}: seconds, either way */
	XB_TALLY_FLEET_HOSTS,	    /* gauge {fleet} */
	XB_TALLY_FLEET_SILENT,	    /* gauge {fleet}: hosts */
	XB_TALLY_FLEET_DIFFERING,   /* gauge {fleet}: hosts */
	XB_TALLY_FLEET_FILES,	    /* {outcome} */
	XB_TALLY_FLEET_SNAPSHOT,    /* gauge {fleet}: seconds since 1970 */
	XB_TALLY_FLEET_REFUSED,	    /* {what} */
	XB_TALLY_CURES,		    /* {mode} */
	XB_TALLIES,
};

enum xb_tally_kind { XB_TALLY_COUNTER, XB_TALLY_GAUGE, XB_TALLY_HISTOGRAM };

struct xb_tally_family {
	const char *name, *help; /* without the prefix of all metrics */
	enum xb_tally_kind kind;
	const char *label[2]; /* names; NULL: the family has fewer */
	uint32_t cells;	      /* there is room for so many; without labels 1 */
};

const struct xb_tally_family *xb_tally_family(enum xb_tally family);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened between two readings of the filter, and how the installation stands at the second.
 */
#ifndef XB_CLI_TOP_METER_H
#define XB_CLI_TOP_METER_H

#include <jansson.h>
#include <stdbool.h>

#include "attach/counts.h"
#include "attach/topnames.h"
#include "bloomctl/top/tally.h"
#include "engine/feedstate.h"
#include "engine/health.h"

#define METER_MOST 100 /* sources, names */

struct meter_source {
	struct tally_source tally; /* packets: estimated, if not all drops were reported */
	json_t *covered;	   /* {"entry", "lists"}, see display_entry_json() */
	char limit[XB_LIMIT_NAME]; /* that its last packet was over; empty: none */
};

struct meter_limit {
	struct xb_limit limit;
	struct xb_count over; /* since the last reading */
};

struct meter_interface {
	uint32_t ifindex;	/* 0: those that have no row, together */
	struct xb_counts since; /* the last reading */
	struct xb_count total, dropped;
};

/* All zero before it is read. */
struct meter_view {
	double seconds; /* between the readings */
	bool attached;
	struct xb_health health;
	struct meter_interface *interfaces;
	size_t interface_count;
	struct xb_counts reasons; /* of all interfaces, since the last reading */
	struct xb_counts ever;	  /* the same since they were attached */
	uint64_t dropped;	  /* packets of which the kernel tells a watcher, if it has room */
	uint64_t reported;	  /* those it told of */
	char why_no_sources[128]; /* empty: sources are known */
	struct meter_source sources[METER_MOST];
	size_t source_count;
	struct xb_topname names[METER_MOST]; /* packets: since the last reading */
	size_t name_count;
	struct meter_limit limits[XB_LIMITS];
	size_t limit_count;
	struct xb_feed_state *feeds;
	size_t feed_count;
};

struct meter;

/* Begins to count. Returns 0 or an error with its message. */
int meter_open(const struct xb_paths *paths, struct meter **meter);
void meter_close(struct meter *meter);

/* Waits for a tenth of a second at most, and takes the drops that come meanwhile. To be called
 * again and again; a signal ends the wait. */
void meter_wait(struct meter *meter);

/* Reads again. Returns 0 or an error with its message; the caller frees the view in either case. */
int meter_read(struct meter *meter, struct meter_view *view);
void meter_free(struct meter_view *view);

/* Packets a second, bits a second. */
double meter_packets(const struct meter_view *view, uint64_t packets);
double meter_bits(const struct meter_view *view, uint64_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates come from the counters, so they are exact. Sources come from the reports of drops, which
 * the kernel limits: of a flood they are a sample. */
#include "bloomctl/top/meter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/drops.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/patience.h"
#include "bloomctl/blame.h"
#include "model/reason.h"
#include "store/covers.h"

#define SAMPLES 2000 /* reports a second */
#define TENTH	100  /* ms */

/* What is compared with the next one. */
struct reading {
	uint64_t when;
	bool attached;
	struct xb_count_table counts;
	struct xb_topname *names; /* by name */
	size_t name_count;
	struct xb_limit_figures limits;
};

struct meter {
	const struct xb_paths *paths;
	struct xb_drops drops;
	bool watching; /* drops is open */
	char why_not[128];
	struct tally tally;
	struct reading before, now;
};

static void free_reading(struct reading *reading)
{
	xb_counts_free(&reading->counts);
	free(reading->names);
	*reading = (struct reading){0};
}

/* That a query passed and was counted is no drop. */
static bool is_drop(unsigned int reason)
{
	return reason != XB_NAME_COUNTED && xb_drop_is_told(reason);
}

static int see(const struct xb_drop *drop, void *context)
{
	struct meter *meter = context;

	return is_drop(drop->reason) ? tally_add(&meter->tally, drop) : 0;
}

/* Where nothing is attached there is nothing to watch, which needs no words. */
static void watch(struct meter *meter)
{
	int error = xb_drops_open(&meter->drops, meter->paths->pins, SAMPLES, see, meter);

	meter->watching = !error;
	meter->why_not[0] = '\0';
	if (error && error != -ENOENT)
		snprintf(meter->why_not, sizeof(meter->why_not), "%s", xb_error_message());
}

void meter_wait(struct meter *meter)
{
	if (!meter->watching) {
		poll(NULL, 0, TENTH);
	} else if (xb_drops_poll(&meter->drops)) {
		xb_drops_close(&meter->drops);
		meter->watching = false;
	}
}

/* The rest is there without the store: what cannot be read of it is left out. */
static int read_limits(const char *state, const struct xb_anchor *anchor,
		       struct xb_limit_figures *limits)
{
	struct xb_storeview view;
	int error = 0;

	if (xb_storeview_glance(state, &view))
		xb_error_clear();
	else
		error = xb_limit_figures_read(anchor, view.limits, limits);
	xb_storeview_free(&view);
	return error;
}

/* Looks for the anchor each time: it is another one after a detach and an attach. */
static int read_now(const struct xb_paths *paths, struct reading *reading)
{
	struct xb_anchor anchor;
	int error = xb_anchor_open(paths->pins, &anchor);

	*reading = (struct reading){.when = xb_clock()};
	if (error)
		return error == -ENOENT ? 0 : error;
	reading->attached = true;
	error = xb_counts_read(&anchor, &reading->counts);
	reading->when = xb_clock();
	if (!error)
		error = xb_topnames_read(&anchor, &reading->names, &reading->name_count);
	if (!error)
		error = read_limits(paths->state, &anchor, &reading->limits);
	xb_anchor_close(&anchor);
	if (reading->name_count)
		qsort(reading->names, reading->name_count, sizeof(*reading->names),
		      xb_topname_by_name);
	return error;
}

static void add(struct xb_count *sum, struct xb_count more)
{
	sum->packets += more.packets;
	sum->bytes += more.bytes;
}

static void compare_row(const struct xb_count_row *now, const struct xb_counts *then,
			struct meter_view *view)
{
	struct meter_interface *one = &view->interfaces[view->interface_count++];

	*one = (struct meter_interface){.ifindex = now->ifindex};
	for (unsigned int reason = 0; reason < XB_REASON_COUNT; reason++) {
		struct xb_count since = xb_count_since(&now->counts, then, reason);

		one->since.reason[reason] = since;
		add(&one->total, since);
		if (xb_reason_drops(reason))
			add(&one->dropped, since);
		if (is_drop(reason))
			view->dropped += since.packets;
		add(&view->reasons.reason[reason], since);
		add(&view->ever.reason[reason], now->counts.reason[reason]);
	}
}

static int compare_counts(const struct reading *now, const struct reading *then,
			  struct meter_view *view)
{
	size_t count = now->counts.count;

	if (!count)
		return 0;
	view->interfaces = calloc(count, sizeof(*view->interfaces));
	if (!view->interfaces)
		return xb_out_of_memory();
	for (size_t i = 0; i < count; i++) {
		const struct xb_count_row *row = &now->counts.rows[i];

		compare_row(row, xb_counts_of(&then->counts, row->ifindex), view);
	}
	return 0;
}

static uint64_t hits_since(const struct xb_topname *now, const struct reading *then)
{
	const struct xb_topname *found = then->name_count
						 ? bsearch(now, then->names, then->name_count,
							   sizeof(*now), xb_topname_by_name)
						 : NULL;

	return now->packets - (found && found->packets <= now->packets ? found->packets : 0);
}

/* Of a slot that changes hands, names come back with fewer packets. */
static int compare_names(const struct reading *now, const struct reading *then,
			 struct meter_view *view)
{
	struct xb_topname *since;
	size_t count = 0;

	if (!now->name_count)
		return 0;
	since = calloc(now->name_count, sizeof(*since));
	if (!since)
		return xb_out_of_memory();
	for (size_t i = 0; i < now->name_count; i++) {
		since[count] = now->names[i];
		since[count].packets = hits_since(&now->names[i], then);
		count += since[count].packets > 0;
	}
	qsort(since, count, sizeof(*since), xb_topname_by_packets);
	view->name_count = count < METER_MOST ? count : METER_MOST;
	memcpy(view->names, since, view->name_count * sizeof(*since));
	free(since);
	return 0;
}

static void compare_limits(const struct reading *now, const struct reading *then,
			   struct meter_view *view)
{
	for (uint32_t i = 0; i < now->limits.count; i++) {
		const struct xb_limit_figure *figure = &now->limits.item[i];

		view->limits[view->limit_count++] = (struct meter_limit){
			.limit = figure->limit, .over = xb_limit_over_since(figure, &then->limits)};
	}
}

static uint64_t estimate(const struct meter_view *view, uint64_t seen)
{
	if (view->reported >= view->dropped)
		return seen;
	return (uint64_t)((double)seen * (double)view->dropped / (double)view->reported + 0.5);
}

static void take_sources(struct meter *meter, struct meter_view *view)
{
	struct tally_source taken[METER_MOST];

	view->reported = meter->tally.seen;
	view->source_count = tally_take(&meter->tally, taken, METER_MOST);
	for (size_t i = 0; i < view->source_count; i++) {
		view->sources[i] = (struct meter_source){.tally = taken[i]};
		view->sources[i].tally.packets = estimate(view, taken[i].packets);
	}
	memcpy(view->why_no_sources, meter->why_not, sizeof(view->why_no_sources));
}

static int find_entry(struct xb_txn *txn, struct meter_source *source)
{
	const struct tally_source *last = &source->tally;
	struct blame blame = blame_of(last->reason, !xb_entry_is_ipv4(&last->source),
				      last->protocol, last->sport, last->dport);
	struct xb_members members;
	struct xb_covers covers;
	int found;

	if (xb_reason_is_over_limit(last->reason))
		return blame_limit(txn, last->limit, source->limit);
	found = blame_find(txn, &blame, &last->source, &covers, &members);
	if (found > 0)
		source->covered = blame_json(txn, &blame, &last->source, &covers.entry, members);
	return found < 0 ? found : 0;
}

static int find_entries(const char *state, struct meter_view *view)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error;

	if (!view->source_count)
		return 0;
	error = xb_store_begin_reading(state, &store, &txn);
	if (error)
		return error == -ENOENT ? 0 : error;
	for (size_t i = 0; !error && i < view->source_count; i++)
		error = find_entry(txn, &view->sources[i]);
	xb_store_end_reading(store, txn);
	return error;
}

static int compare(struct meter *meter, const struct reading *now, struct meter_view *view)
{
	int error;

	view->seconds = (double)(now->when - meter->before.when) / XB_SECOND;
	view->attached = now->attached;
	compare_limits(now, &meter->before, view);
	error = compare_counts(now, &meter->before, view);
	if (!error)
		error = compare_names(now, &meter->before, view);
	if (!error) {
		take_sources(meter, view);
		error = find_entries(meter->paths->state, view);
	}
	return error;
}

int meter_read(struct meter *meter, struct meter_view *view)
{
	int error;

	*view = (struct meter_view){0};
	xb_patience_renew();
	error = read_now(meter->paths, &meter->now);
	if (!error)
		error = compare(meter, &meter->now, view);
	if (error) {
		free_reading(&meter->now);
		return error;
	}
	free_reading(&meter->before);
	meter->before = meter->now;
	if (!meter->watching)
		watch(meter);
	error = xb_feed_states_read(meter->paths->state, &view->feeds, &view->feed_count);
	return error ? error : xb_health_look(meter->paths, &view->health);
}

void meter_free(struct meter_view *view)
{
	xb_health_free(&view->health);
	free(view->interfaces);
	free(view->feeds);
	for (size_t i = 0; i < view->source_count; i++)
		json_decref(view->sources[i].covered);
	*view = (struct meter_view){0};
}

int meter_open(const struct xb_paths *paths, struct meter **out)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	int error;

	*out = meter;
	if (!meter)
		return xb_out_of_memory();
	meter->paths = paths;
	watch(meter);
	error = read_now(paths, &meter->before);
	if (!error)
		return 0;
	meter_close(meter);
	*out = NULL;
	return error;
}

void meter_close(struct meter *meter)
{
	if (!meter)
		return;
	if (meter->watching)
		xb_drops_close(&meter->drops);
	tally_free(&meter->tally);
	free_reading(&meter->before);
	free(meter);
}

double meter_packets(const struct meter_view *view, uint64_t packets)
{
	return view->seconds > 0 ? (double)packets / view->seconds : 0;
}

double meter_bits(const struct meter_view *view, uint64_t bytes)
{
	return 8 * meter_packets(view, bytes);
}

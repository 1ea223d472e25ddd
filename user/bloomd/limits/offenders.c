/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/limits/offenders.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "attach/knownpins.h"
#include "attach/offenders.h"
#include "base/clock.h"
#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/base/storewatch.h"
#include "bloomd/limits/offences.h"
#include "engine/edit.h"
#include "filter/limitmap.h"
#include "store/fleet.h"
#include "store/lists.h"
#include "store/limits.h"
#include "store/membership.h"
#include "store/origins.h"

#define GATHER 5000	/* us from the first report to the write that lists it */
#define REFILL 100000	/* us until the kernel may report more, while it reports */
#define LOOK   1000000	/* the same while it is silent, and until the anchor is looked for again */
#define MINUTE 60000000 /* us */

/* A source that is reported while it is listed was reported just before it was, or its list drops
 * nothing: it stays longer if less than this part of the next time is left. */
#define NEARLY_OVER 8

/* us that reports wait while others write, or a change is on trial. A source that goes on is
 * reported again in a second. */
#define PATIENCE 2000000

#define A_MINUTE XB_LIMIT_LISTED_A_MINUTE
#define IN_ALL	 XB_LIMIT_LISTED_IN_ALL

struct offender {
	uint32_t number; /* of the limit */
	uint64_t identity, store;
	struct xb_drop drop;
	/* Set when it is listed: */
	struct xb_entry source;
	uint32_t timeout;
};

/* Of one limit. */
struct tally {
	uint64_t identity;    /* of the limit */
	uint64_t minute;      /* when it began, agent_clock() */
	uint32_t listed;      /* in this minute */
	uint32_t untold;      /* listed, and not logged yet */
	uint64_t told;	      /* when some were logged, agent_clock() */
	struct xb_entry last; /* of these */
	uint32_t timeout;     /* of the last one */
	bool hurried, full;   /* which bound was reached, in this minute */
	bool hurried_told, full_told;
};

struct offenders {
	struct agent *agent;
	struct xb_offenders reader;
	struct offences *offences;
	sd_event_source *watch, *settler, *look, *readable, *writer;
	bool wanted;			/* there is a limit with a list */
	bool failed;			/* it was told that they cannot be listed */
	bool busy;			/* something was reported since the last look */
	struct xb_limits_wanted limits; /* of the last write */
	struct tally tally[XB_LIMITS];
	size_t count;
	uint64_t since; /* when the first of these came, agent_clock() */
	struct offender waiting[XB_OFFENDERS_MOST];
};

static void set_timer(sd_event_source *timer, uint64_t delay)
{
	sd_event_source_set_time(timer, agent_clock() + delay);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

static bool is_armed(sd_event_source *timer)
{
	int enabled = SD_EVENT_OFF;

	return sd_event_source_get_enabled(timer, &enabled) > 0 && enabled != SD_EVENT_OFF;
}

/* --- reports --- */

static void see(const struct xb_offender *report, void *context)
{
	struct offenders *offenders = context;

	if (offenders->count == XB_OFFENDERS_MOST)
		return;
	if (!offenders->count)
		offenders->since = agent_clock();
	offenders->waiting[offenders->count++] =
		(struct offender){.number = report->drop.limit % XB_LIMITS,
				  .identity = report->identity,
				  .store = report->store,
				  .drop = report->drop};
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct offenders *offenders = context;
	int taken = xb_offenders_read(&offenders->reader);

	(void)fd;
	(void)events;
	if (taken < 0)
		log_error(NULL);
	/* Who may write the pins can have the ring say for ever that there is something. */
	if (taken <= 0)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (offenders->count && !is_armed(offenders->writer))
		set_timer(offenders->writer, GATHER);
	if (!offenders->busy)
		set_timer(offenders->look, REFILL);
	offenders->busy = true;
	return 0;
}

static void leave(struct offenders *offenders)
{
	offenders->readable = sd_event_source_disable_unref(offenders->readable);
	xb_offenders_close(&offenders->reader);
}

/* Without an anchor there is nothing to read; it is looked for again. */
static void enter(struct offenders *offenders)
{
	struct agent *agent = offenders->agent;
	int error = xb_offenders_open(&offenders->reader, agent->paths.pins, see, offenders);

	if (error == -ENOENT || error == -ESTALE) {
		xb_error_clear();
		return;
	}
	if (!error) {
		error = sd_event_add_io(agent->loop, &offenders->readable,
					xb_offenders_descriptor(&offenders->reader), EPOLLIN,
					on_readable, offenders);
		error = error < 0 ? xb_system_error(-error, "cannot watch a ring") : 0;
		if (error)
			xb_offenders_close(&offenders->reader);
	}
	if (error && !offenders->failed)
		log_error("sources over limits are not listed");
	offenders->failed = error;
}

/* --- lists --- */

/* What of the address is the source. */
static struct xb_entry source_of(const struct xb_drop *drop, const struct xb_limit *limit)
{
	struct xb_entry source = {0};
	uint64_t hi;

	memcpy(&hi, drop->source, sizeof(hi));
	hi = be64toh(hi);
	if (drop->family == 6) {
		source.kind = XB_NET6;
		source.length = limit->bits6;
		source.hi =
			limit->bits6 == 64 ? hi : hi >> (64 - limit->bits6) << (64 - limit->bits6);
		return source;
	}
	source.kind = limit->bits4 == 32 ? XB_HOST4 : XB_PREFIX4;
	source.length = limit->bits4;
	source.hi = hi >> (64 - limit->bits4) << (64 - limit->bits4);
	return source;
}

/* Whether the source has completed at least half as many handshakes with the port as the limit
 * allows connections: a source that sends half as much by itself is nobody who is there only
 * because others send in its name. */
static bool is_proven(const struct xb_knownpins *known, const struct xb_limit *limit,
		      const struct xb_drop *drop)
{
	uint32_t window = limit->period == 1 ? 0 : limit->period == 60 ? 1 : 2;
	struct xb_entry source = source_of(drop, limit);
	struct xb_met met;

	if (!drop->dport ||
	    xb_knownpins_met(known, drop->family == 4, source.hi, be16toh(drop->dport), &met))
		return false;
	return xb_met_handshakes(&met, window, xb_clock_boot()) >= (limit->rate + 1) / 2;
}

/* The limit that the report is about, if there still is one that lists. */
static const struct xb_limit *limit_of(const struct offenders *offenders,
				       const struct offender *one)
{
	const struct xb_limit *limit = &offenders->limits.limit[one->number];

	return *limit->list && xb_limitmap_identity(limit) == one->identity ? limit : NULL;
}

/* Who has no address yet sends from 0.0.0.0 or ::, so one would be listed for all of them. */
static bool may_be_listed(const struct xb_knownpins *known, const struct xb_limit *limit,
			  const struct xb_drop *drop)
{
	return source_of(drop, limit).hi && (limit->forgeable || is_proven(known, limit, drop));
}

/* Takes those out that others may have forged, where the limit does not list such. */
static void judge(struct offenders *offenders)
{
	struct xb_knownpins known = xb_no_knownpins;
	size_t kept = 0;

	if (xb_knownpins_open(offenders->agent->paths.pins, &known))
		xb_error_clear();
	for (size_t i = 0; i < offenders->count; i++) {
		const struct xb_limit *limit = limit_of(offenders, &offenders->waiting[i]);

		if (limit && may_be_listed(&known, limit, &offenders->waiting[i].drop))
			offenders->waiting[kept++] = offenders->waiting[i];
	}
	offenders->count = kept;
	xb_knownpins_close(&known);
}

/* listed: by the present write. */
static bool has_room(struct tally *tally, const struct xb_list *list, uint32_t listed)
{
	bool hurried = tally->listed + listed >= A_MINUTE, full = list->members >= IN_ALL;

	tally->hurried |= hurried;
	tally->full |= full;
	return !hurried && !full;
}

/* Whether one that the limit has listed before is to stay for longer. */
static bool is_to_stay(const struct xb_membership *member, const struct xb_edit_terms *terms,
		       uint32_t now)
{
	return member->expires && member->expires <= now + terms->timeout / NEARLY_OVER &&
	       member->comment_size == strlen(terms->comment) &&
	       !memcmp(member->comment, terms->comment, member->comment_size);
}

/* Puts a source into the list of its limit, or keeps it there for longer if it is about to leave.
 * Sets its timeout to 0 if it stays as it is. */
static int list_one(struct xb_writer *writer, struct offenders *offenders,
		    struct xb_edit_terms *terms, struct offender *one, uint32_t listed)
{
	const struct xb_limit *limit = &offenders->limits.limit[one->number];
	struct tally *tally = &offenders->tally[one->number];
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	struct xb_membership member;
	struct xb_members members;
	bool found;
	int error = xb_members_of(writer->txn, &one->source, &members);

	if (error && error != -ENOENT)
		return error;
	found = !error && xb_members_have(members, terms->id, &member);
	terms->timeout = offences_timeout(offenders->offences, one->identity, limit, &one->source,
					  writer->now);
	if (found && !is_to_stay(&member, terms, writer->now))
		return 0;
	if (!found && !has_room(tally, xb_list_by_id(writer->txn, terms->id), listed))
		return 0;
	error = xb_edit_apply(writer, terms, &one->source, &result, &refusal);
	if (!error)
		xb_list_come_from(writer->txn, xb_list_by_id(writer->txn, terms->id),
				  XB_ORIGIN_LIMIT);
	if (!error)
		one->timeout = terms->timeout;
	return error;
}

/* Listed sources are admitted by allow-only, and a list that follows a fleet is others'. */
static bool may_list(const struct xb_txn *txn, const struct xb_limit *limit)
{
	return txn->meta.policy != XB_POLICY_ALLOW_ONLY && xb_share_is_ours(txn, limit->list);
}

/* Another limit may have taken over the number. */
static void tally_of_limit(struct tally *tally, const struct xb_limit *limit)
{
	uint64_t identity = xb_limitmap_identity(limit);

	if (tally->identity != identity)
		*tally = (struct tally){.identity = identity, .minute = agent_clock()};
}

/* Those of one limit. */
static int list_of_limit(struct xb_writer *writer, struct offenders *offenders, uint32_t number)
{
	const struct xb_limit *limit = &offenders->limits.limit[number];
	char comment[XB_LIMIT_NAME + sizeof("over limit ")];
	struct xb_edit_terms terms = {
		.add = true, .exist = true, .list = limit->list, .comment = comment};
	struct xb_edit_refusal refusal;
	bool begun = false;
	uint32_t listed = 0;
	int error = 0;

	tally_of_limit(&offenders->tally[number], limit);
	snprintf(comment, sizeof(comment), "over limit %s", limit->name);
	for (size_t i = 0; !error && i < offenders->count; i++) {
		struct offender *one = &offenders->waiting[i];

		if (one->number != number || one->store != writer->txn->meta.identity)
			continue;
		if (!begun)
			error = xb_edit_begin(writer, &terms, &refusal);
		begun = true;
		if (!error)
			error = list_one(writer, offenders, &terms, one, listed);
		listed += !error && one->timeout;
	}
	return error;
}

/* The body of the write. The limits may be others than a moment ago. */
static int list_all(struct xb_writer *writer, void *context)
{
	struct offenders *offenders = context;
	int error = xb_limits_get(writer->txn, &offenders->limits);

	if (error)
		return error;
	judge(offenders);
	for (size_t i = 0; i < offenders->count; i++) {
		struct offender *one = &offenders->waiting[i];

		one->source = source_of(&one->drop, &offenders->limits.limit[one->number]);
		one->timeout = 0;
	}
	for (uint32_t number = 1; !error && number < XB_LIMITS; number++)
		if (*offenders->limits.limit[number].list &&
		    may_list(writer->txn, &offenders->limits.limit[number]))
			error = list_of_limit(writer, offenders, number);
	return error;
}

static void take_listed(struct offenders *offenders)
{
	uint32_t now = (uint32_t)time(NULL);

	for (size_t i = 0; i < offenders->count; i++) {
		const struct offender *one = &offenders->waiting[i];
		struct tally *tally = &offenders->tally[one->number];

		if (!one->timeout)
			continue;
		offences_note(offenders->offences, one->identity,
			      &offenders->limits.limit[one->number], &one->source, one->timeout,
			      now);
		tally->listed++;
		tally->untold++;
		tally->last = one->source;
		tally->timeout = one->timeout;
	}
	offenders->count = 0;
}

static int read_limits(struct offenders *offenders)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(offenders->agent->paths.state, &store, &txn);

	offenders->limits = (struct xb_limits_wanted){0};
	if (!error)
		error = xb_limits_get(txn, &offenders->limits);
	xb_store_end_reading(store, txn);
	return error == -ENOENT ? 0 : error;
}

/* What cannot be listed now is reported again in a second, if it goes on. */
static int on_write(sd_event_source *source, uint64_t time, void *context)
{
	struct offenders *offenders = context;
	struct agent *agent = offenders->agent;
	int error = read_limits(offenders);

	(void)source;
	(void)time;
	if (!error)
		judge(offenders);
	if (!error && !offenders->count)
		return 0;
	agent_writes(agent, "limits");
	if (!error)
		error = xb_write(&agent->paths, 0, list_all, offenders, &agent->written);
	if (error && agent_is_busy(error)) {
		if (agent_clock() - offenders->since < PATIENCE)
			set_timer(offenders->writer, AGENT_RETRY);
		else
			offenders->count = 0;
		return 0;
	}
	if (!error || error == XB_UNMET) {
		take_listed(offenders);
		agent_wrote(agent);
		offenders->failed = false;
		return 0;
	}
	offenders->count = 0;
	if (!offenders->failed) {
		log_error("sources over limits are not listed");
		offenders->failed = true;
	}
	return 0;
}

/* --- what is told --- */

static void tell_listed(struct tally *tally, const struct xb_limit *limit)
{
	char text[XB_ENTRY_TEXT];

	if (!tally->untold || agent_clock() - tally->told < LOOK)
		return;
	log_info("limit %s: %u sources listed in %s, the last one %s for %u s", limit->name,
		 tally->untold, limit->list, xb_entry_format(&tally->last, text), tally->timeout);
	tally->untold = 0;
	tally->told = agent_clock();
}

static void tell(struct tally *tally, const struct xb_limit *limit)
{
	tell_listed(tally, limit);
	if (tally->hurried && !tally->hurried_told)
		log_info("limit %s: more than %d sources a minute are over it; the others are "
			 "limited, and not listed",
			 limit->name, A_MINUTE);
	tally->hurried_told = tally->hurried;
	if (tally->full && !tally->full_told)
		log_info("limit %s: list %s has %d entries; others are limited, and not listed",
			 limit->name, limit->list, IN_ALL);
	tally->full_told = tally->full;
}

static void tell_all(struct offenders *offenders)
{
	for (uint32_t number = 1; number < XB_LIMITS; number++) {
		struct tally *tally = &offenders->tally[number];

		tell(tally, &offenders->limits.limit[number]);
		if (agent_clock() - tally->minute < MINUTE)
			continue;
		tally->minute = agent_clock();
		tally->listed = 0;
		tally->hurried = tally->full = false;
	}
}

/* --- life --- */

static int on_look(sd_event_source *source, uint64_t time, void *context)
{
	struct offenders *offenders = context;

	(void)source;
	(void)time;
	if (!offenders->wanted)
		return 0;
	tell_all(offenders);
	if (offenders->readable &&
	    xb_offenders_look(&offenders->reader, offenders->agent->paths.pins))
		leave(offenders);
	if (!offenders->readable)
		enter(offenders);
	if (offenders->readable) {
		sd_event_source_set_enabled(offenders->readable, SD_EVENT_ON);
		xb_offenders_allow(&offenders->reader, XB_OFFENDERS_MOST);
	}
	set_timer(offenders->look, offenders->busy ? REFILL : LOOK);
	offenders->busy = false;
	return 0;
}

/* Reads while there is a limit with a list. */
static void settle(struct offenders *offenders)
{
	bool wanted = false;

	if (read_limits(offenders)) {
		log_error("sources over limits");
		return;
	}
	for (uint32_t number = 1; number < XB_LIMITS; number++)
		wanted |= *offenders->limits.limit[number].list != '\0';
	if (wanted && !offenders->wanted)
		set_timer(offenders->look, 0);
	if (!wanted)
		leave(offenders);
	offenders->wanted = wanted;
}

static int on_settle(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	settle(context);
	return 0;
}

static int on_change(sd_event_source *source, const struct inotify_event *event, void *context)
{
	const struct offenders *offenders = context;

	(void)source;
	if (storewatch_is_told(event))
		set_timer(offenders->settler, 0);
	return 0;
}

static int add_timer(struct offenders *offenders, sd_event_source **timer,
		     sd_event_time_handler_t on_time)
{
	int error = sd_event_add_time(offenders->agent->loop, timer, CLOCK_MONOTONIC, 0, 1000,
				      on_time, offenders);

	return error < 0 ? error : sd_event_source_set_enabled(*timer, SD_EVENT_OFF);
}

int offenders_start(struct agent *agent, struct offenders **out)
{
	struct offenders *offenders = calloc(1, sizeof(*offenders));
	int error;

	*out = offenders;
	if (!offenders)
		return xb_out_of_memory();
	offenders->agent = agent;
	offenders->offences = offences_new();
	if (!offenders->offences)
		return -ENOMEM;
	error = add_timer(offenders, &offenders->settler, on_settle);
	if (error >= 0)
		error = add_timer(offenders, &offenders->look, on_look);
	if (error >= 0)
		error = add_timer(offenders, &offenders->writer, on_write);
	if (error >= 0)
		error = sd_event_add_inotify(agent->loop, &offenders->watch, agent->paths.state,
					     STOREWATCH_EVENTS, on_change, offenders);
	if (error < 0)
		return xb_system_error(-error, "cannot watch %s", agent->paths.state);
	settle(offenders);
	return 0;
}

void offenders_stop(struct offenders *offenders)
{
	if (!offenders)
		return;
	leave(offenders);
	sd_event_source_disable_unref(offenders->watch);
	sd_event_source_disable_unref(offenders->settler);
	sd_event_source_disable_unref(offenders->look);
	sd_event_source_disable_unref(offenders->writer);
	offences_free(offenders->offences);
	free(offenders);
}

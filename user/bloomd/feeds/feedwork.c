/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/feedwork.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/author.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomd/feeds/feedplan.h"
#include "bloomd/feeds/leaving.h"
#include "bloomd/base/log.h"
#include "engine/import.h"
#include "engine/peercause.h"
#include "engine/relief.h"
#include "engine/rotate.h"
#include "engine/stamp.h"
#include "store/lists.h"

/* What is known beyond the state while one answer is taken. */
struct taking {
	struct feed_work *work;
	struct xb_feed_state *state;
	struct xb_listfile file;
	struct xb_import import;
	struct xb_request request;
	int64_t now, content_time;
	uint32_t lasts; /* seconds until the first entry ends; 0: none does */
	char digest[32];
	char stamp[XB_STAMP_TEXT];
};

__attribute__((format(printf, 4, 5))) static void
end_as(struct xb_feed_state *state, const char *outcome, const char *guard, const char *format, ...)
{
	va_list arguments;

	snprintf(state->outcome, sizeof(state->outcome), "%s", outcome);
	snprintf(state->guard, sizeof(state->guard), "%s", guard);
	va_start(arguments, format);
	vsnprintf(state->message, sizeof(state->message), format, arguments);
	va_end(arguments);
	xb_utf8_clean(state->message);
}

static void end_as_error(struct xb_feed_state *state)
{
	bool wrong = xb_error_class() == XB_ERROR_INPUT;

	end_as(state, wrong ? XB_FEED_REFUSED : XB_FEED_FAILED, wrong ? "format" : "", "%s",
	       xb_error_message());
}

/* What the engine refused, in the words of the configuration. */
static void end_as_refused(struct taking *taking, const struct xb_import_refusal *refusal)
{
	struct xb_feed_state *state = taking->state;

	switch (refusal->why) {
	case XB_IMPORT_EMPTIES:
		end_as(state, XB_FEED_REFUSED, "empty", "it has no entries");
		return;
	case XB_IMPORT_FEW_BYTES:
	case XB_IMPORT_FEW_ENTRIES:
		end_as(state, XB_FEED_REFUSED, "min-entries",
		       "%" PRIu64 " entries to take, and min-entries asks for %" PRIu64,
		       refusal->has, refusal->least);
		return;
	case XB_IMPORT_LISTED:
	case XB_IMPORT_EXCEPTED:
	case XB_IMPORT_ALLOWED:
		end_as(state, XB_FEED_REFUSED, "max-change",
		       "list %s would %s from %" PRIu64 " to %" PRIu64
		       " %s, more than %s-fold; max-change allows more",
		       taking->request.import.list,
		       refusal->after < refusal->before ? "shrink" : "grow", refusal->before,
		       refusal->after,
		       refusal->why == XB_IMPORT_LISTED	    ? "entries"
		       : refusal->why == XB_IMPORT_EXCEPTED ? "exceptions"
							    : "allowed entries",
		       XB_NUMBER(refusal->factor));
		return;
	}
}

static void end_as_unfit(struct taking *taking, const struct xb_feed_refusal *refusal)
{
	const struct xb_feed_guard *guard = &taking->work->feed->guard;
	char entry[XB_ENTRY_TEXT], canary[XB_ENTRY_TEXT];

	switch (refusal->why) {
	case XB_FEED_MANY_ENTRIES:
		end_as(taking->state, XB_FEED_REFUSED, "max-entries",
		       "%zu entries, and max-entries is %" PRIu64, taking->file.count,
		       guard->most_entries);
		return;
	case XB_FEED_SHARE:
		end_as(taking->state, XB_FEED_REFUSED, "max-share",
		       "it lists %.3g%% of all %s addresses, and max-share is %.3g%%",
		       refusal->share * 100, refusal->ipv6 ? "IPv6" : "IPv4", guard->share * 100);
		return;
	case XB_FEED_CANARY:
		end_as(taking->state, XB_FEED_REFUSED, "canary", "%s would list the canary %s",
		       xb_entry_format(&refusal->entry, entry),
		       xb_entry_format(&refusal->canary, canary));
		return;
	}
}

/* Names the content: nobody gains by two lists of one hash. FNV-1a of 64 bits, and the size. */
static int read_digest(int fd, char out[32], bool *html)
{
	uint64_t hash = 0xcbf29ce484222325, size = 0;
	char *part = malloc(1 << 16);
	ssize_t got = part ? 1 : -1;

	*html = false;
	while (got > 0 && (got = TEMP_FAILURE_RETRY(read(fd, part, 1 << 16))) > 0) {
		*html |= !size && xb_feed_is_html(part, (size_t)got);
		for (ssize_t i = 0; i < got; i++)
			hash = (hash ^ (uint8_t)part[i]) * 0x100000001b3;
		size += (uint64_t)got;
	}
	free(part);
	snprintf(out, 32, "%016" PRIx64 "%08" PRIx32, hash, (uint32_t)size);
	if (got < 0 || lseek(fd, 0, SEEK_SET))
		return xb_system_error(errno, "cannot read what was fetched");
	return 0;
}

/* Clocks differ by so many seconds. */
#define AHEAD_MOST 3600

/* Of a list that is valid and stale for ever nothing is renewed; nor of one whose date is still to
 * come, because it would never be too old. */
static bool is_too_old(struct taking *taking, int64_t content_time)
{
	uint32_t most = taking->work->feed->max_age;

	if (!most ||
	    (taking->now - content_time <= most && content_time - taking->now <= AHEAD_MOST))
		return false;
	if (content_time > taking->now) {
		end_as(taking->state, XB_FEED_REFUSED, "max-age",
		       "the content is from a time %" PRId64 " s ahead, so max-age cannot judge it",
		       content_time - taking->now);
		return true;
	}
	end_as(taking->state, XB_FEED_REFUSED, "max-age",
	       "the content is %" PRId64 " s old, and max-age is %" PRIu32 " s",
	       taking->now - content_time, most);
	return true;
}

static void end_as_unchanged(struct taking *taking)
{
	if (is_too_old(taking, taking->state->content_time))
		return;
	end_as(taking->state, XB_FEED_UNCHANGED, "", "%s", "");
	taking->state->last_success = taking->now;
}

/* Into taking->file. False: the state says why not. */
static bool read_list(struct taking *taking)
{
	const struct feed_config *feed = taking->work->feed;
	struct xb_listfile_terms terms = {.name = feed->name,
					  .format = feed->format,
					  .zone = feed->zone,
					  .choice = feed_config_choice(feed),
					  .most = feed->max_bytes,
					  .end = feed->end};
	struct xb_import_refusal refusal;
	struct xb_feed_refusal unfit;
	int error = xb_import_read(taking->work->fetched->body, feed->name, &terms, &taking->import,
				   &refusal);

	if (error == XB_IMPORT_REFUSED)
		end_as_refused(taking, &refusal);
	else if (error)
		end_as_error(taking->state);
	else if (!xb_feed_guard_check(&feed->guard, &taking->file, &unfit))
		end_as_unfit(taking, &unfit);
	else
		return true;
	return false;
}

/* What the list says itself of an entry's end does not end it before the fetch after the next, so
 * that all that the guards have seen stays listed until then; only the configuration may. */
static uint32_t choose_timeout(const struct feed_config *feed, uint32_t said)
{
	uint64_t least = feed_plan_horizon(feed->every);

	if (!said)
		return feed->timeout;
	if (feed->timeout && feed->timeout < least)
		least = feed->timeout;
	return said < least ? (uint32_t)least : said;
}

static int set_timeouts(struct taking *taking)
{
	const struct feed_config *feed = taking->work->feed;
	struct xb_listfile *file = &taking->file;
	int error = feed->timeout ? xb_listfile_widen(file) : 0;

	taking->lasts = 0;
	for (size_t i = 0; !error && !file->bare && i < file->count; i++) {
		uint32_t timeout = choose_timeout(feed, file->items[i].timeout);

		file->items[i].timeout = timeout;
		if (timeout && (!taking->lasts || timeout < taking->lasts))
			taking->lasts = timeout;
	}
	return error;
}

/* The first line decides, so the author may change it: then other rules hold for each line. */
static void note_format(struct taking *taking)
{
	struct xb_feed_state *state = taking->state;
	const char *format = taking->file.format;

	if (!taking->work->feed->format && *state->format && strcmp(state->format, format) != 0)
		xb_warning("feed %s: the list was read as %s so far, and as %s now; the key format "
			   "lets no other one be taken",
			   state->name, state->format, format);
	snprintf(state->format, sizeof(state->format), "%s", format);
}

/* Of the list that is in force now: all that it says and nobody gets to feel. */
static void note_left_out(struct taking *taking)
{
	const struct xb_listfile *file = &taking->file;
	struct xb_feed_state *state = taking->state;

	state->bogons = (int64_t)taking->import.bogons;
	state->left_out = (int64_t)file->unknown;
	xb_unknown_lines_show(file->first_unknown, file->unknown, XB_UNKNOWN_KEPT,
			      state->first_left_out, sizeof(state->first_left_out));
	xb_utf8_clean(state->first_left_out);
	if (file->unknown)
		log_info("feed %s: %zu line%s left out (first: %s)", state->name, file->unknown,
			 file->unknown == 1 ? " was" : "s were", state->first_left_out);
	xb_unknown_lines_show(file->notes, file->noted, XB_NOTES_KEPT, state->notes,
			      sizeof(state->notes));
	xb_utf8_clean(state->notes);
	if (file->noted)
		log_info("feed %s: %s", state->name, state->notes);
}

static void end_as_updated(struct taking *taking)
{
	const struct fetch_result *result = &taking->work->fetched->result;
	const struct xb_merge *merge = &taking->import.merge;
	struct xb_feed_state *state = taking->state;
	bool changed = merge->added || merge->removed || merge->renewed;

	end_as(state, changed ? XB_FEED_UPDATED : XB_FEED_UNCHANGED, "", "%s", "");
	state->last_success = state->last_import = taking->now;
	state->content_time = taking->content_time;
	state->entries = (int64_t)taking->file.count;
	memcpy(state->stamp, taking->stamp, sizeof(state->stamp));
	state->lasts = taking->lasts;
	note_format(taking);
	memcpy(state->etag, result->etag, sizeof(state->etag));
	memcpy(state->modified, result->modified, sizeof(state->modified));
	memcpy(state->digest, taking->digest, sizeof(state->digest));
	feed_config_terms(taking->work->feed, state->terms);
	if (changed)
		log_info("feed %s: %" PRIu64 " entries added, %" PRIu64 " removed, %" PRIu64
			 " renewed, %" PRIu64 " unchanged, %" PRIu64 " left out as bogons",
			 state->name, merge->added, merge->removed, merge->renewed,
			 merge->unchanged, taking->import.bogons);
	note_left_out(taking);
}

static void put_into_force(struct taking *taking)
{
	struct xb_wish wish = {.request = &taking->request, .input_fd = -1};
	struct xb_written written = {0};
	struct xb_import_refusal refusal;
	int error;

	xb_author_set("feed %s", taking->work->feed->name);
	error = xb_import_wish(taking->work->paths, &wish, &taking->import, &refusal, &written);

	if (error == XB_UNMET)
		xb_warning("feed %s: %s", taking->state->name, xb_error_message());
	if (!error || error == XB_UNMET)
		end_as_updated(taking);
	else if (error == XB_IMPORT_REFUSED)
		end_as_refused(taking, &refusal);
	else
		end_as_error(taking->state);
	xb_write_settle(taking->work->paths, &written);
	xb_written_free(&written);
}

static void ask_for_import(struct taking *taking)
{
	const struct feed_config *feed = taking->work->feed;

	memcpy(taking->stamp, taking->state->stamp, sizeof(taking->stamp));
	taking->request = (struct xb_request){.kind = XB_REQUEST_IMPORT,
					      .import = {.file = feed->name,
							 .list = feed_config_list(feed),
							 .format = feed->format,
							 .zone = feed->zone,
							 .end = feed->end,
							 .choice = feed_config_choice(feed),
							 .replace = true,
							 .judges = feed->terms.judges,
							 .verdict = feed->terms.verdict,
							 .scopes = feed->terms.scopes,
							 .scope = feed->terms.scope,
							 .least_entries = feed->least_entries,
							 .factor = feed->factor}};
	taking->import = (struct xb_import){.asked = taking->request.import,
					    .file = &taking->file,
					    .origin = XB_ORIGIN_FEED,
					    .stamp = taking->stamp};
}

/* As the server says, or since when the content is what it is. */
static int64_t date_content(const struct taking *taking)
{
	int64_t said = taking->work->fetched->result.content_time;
	bool same = !strcmp(taking->digest, taking->state->digest);

	if (said)
		return said;
	return same && taking->state->content_time ? taking->state->content_time : taking->now;
}

/* The list may have changed since the server was asked whether its own has. */
static bool is_as_left(const struct taking *taking)
{
	return xb_stamp_holds(taking->work->paths->state, taking->state->list,
			      taking->state->stamp);
}

static void take_list(struct taking *taking)
{
	struct feed_work *work = taking->work;
	bool html;

	if (read_digest(work->fetched->body, taking->digest, &html)) {
		end_as_error(taking->state);
		return;
	}
	taking->content_time = date_content(taking);
	if (html) {
		end_as(taking->state, XB_FEED_REFUSED, "html",
		       "the server sent an HTML page, not a list");
		return;
	}
	if (is_too_old(taking, taking->content_time))
		return;
	if (work->conditional && !strcmp(taking->digest, taking->state->digest) &&
	    is_as_left(taking)) {
		taking->state->content_time = taking->content_time;
		end_as_unchanged(taking);
		return;
	}
	ask_for_import(taking);
	if (read_list(taking)) {
		if (set_timeouts(taking))
			end_as_error(taking->state);
		else
			put_into_force(taking);
	}
	xb_listfile_free(&taking->file);
}

static enum feed_end end_of(const struct xb_feed_state *state)
{
	if (xb_feed_is_well(state))
		return FEED_GOOD;
	if (!strcmp(state->outcome, XB_FEED_REFUSED))
		return FEED_BAD;
	return state->status / 100 == 4 ? FEED_REFUSED : FEED_OUTAGE;
}

static void plan(struct taking *taking)
{
	struct xb_feed_state *state = taking->state;
	struct feed_plan plan = {.end = end_of(state),
				 .every = taking->work->feed->every,
				 .retry_after = taking->work->fetched->result.retry_after};
	uint32_t random = 0;

	state->failures = plan.end == FEED_GOOD ? 0 : state->failures + 1;
	plan.failures = (uint32_t)state->failures;
	if (plan.end == FEED_GOOD)
		plan.retry_after = 0;
	getrandom(&random, sizeof(random), 0);
	state->next_fetch = taking->now + feed_plan_delay(&plan, random);
}

/* Once for a row of failures of one kind. */
static void tell(const struct xb_feed_state *before, const struct xb_feed_state *state)
{
	if (xb_feed_is_well(state)) {
		if (before->failures)
			log_info("feed %s works again", state->name);
		return;
	}
	if (strcmp(before->outcome, state->outcome) != 0 ||
	    strcmp(before->guard, state->guard) != 0)
		xb_warning("feed %s: %s%s%s: %s; the last good list stays", state->name,
			   state->outcome, *state->guard ? " by " : "", state->guard,
			   state->message);
}

int feedwork_leave(struct feed_work *work)
{
	const struct xb_feed_state state = work->state;
	int error = 0;

	*work->state.left = '\0';
	if (!work->feed)
		error = leave_list(work->paths, work->config, state.list, state.flush,
				   &work->emptied);
	if (!error)
		error = leave_lists(work->paths, work->config, &state, work->state.left);
	return error;
}

_Static_assert(sizeof(((struct xb_feed_state *)0)->stamp) == XB_STAMP_TEXT,
	       "stamps are kept whole");

/* For all of the list: what is listed is not what the server calls unchanged. */
static int ask_again(struct taking *taking)
{
	taking->state->last_attempt = taking->state->next_fetch = taking->now;
	return xb_feed_state_write(taking->work->paths->state, taking->state);
}

static void end_as_failed(struct feed_work *work)
{
	const struct fetch_result *result = &work->fetched->result;
	char why[XB_FEED_TEXT];

	if (fetcher_missed(result))
		xb_peer_cause(work->paths, work->feed->url, result->detail, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "%s", result->detail);
	end_as(&work->state, fetcher_outcome(result->outcome), "", "%s", why);
}

int feedwork_run(struct feed_work *work)
{
	const struct fetch_result *result = &work->fetched->result;
	struct xb_feed_state before = work->state;
	struct taking taking = {.work = work, .state = &work->state, .now = time(NULL)};
	struct xb_feed_state *state = &work->state;
	int error;

	if (result->outcome == FETCH_UNCHANGED && !is_as_left(&taking))
		return ask_again(&taking);
	state->status = result->status;
	if (result->outcome == FETCH_TAKEN)
		take_list(&taking);
	else if (result->outcome == FETCH_UNCHANGED)
		end_as_unchanged(&taking);
	else
		end_as_failed(work);
	state->last_attempt = taking.now;
	state->period = work->feed->every;
	plan(&taking);
	error = xb_feed_state_write(work->paths->state, state);
	tell(&before, state);
	return error;
}

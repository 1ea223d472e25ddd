/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csanswer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/tallies.h"

void csanswer_free(struct csanswer *answer)
{
	ban_answer_free(&answer->told);
	bans_free(&answer->after);
	free(answer->changes.item);
	answer->changes = (struct ban_changes){0};
}

static int merge(struct csanswer *answer, const struct bans *before, unsigned int takes)
{
	if (answer->whole)
		takes |= BANS_WHOLE;
	if (answer->exact)
		takes |= BANS_EXACT;
	answer->takes = takes;
	bans_free(&answer->after);
	free(answer->changes.item);
	return bans_merge(before, &answer->told, (uint32_t)time(NULL), takes, &answer->after,
			  &answer->changes);
}

/* Whether what would be banned is too much to be meant. */
static bool is_too_much(struct csanswer *answer, const struct crowdsec_config *config)
{
	size_t entries = bans_entries(&answer->after);
	double share;

	if (entries > config->most_entries) {
		answer->guard = "max-entries";
		snprintf(answer->why, sizeof(answer->why),
			 "%zu entries, and max-entries is %" PRIu64 "; no more are added", entries,
			 config->most_entries);
		return true;
	}
	share = answer->told.added.count ? bans_share(&answer->after) : 0;
	if (share <= config->share)
		return false;
	answer->guard = "max-share";
	snprintf(answer->why, sizeof(answer->why),
		 "it bans %.3g%% of all addresses, and max-share is %.3g%%; no more are added",
		 share * 100, config->share * 100);
	return true;
}

/* --- what is left out --- */

static const char *const reasons[] = {"type", "scope", "simulated", "unreadable", "too-wide"};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

static void count_left_out(const struct xb_paths *paths, const uint64_t counts[REASONS])
{
	for (size_t i = 0; i < REASONS; i++)
		xb_tally_add(paths, XB_TALLY_CROWDSEC_LEFT_OUT, reasons[i], NULL, counts[i]);
}

void csanswer_show_counters(const struct xb_paths *paths)
{
	count_left_out(paths, (const uint64_t[REASONS]){0});
}

static void show_left_out(const struct ban_answer *told, const struct xb_paths *paths)
{
	const struct fetch_left_out *left_out = &told->left_out;

	count_left_out(paths, (const uint64_t[REASONS]){left_out->other_type, left_out->other_scope,
							left_out->simulated, left_out->unreadable,
							told->too_wide});
	if (left_out->unreadable || told->too_wide)
		xb_warning("crowdsec: %" PRIu64 " bans left out because they are not understood, "
			   "%" PRIu64 " because they are too wide",
			   left_out->unreadable, told->too_wide);
}

/* --- */

static int read_answer(struct ban_answer *told, int body)
{
	struct timespec now;
	struct stat about;
	void *bytes;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(body, &about) || !about.st_size)
		return xb_system_error(0, "bloomd-fetch gave no valid decisions");
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, body, 0);
	if (bytes == MAP_FAILED)
		return xb_out_of_memory();
	error = ban_answer_read(bytes, (size_t)about.st_size,
				(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, told);
	munmap(bytes, (size_t)about.st_size);
	return error;
}

bool csanswer_is_empty(int body)
{
	static const struct fetch_left_out none;
	struct fetch_records head;
	struct stat about;

	return !fstat(body, &about) && about.st_size == sizeof(head) &&
	       pread(body, &head, sizeof(head), 0) == sizeof(head) &&
	       head.magic == FETCH_RECORDS_MAGIC && !head.count &&
	       !memcmp(&head.left_out, &none, sizeof(none));
}

int csanswer_take(struct csanswer *answer, int body, const struct bans *before,
		  const struct crowdsec_config *config, const struct xb_paths *paths)
{
	int error = read_answer(&answer->told, body);

	answer->guard = "";
	if (error)
		return error;
	show_left_out(&answer->told, paths);
	error = merge(answer, before, BANS_ADDED | BANS_DELETED);
	if (!error && is_too_much(answer, config))
		error = merge(answer, before, BANS_DELETED);
	return error;
}

int csanswer_refill(struct csanswer *answer, const struct bans *before)
{
	return merge(answer, before, answer->takes | BANS_WHOLE);
}

int csanswer_hold(struct csanswer *answer, const struct bans *before, uint64_t held,
		  uint64_t members)
{
	answer->guard = "max-change";
	snprintf(answer->why, sizeof(answer->why),
		 "%" PRIu64 " of %" PRIu64 " entries would go at once; they stay until their time, "
		 "unless max-change allows more",
		 held, members);
	return merge(answer, before, BANS_ADDED);
}

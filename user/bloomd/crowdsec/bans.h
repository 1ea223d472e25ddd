/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bans that a server of CrowdSec has told us, and what an answer of it changes in the list. */
#ifndef XB_BLOOMD_BANS_H
#define XB_BLOOMD_BANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/patch.h"
#include "fetch/record.h"
#include "lists/items.h"

/* One decision: the entry is banned until then. Several may ban one entry. */
struct ban {
	struct xb_entry entry; /* first, for xb_entry_sort */
	uint64_t id;	       /* given by the server */
	uint32_t until;	       /* seconds since 1970 */
};

/* By entry, then by id; each pair once. */
struct bans {
	struct ban *item;
	size_t count, room;
	bool mapped; /* of a file, see bans_load() */
};
void bans_free(struct bans *bans);

/* From one process to another by a file in memory, which is empty at first. Each returns 0, or an
 * error with its message. What was loaded stays when the file is closed. */
int bans_save(const struct bans *bans, int fd);
int bans_load(int fd, struct bans *bans);

/* How many different entries they ban. */
size_t bans_entries(const struct bans *bans);

/* The same without what is over; now: seconds since 1970. */
size_t bans_live_entries(const struct bans *bans, uint32_t now);

/* For a walk over the entries: until when that is banned which stands at `at` (0: no more; now:
 * seconds since 1970). Returns where the next one stands. */
size_t bans_step(const struct bans *bans, size_t at, uint32_t now, uint32_t *until);

/* The time of a decision is what is left when an answer comes, so it moves by the time that answers
 * take. By so many seconds it is the same. */
#define BANS_SLACK 5

/* An answer of the server, as bloomd-fetch hands it over, each field checked. */
struct ban_answer {
	struct bans added;   /* those that are over already have a time that is not in the future */
	struct bans deleted; /* without times */
	struct fetch_left_out left_out;
	uint64_t too_wide; /* left out, too, as a command would */
};
void ban_answer_free(struct ban_answer *answer);

/* now: ms since 1970. Returns 0, or an error with its message: that is no answer. */
int ban_answer_read(const void *bytes, size_t size, int64_t now, struct ban_answer *answer);

/* What of an answer is taken. */
#define BANS_ADDED   1U
#define BANS_DELETED 2U
#define BANS_WHOLE   4U /* what is missing in the list comes back */
#define BANS_EXACT   8U /* the list takes the times that are known now, also shorter ones */

struct ban_changes {
	struct xb_patch_item *item;
	size_t count, room;
};

/*
 * Makes *after, what is banned after the answer, and *changes, what becomes of the list. now:
 * seconds since 1970. A decision ends by its time, or because the answer names it among the deleted
 * ones; that the answer does not have it is no reason. An entry is banned until the last of its
 * decisions ends. Returns 0 or an error with its message; the caller frees both in either case.
 */
int bans_merge(const struct bans *before, const struct ban_answer *answer, uint32_t now,
	       unsigned int takes, struct bans *after, struct ban_changes *changes);

/* What is banned as a list file, with the seconds that are left of each. now: as above. Returns 0,
 * or an error with its message; the caller frees the file in either case. */
int bans_to_file(const struct bans *bans, uint32_t now, struct xb_listfile *file);

/* The share of the address space that they ban, of IPv4 or of 2000::/3, whichever is more. -1
 * without memory. */
double bans_share(const struct bans *bans);

#endif

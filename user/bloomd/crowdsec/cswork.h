/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process of its own does with an answer: reads it, finds what it changes and what the list
 * lacks, and puts that into force. An answer may have a million decisions, and the loop goes on
 * meanwhile. */
#ifndef XB_BLOOMD_CSWORK_H
#define XB_BLOOMD_CSWORK_H

#include "bloomd/crowdsec/bans.h"
#include "bloomd/crowdsec/csconfig.h"
#include "engine/feedstate.h"
#include "engine/stamp.h"

/* In memory that both processes see. */
struct cswork_outcome {
	bool done;    /* the answer is in force */
	bool changed; /* it, or what the list lacked, made changes */
	bool same;    /* nothing is known beyond what was; otherwise it is in the file `after` */
	uint64_t added, renewed, removed, held, members;
	uint64_t entries;	/* that are banned then */
	uint64_t look_time;	/* that the comparison with the list took, us; 0: there was none */
	char guard[32];		/* that kept back a part; "": none did */
	char why[XB_FEED_TEXT]; /* it did */
	char message[XB_FEED_TEXT]; /* why the answer is not in force, or not all of it */
	char stamp[XB_STAMP_TEXT];  /* of the list: set to that of before by who starts it */
	char settled[XB_FEED_LEFT]; /* lists that were left, see leave_lists() */
};

struct cswork {
	const struct xb_paths *paths;
	const struct config *config;
	const struct bans *before;
	const struct xb_feed_state *state;
	bool whole; /* the answer has all decisions */
	bool exact; /* as of struct csanswer */
	bool looks; /* compares with the list, unless that is as it was left */
	int body, after;
	struct cswork_outcome *outcome;
};

/* Carries it out. */
void cswork_run(const struct cswork *work);

/* Whether the list is as the last work left it, so that nothing can be missing in it. */
bool cswork_is_as_left(const struct xb_paths *paths, const char *list, const struct bans *bans,
		       const char *stamp);

#endif

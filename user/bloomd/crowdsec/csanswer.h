/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one answer of CrowdSec's server changes, and the guards that keep a part of it back. */
#ifndef XB_BLOOMD_CSANSWER_H
#define XB_BLOOMD_CSANSWER_H

#include "bloomd/crowdsec/bans.h"
#include "bloomd/crowdsec/csconfig.h"
#include "engine/feedstate.h"

struct csanswer {
	bool whole;	    /* all decisions were asked for */
	bool exact;	    /* the list takes the times that are known now, also shorter ones */
	unsigned int takes; /* BANS_ bits */
	struct ban_answer told;
	struct bans after; /* what is banned when the changes are made */
	struct ban_changes changes;
	const char *guard; /* that kept back a part; "": none */
	char why[XB_FEED_TEXT];
};

void csanswer_free(struct csanswer *answer);

/* Whether there is nothing in what bloomd-fetch has left in the file, nor was anything left out. */
bool csanswer_is_empty(int body);

/* Reads the decisions that bloomd-fetch has left in the file body, counts what is left out, and
 * finds what they change of before, within the guards. *answer: all zero but `whole` and `exact`.
 * Returns 0, or an error with its message. */
int csanswer_take(struct csanswer *answer, int body, const struct bans *before,
		  const struct crowdsec_config *config, const struct xb_paths *paths);

/* The list lacks some of what is banned: the changes are such that it has all of it again. Returns
 * 0, or an error with its message. */
int csanswer_refill(struct csanswer *answer, const struct bans *before);

/* held of members entries were not deleted, because they are too many, so their decisions go on.
 * Returns 0, or an error with its message. */
int csanswer_hold(struct csanswer *answer, const struct bans *before, uint64_t held,
		  uint64_t members);

/* Counters of what is left out, from 0 on. */
void csanswer_show_counters(const struct xb_paths *paths);

#endif

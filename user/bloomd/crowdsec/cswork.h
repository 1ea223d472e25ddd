/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process of its own does with the changes that an answer makes: puts them into force. */
#ifndef XB_BLOOMD_CSWORK_H
#define XB_BLOOMD_CSWORK_H

#include "bloomd/crowdsec/bans.h"
#include "bloomd/crowdsec/csconfig.h"
#include "engine/feedstate.h"

/* In memory that both processes see. */
struct cswork_outcome {
	bool done; /* the changes are durable */
	uint64_t added, renewed, removed, held, members;
	char message[XB_FEED_TEXT]; /* why they are not, or not in force */
};

struct cswork {
	const struct xb_paths *paths;
	const struct crowdsec_config *config;
	const struct ban_changes *changes;
	bool whole; /* of an answer that has all decisions */
	struct cswork_outcome *outcome;
};

/* Carries it out. */
void cswork_run(const struct cswork *work);

#endif

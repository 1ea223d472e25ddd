/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections [feed NAME] of the configuration. */
#ifndef XB_BLOOMD_FEEDCONFIG_H
#define XB_BLOOMD_FEEDCONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "bloomd/base/config.h"
#include "engine/feedguard.h"
#include "engine/feedstate.h"
#include "model/listchoice.h"

struct feed_config {
	struct feed_config *next; /* in the order of the files */
	char name[XB_FEED_NAME_MAX + 1];
	char *url, *file; /* file: in its place, see feed_config_check() */
	char *list;	  /* NULL: of the feed's name */
	char *format;	  /* NULL: the first line decides */
	char *zone;	  /* the domain of the zone; NULL: the file names it, or has none */
	/* As struct xb_list_choice has them. */
	char *column, *where, *json, *set, *comment, *country, *not_country, *continent, *asn,
		*mmdb;
	bool bounded, below;
	uint64_t most_wrong;
	char *end;		       /* how the list has to end; NULL: any way */
	char *header_file, *user_file; /* what says who asks; NULL: nothing does */
	char *ca;		       /* NULL: the certificates of the system */
	struct config_terms terms;
	uint32_t every, time_limit, timeout, max_age; /* seconds; 0: no timeout, any age */
	uint64_t max_bytes, least_entries;
	double factor; /* 0: as of an import */
	bool flush, accept_unframed;
	struct xb_feed_guard guard;
	size_t canary_room;
	struct xb_arena names; /* of canaries */
};

extern const struct config_key feed_keys[];

/* Of the section "feed NAME"; see struct config_section. */
void *feed_config_open(struct config *config, const char *word);

/* After the last file: what one key alone does not show; enters the owners of the lists. */
int feed_config_check(struct config *config);

void feed_config_free(struct feed_config *feeds);

const struct feed_config *feed_config_find(const struct config *config, const char *name);
const char *feed_config_list(const struct feed_config *feed);

/* How its list is to be read. The texts are the feed's. */
struct xb_list_choice feed_config_choice(const struct feed_config *feed);

/* Names all that decides what a body becomes in the store: if it differs, an answer "unchanged" of
 * the server says nothing. */
void feed_config_terms(const struct feed_config *feed, char out[32]);

#endif

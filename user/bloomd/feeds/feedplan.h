/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a feed is fetched next. */
#ifndef XB_BLOOMD_FEEDPLAN_H
#define XB_BLOOMD_FEEDPLAN_H

#include <stdbool.h>
#include <stdint.h>

#define FEED_RETRY	 60    /* seconds until the first retry, if the period is not shorter */
#define FEED_RETRY_MAX	 3600  /* between retries, if the period is not longer */
#define FEED_REFUSED_MAX 86400 /* the same after a server that refuses; the most of Retry-After */

enum feed_end {
	FEED_GOOD,    /* updated or unchanged */
	FEED_BAD,     /* a list came, and a guard refused it: it will be the same for a while */
	FEED_OUTAGE,  /* no answer, or half of one, or an error of the server */
	FEED_REFUSED, /* the server does not want us: a status of 4xx */
};

struct feed_plan {
	enum feed_end end;
	uint32_t every;	      /* seconds */
	uint32_t failures;    /* in a row, with this one */
	uint32_t retry_after; /* seconds; 0: not said */
};

/*
 * Seconds until the next fetch: the period after an answer; after failures a time that doubles, up
 * to the period or a limit; never before the time that the server has named. random: any number; it
 * adds up to a tenth, so that not all machines come at once, and never too early for a publisher.
 */
uint32_t feed_plan_delay(const struct feed_plan *plan, uint32_t random);

/* Seconds within which the fetch after the next comes, however late. */
uint64_t feed_plan_horizon(uint32_t every);

/* Whether the server may answer "unchanged": the entries, which end `timeout` seconds after the
 * import (0: never), live until a fetch after the next. */
bool feed_plan_lasts(int64_t imported, uint32_t timeout, uint32_t every, int64_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the server of CrowdSec is asked next. */
#ifndef XB_BLOOMD_CSPLAN_H
#define XB_BLOOMD_CSPLAN_H

#include <stdbool.h>
#include <stdint.h>

#define CROWDSEC_RETRY_MAX   60	  /* seconds between retries, if the period is not longer */
#define CROWDSEC_REFUSED_MAX 900  /* the same after a status of 4xx */
#define CROWDSEC_WAIT_MAX    3600 /* the most of Retry-After */

struct csplan {
	uint32_t every;	      /* seconds */
	uint32_t failures;    /* in a row, with this one; 0: it was good */
	bool refused;	      /* by a status of 4xx */
	uint32_t retry_after; /* seconds; 0: not said */
};

/* Milliseconds until then. random: any number; it adds up to a tenth of the period, or a quarter of
 * the time after a failure, so that not all machines come at once. */
uint64_t csplan_delay(const struct csplan *plan, uint32_t random);

/* Milliseconds until all decisions are asked for: the period and up to a tenth. */
uint64_t csplan_resync(uint32_t period, uint32_t random);

#endif

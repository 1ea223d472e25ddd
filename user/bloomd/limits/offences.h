/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sources were listed because they were over a limit, and for how long, so that one that
 * comes again stays longer. In memory: it ends with bloomd. */
#ifndef XB_BLOOMD_OFFENCES_H
#define XB_BLOOMD_OFFENCES_H

#include <stdint.h>

#include "model/entry.h"
#include "model/limit.h"

struct offences;

/* NULL: an error with its message. */
struct offences *offences_new(void);
void offences_free(struct offences *offences);

/* For how long the source stays in the list, if it comes there now (seconds since 1970): twice as
 * long as the last time, but no longer than the limit says. One that has stayed away for the
 * longest time since is a new one. identity: of the limit. */
uint32_t offences_timeout(const struct offences *offences, uint64_t identity,
			  const struct xb_limit *limit, const struct xb_entry *source,
			  uint32_t now);

/* It has come there, for so many seconds. Without memory for it, it is forgotten. */
void offences_note(struct offences *offences, uint64_t identity, const struct xb_limit *limit,
		   const struct xb_entry *source, uint32_t timeout, uint32_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the filter has counted, as far as the server of CrowdSec wants to know: packets that it
 * judged, and those that it dropped because of the list of the bans. */
#ifndef XB_BLOOMD_CSDROPS_H
#define XB_BLOOMD_CSDROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/paths.h"
#include "xdp_bloom/layout.h"

/*
 * Whose are the drops? The filter counts by what lists have in common, not by list. So the drops of
 * the list are known only while it shares that with no other list.
 */
enum csdrops_kind {
	CSDROPS_UNKNOWN,   /* other lists have some of them, or the list drops nothing */
	CSDROPS_BY_FAMILY, /* of a list without a scope */
	CSDROPS_TOGETHER,  /* of a list with a scope: both families are one */
};

/* At one moment. Counts begin with 0 when the machine starts, or as docs/agent.md says. */
struct csdrops {
	enum csdrops_kind kind;
	uint64_t identity; /* of scope and verdict, with CSDROPS_TOGETHER */
	struct xb_count processed;
	struct xb_count ipv4, ipv6; /* with CSDROPS_TOGETHER all of them are in ipv4 */
};

/* list: its name. Returns 0 or an error with its message. */
int csdrops_read(const struct xb_paths *paths, const char *list, struct csdrops *drops);

/* What came between: of the kind that both have, or CSDROPS_UNKNOWN. A count that went back began
 * anew, and nobody knows what came before; it is 0. */
struct csdrops csdrops_since(const struct csdrops *now, const struct csdrops *then);

#endif

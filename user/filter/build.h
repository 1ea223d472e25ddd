/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building a generation from what is listed, on all cores. */
#ifndef XB_FILTER_BUILD_H
#define XB_FILTER_BUILD_H

#include <errno.h>

#include "attach/knownpins.h"
#include "filter/contents.h"
#include "filter/generation.h"

struct xb_build {
	const struct xb_paths *paths;
	const struct xb_anchor *anchor;
	uint64_t store;	   /* identity */
	uint64_t sequence; /* of the last change the keys have */
	uint64_t mark;	   /* that goes with it */
	uint64_t capacity; /* wanted at least, in keys; 0: by the keys */
	double rate;	   /* of the Bloom stage, per packet */
	bool confirm;	   /* with the exact stage behind it */
	uint32_t policy;   /* enum xb_policy */
	bool admits_known; /* allow-only admits known sources */
	/* Known sources that the policy admits or limits know; NULL: none. */
	const struct xb_knownpins *known;
	struct xb_name_ports ports;
	uint32_t answer_limit; /* answers a second on each CPU; 0: any number */
	/* Earlier generations, to compare with. */
	const struct xb_generation *keys_of; /* the secret keys are those of this one; NULL: random
					      */
	const struct xb_params *size_of;     /* as large as this one; NULL: by what is listed */
};

/* Makes maps, counters and program, complete but not in force. The caller publishes or discards
 * them. xb_build_lacks_room() says whether a smaller generation might avoid the error. */
int xb_build(const struct xb_build *build, const struct xb_contents *contents,
	     struct xb_generation **generation);

static inline bool xb_build_lacks_room(int error)
{
	return error == -ENOSPC || error == -ENOMEM || error == -E2BIG;
}

/* Whether this machine has room for what xb_build() would make, with the same errors. Makes
 * nothing. */
int xb_build_rehearse(const struct xb_build *build, const struct xb_contents *contents);

#endif

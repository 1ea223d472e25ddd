/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All commands of bloomset, in the order in which help lists them. */
#ifndef XB_BLOOMSET_VERBS_H
#define XB_BLOOMSET_VERBS_H

#include "cli/verb.h"

#define VERBS(X)                                                                                   \
	X(common)                                                                                  \
	X(once)                                                                                    \
	X(diff)                                                                                    \
	X(union)                                                                                   \
	X(distinct)                                                                                \
	X(build)                                                                                   \
	X(test)                                                                                    \
	X(info)                                                                                    \
	X(merge)                                                                                   \
	X(compatible)                                                                              \
	X(add)                                                                                     \
	X(del)                                                                                     \
	X(clear)                                                                                   \
	X(plan)                                                                                    \
	X(digest)                                                                                  \
	X(missing)                                                                                 \
	X(help)

#define VERB_DECLARE(name) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

#endif

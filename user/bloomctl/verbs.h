/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All commands, in the order in which help lists them. */
#ifndef XB_CLI_VERBS_H
#define XB_CLI_VERBS_H

#include "cli/verb.h"

#define VERBS(X)                                                                                   \
	X(attach)                                                                                  \
	X(detach)                                                                                  \
	X(up)                                                                                      \
	X(status)                                                                                  \
	X(check)                                                                                   \
	X(doctor)                                                                                  \
	X(add)                                                                                     \
	X(del)                                                                                     \
	X(test)                                                                                    \
	X(list)                                                                                    \
	X(aggregate)                                                                               \
	X(import)                                                                                  \
	X(flush)                                                                                   \
	X(expire)                                                                                  \
	X(batch)                                                                                   \
	X(allow)                                                                                   \
	X(policy)                                                                                  \
	X(known)                                                                                   \
	X(verdict)                                                                                 \
	X(scope)                                                                                   \
	X(ports)                                                                                   \
	X(limit)                                                                                   \
	X(feeds)                                                                                   \
	X(fleet)                                                                                   \
	X(commit)                                                                                  \
	X(save)                                                                                    \
	X(restore)                                                                                 \
	X(rotate)                                                                                  \
	X(stats)                                                                                   \
	X(log)                                                                                     \
	X(watch)                                                                                   \
	X(top)                                                                                     \
	X(metrics)                                                                                 \
	X(plan)                                                                                    \
	X(help)

#define VERB_DECLARE(name) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

#endif

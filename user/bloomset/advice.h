/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to do about a message of the library, in options of bloomset. */
#ifndef XB_BLOOMSET_ADVICE_H
#define XB_BLOOMSET_ADVICE_H

#include "base/program.h"
#include "cli/verb.h"

/* The words for messages, for xb_program_set(). */
const char *advice_words(enum xb_advice advice);

/* From now on they name the options of this verb: where --format is that of a filter, that of a
 * list has another name. */
void advice_for(const struct verb *verb);

#endif

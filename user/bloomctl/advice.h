/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to do about a problem or a message of the library, in commands of bloomctl. */
#ifndef XB_CLI_ADVICE_H
#define XB_CLI_ADVICE_H

#include "base/program.h"
#include "engine/problem.h"

#define ADVICE_TEXT (sizeof(((struct xb_problem *)NULL)->text) + 128)

/* The text of the problem, and the advice behind it if there is any. Returns text. */
const char *advice_for(const struct xb_problem *problem, char text[ADVICE_TEXT]);

/* The words for messages, for xb_program_set(). */
const char *advice_words(enum xb_advice advice);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to do about a problem, in commands of bloomctl. */
#ifndef XB_CLI_ADVICE_H
#define XB_CLI_ADVICE_H

#include "engine/problem.h"

#define ADVICE_TEXT (sizeof(((struct xb_problem *)NULL)->text) + 128)

/* The text of the problem, and the advice behind it if there is any. Returns text. */
const char *advice_for(const struct xb_problem *problem, char text[ADVICE_TEXT]);

#endif

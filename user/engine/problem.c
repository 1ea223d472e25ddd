/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

void xb_problem_add(struct xb_problems *problems, enum xb_problem_kind kind,
		    const struct xb_interface *interface, const char *format, ...)
{
	struct xb_problem *problem;
	va_list arguments;

	if (xb_array_grow(&problems->item, &problems->room, problems->count + 1,
			  sizeof(*problems->item))) {
		problems->lost = true;
		return;
	}
	problem = &problems->item[problems->count++];
	problem->kind = kind;
	problem->interface = interface;
	va_start(arguments, format);
	vsnprintf(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	xb_utf8_clean(problem->text);
}

void xb_problems_free(struct xb_problems *problems)
{
	free(problems->item);
	*problems = (struct xb_problems){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/end.h"

#include <stdarg.h>
#include <stdio.h>

bool end_set(struct redis_end *end, enum redis_outcome outcome, const char *format, ...)
{
	va_list arguments;

	end->outcome = outcome;
	va_start(arguments, format);
	vsnprintf(end->text, sizeof(end->text), format, arguments);
	va_end(arguments);
	for (char *at = end->text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return false;
}

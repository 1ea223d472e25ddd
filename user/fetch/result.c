/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void result_set(struct fetch_result *result, enum fetch_outcome outcome, const char *format, ...)
{
	va_list arguments;

	result->outcome = outcome;
	va_start(arguments, format);
	vsnprintf(result->detail, sizeof(result->detail), format, arguments);
	va_end(arguments);
	for (char *at = result->detail; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

void result_keep(char out[FETCH_HEADER_MAX], const char *text, size_t size)
{
	if (size >= FETCH_HEADER_MAX)
		size = 0;
	memcpy(out, text, size);
	out[size] = '\0';
	if (!wire_text_ok(out, FETCH_HEADER_MAX))
		out[0] = '\0';
}

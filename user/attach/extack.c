/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/extack.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define IN_FRONT "Kernel error message: " /* libbpf, src/nlattr.c */

static libbpf_print_fn_t others;
static int listening;
static char last[XB_EXTACK_BYTES];

static void keep(const char *line)
{
	const char *found = strstr(line, IN_FRONT);
	size_t length;

	if (!found)
		return;
	snprintf(last, sizeof(last), "%s", found + strlen(IN_FRONT));
	length = strlen(last);
	while (length && isspace((unsigned char)last[length - 1]))
		last[--length] = '\0';
}

static int hear(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char line[XB_EXTACK_BYTES + 64];
	va_list copy;

	va_copy(copy, arguments);
	vsnprintf(line, sizeof(line), format, copy);
	va_end(copy);
	keep(line);
	return others ? others(level, format, arguments) : 0;
}

void xb_extack_begin(void)
{
	last[0] = '\0';
	if (!listening++)
		others = libbpf_set_print(hear);
}

void xb_extack_end(void)
{
	if (!--listening)
		libbpf_set_print(others);
}

const char *xb_extack(void)
{
	return last;
}

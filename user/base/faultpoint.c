/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dying, standing still, or failing, where a test wants it. Empty in the build that ships. */
#include "base/faultpoint.h"

#ifdef XB_FAULT_POINTS
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(const char *name)
{
	const char *path = getenv("XB_FAULT_SEEN");
	FILE *log = path ? fopen(path, "ae") : NULL;

	if (!log)
		return;
	fprintf(log, "%s\n", name);
	fclose(log);
}

/* Whether this is the time that the variable names. */
static bool is_due(const char *variable, const char *name, unsigned long *times)
{
	const char *wanted = getenv(variable);
	size_t size = strlen(name);

	if (!wanted || strncmp(wanted, name, size) || (wanted[size] && wanted[size] != ':'))
		return false;
	++*times;
	return !wanted[size] || strtoul(wanted + size + 1, NULL, 10) == *times;
}

void xb_fault(const char *name)
{
	static unsigned long deaths, pauses;

	note(name);
	if (is_due("XB_FAULT", name, &deaths))
		raise(SIGKILL);
	if (is_due("XB_PAUSE", name, &pauses))
		raise(SIGSTOP);
}

int xb_fault_fails(const char *name)
{
	static unsigned long failures;

	return is_due("XB_FAIL", name, &failures) ? -EINVAL : 0;
}
#endif

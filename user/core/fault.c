/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dying where a test wants it. Empty in the build that ships. */
#include "fault.h"

#ifdef XB_FAULT_POINTS
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void xb_fault(const char *name)
{
	const char *wanted = getenv("XB_FAULT"), *seen = getenv("XB_FAULT_SEEN");

	if (seen) {
		FILE *log = fopen(seen, "ae");

		if (log) {
			fprintf(log, "%s\n", name);
			fclose(log);
		}
	}
	if (wanted && !strcmp(wanted, name))
		raise(SIGKILL);
}
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded: what time it is says XB_CLOCK, in seconds since 1970. */
#include <stdlib.h>
#include <time.h>

time_t time(time_t *out)
{
	const char *said = getenv("XB_CLOCK");
	time_t now = said ? (time_t)strtoll(said, NULL, 10) : 0;

	if (out)
		*out = now;
	return now;
}

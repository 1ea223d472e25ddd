/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations as Go writes and reads them: "3h59m48.5s", "-1.5h", "300ms". */
#ifndef XB_BASE_DURATION_H
#define XB_BASE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes what time.ParseDuration() of Go takes. *milliseconds: rounded up, so that what lasts for a
 * moment does not last for 0; what has no room in an int64_t of nanoseconds becomes the longest. */
bool xb_duration_parse(const char *text, size_t size, int64_t *milliseconds);

#endif

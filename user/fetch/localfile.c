/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch/localfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/result.h"

static bool copy(struct body *body)
{
	char part[65536];
	ssize_t got;

	while ((got = read(FETCH_FILE_FD, part, sizeof(part))) > 0)
		if (!body_take(body, part, (size_t)got))
			return false;
	if (!got)
		return body_end(body);
	body->why = FETCH_NO_FILE;
	body->detail = "the file cannot be read";
	return false;
}

/* It also tells a file apart that another one has replaced within the same second. */
static void name_state(const struct stat *about, char out[FETCH_HEADER_MAX])
{
	snprintf(out, FETCH_HEADER_MAX, "%" PRIuMAX "-%jd-%jd.%09ld", (uintmax_t)about->st_ino,
		 (intmax_t)about->st_size, (intmax_t)about->st_mtim.tv_sec, about->st_mtim.tv_nsec);
}

/* What was read is a whole file only if nobody changed it meanwhile. */
static bool is_same(const char state[FETCH_HEADER_MAX])
{
	char now[FETCH_HEADER_MAX];
	struct stat about;

	if (fstat(FETCH_FILE_FD, &about))
		return false;
	name_state(&about, now);
	return !strcmp(now, state);
}

void localfile_run(const struct fetch_request *request, struct body *body,
		   struct fetch_result *result)
{
	struct stat about;

	if (fstat(FETCH_FILE_FD, &about) || !S_ISREG(about.st_mode)) {
		result_set(result, FETCH_NO_FILE, "not a regular file");
		return;
	}
	name_state(&about, result->etag);
	result->content_time = about.st_mtim.tv_sec;
	if (!strcmp(result->etag, request->etag))
		result_set(result, FETCH_UNCHANGED, "%s", "");
	else if (!copy(body))
		result_set(result, body->why, "%s", body->detail);
	else if (!is_same(result->etag))
		result_set(result, FETCH_NO_FILE, "the file changed while it was read");
	else
		result_set(result, FETCH_TAKEN, "%s", "");
	result->bytes = body->out;
}

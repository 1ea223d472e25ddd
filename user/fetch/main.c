/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomd-fetch: fetches one feed for bloomd, which starts it with a request, and gives it the place
 * for its answer. It has no rights and no files when it meets the network: user/fetch/sandbox.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fetch/localfile.h"
#include "fetch/result.h"
#include "fetch/sandbox.h"
#include "fetch/taken.h"
#include "fetch/transfer.h"

static bool read_request(struct fetch_request *request)
{
	if (pread(FETCH_REQUEST_FD, request, sizeof(*request), 0) != sizeof(*request) ||
	    request->magic != FETCH_MAGIC)
		return false;
	close(FETCH_REQUEST_FD);
	return fetch_text_ok(request->url, sizeof(request->url)) &&
	       memchr(request->ca, '\0', sizeof(request->ca)) &&
	       fetch_text_ok(request->etag, sizeof(request->etag)) &&
	       fetch_text_ok(request->modified, sizeof(request->modified));
}

static void fetch(const struct fetch_request *request, struct fetch_result *result)
{
	bool local = !strncmp(request->url, "file:", 5);
	struct body body;
	const char *failed;

	if (!local && !transfer_prepare(request, result))
		return;
	failed = sandbox_wanted() ? sandbox_enter(request->max_bytes) : NULL;
	if (failed) {
		result_set(result, FETCH_FAILED, "%s", failed);
		return;
	}
	if (taken_over(result))
		return;
	body_begin(&body, FETCH_BODY_FD, request->max_bytes);
	if (local)
		localfile_run(request, &body, result);
	else
		transfer_run(request, &body, result);
	body_free(&body);
}

int main(void)
{
	static struct fetch_request request;
	static struct fetch_result result = {.magic = FETCH_MAGIC};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!read_request(&request)) {
		fputs("bloomd-fetch: bloomd starts this program, for one feed at a time\n", stderr);
		return 2;
	}
	fetch(&request, &result);
	return pwrite(FETCH_RESULT_FD, &result, sizeof(result), 0) != sizeof(result);
}

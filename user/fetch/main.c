/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomd-fetch: asks one server for bloomd, which starts it with a request, and gives it the place
 * for its answer. It has no rights and no files when it meets the network: user/sandbox/sandbox.h.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "fetch/credentials.h"
#include "fetch/decisions.h"
#include "fetch/localfile.h"
#include "fetch/lookup.h"
#include "fetch/result.h"
#include "fetch/transfer.h"
#include "sandbox/sandbox.h"
#include "sandbox/taken.h"

#define MEMORY	  ((uint64_t)512 << 20) /* an arena of malloc reserves 64 MiB a thread */
#define PROCESSOR 60			/* seconds */

static bool read_request(struct fetch_request *request)
{
	if (pread(FETCH_REQUEST_FD, request, sizeof(*request), 0) != sizeof(*request) ||
	    request->magic != FETCH_MAGIC)
		return false;
	close(FETCH_REQUEST_FD);
	return request->kind < FETCH_KINDS && wire_text_ok(request->url, sizeof(request->url)) &&
	       memchr(request->ca, '\0', sizeof(request->ca)) &&
	       memchr(request->header_file, '\0', sizeof(request->header_file)) &&
	       memchr(request->user_file, '\0', sizeof(request->user_file)) &&
	       memchr(request->key_file, '\0', sizeof(request->key_file)) &&
	       memchr(request->cert, '\0', sizeof(request->cert)) &&
	       memchr(request->cert_key, '\0', sizeof(request->cert_key)) &&
	       memchr(request->socket, '\0', sizeof(request->socket)) &&
	       memchr(request->post, '\0', sizeof(request->post)) &&
	       wire_text_ok(request->etag, sizeof(request->etag)) &&
	       wire_text_ok(request->modified, sizeof(request->modified));
}

/* All that needs files or rights. */
static bool prepare(const struct fetch_request *request, struct credentials *credentials,
		    int *decisions, struct fetch_result *result)
{
	*decisions = -1;
	if (!transfer_prepare(request, result) || !credentials_read(request, credentials, result))
		return false;
	if (request->kind != FETCH_DECISIONS)
		return true;
	/* Its hash tables want a random number, and the sandbox has no /dev/urandom. */
	json_object_seed(0);
	*decisions = memfd_create("decisions", MFD_CLOEXEC);
	if (*decisions < 0)
		result_set(result, FETCH_FAILED, "cannot make a file in memory");
	return *decisions >= 0;
}

static void convert(int decisions, struct fetch_result *result)
{
	const char *wrong = decisions_convert(decisions, FETCH_BODY_FD, &result->bytes);

	if (wrong)
		result_set(result, FETCH_CORRUPT, "%s", wrong);
}

static const char *enter(const struct fetch_request *request)
{
	return sandbox_enter(&(struct sandbox_terms){.memory = MEMORY,
						     .processor = PROCESSOR,
						     .max_bytes = request->max_bytes + 65536,
						     .connected = *request->socket});
}

static void fetch(const struct fetch_request *request, struct fetch_result *result)
{
	static struct credentials credentials;
	bool lookup = request->kind == FETCH_ADDRESSES;
	bool local = !lookup && !strncmp(request->url, "file:", 5);
	int decisions = -1;
	char taken[FETCH_DETAIL_MAX - 16];
	struct body body;
	const char *failed;

	if (!local && !lookup && !prepare(request, &credentials, &decisions, result))
		return;
	failed = sandbox_wanted() ? enter(request) : NULL;
	if (failed) {
		result_set(result, FETCH_FAILED, "%s", failed);
		return;
	}
	if (taken_over(taken, sizeof(taken))) {
		result_set(result, FETCH_FAILED, "taken over:%s", taken);
		return;
	}
	body_begin(&body, decisions < 0 ? FETCH_BODY_FD : decisions, request->max_bytes);
	if (lookup)
		lookup_run(request, &body, result);
	else if (local)
		localfile_run(request, &body, result);
	else
		transfer_run(request, &credentials, &body, result);
	body_free(&body);
	if (decisions >= 0 && result->outcome == FETCH_TAKEN)
		convert(decisions, result);
}

int main(void)
{
	static struct fetch_request request;
	static struct fetch_result result = {.magic = FETCH_MAGIC};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!read_request(&request)) {
		fputs("bloomd-fetch: bloomd starts this program, for one answer at a time\n",
		      stderr);
		return 2;
	}
	fetch(&request, &result);
	return pwrite(FETCH_RESULT_FD, &result, sizeof(result), 0) != sizeof(result);
}

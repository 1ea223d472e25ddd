/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/feeds/fetcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/base/helper.h"

#define SECOND 1000000ULL /* us */
#define GRACE  2	  /* seconds for it to say itself that its time is over */

struct fetcher {
	uint64_t max_bytes;
	fetcher_done *done;
	void *context;
	pid_t child;
	bool late;
	sd_event_source *exited, *deadline;
	int request, result, body, file; /* -1: none */
};

const char *fetcher_outcome(uint32_t outcome)
{
	static const char *const names[] = {
#define NAME(symbol, name) name,
		FETCH_OUTCOMES(NAME)
#undef NAME
	};

	return names[outcome];
}

bool fetcher_missed(const struct fetch_result *result)
{
	return result->outcome == FETCH_NO_NAME || result->outcome == FETCH_NO_CONNECTION ||
	       result->outcome == FETCH_TIMEOUT;
}

/*
 * Whether somebody has the file open to write it: then nobody gets a lease. Where leases are not to
 * be had (another's file, without CAP_LEASE, or another file system), only bloomd-fetch may see
 * that the file changes. The lease is given back at once; the signal in between, if there is one,
 * is one that is ignored.
 */
static bool is_being_written(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) || fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* Without waiting, whatever stands under the name. */
static int open_file(const char *url)
{
	const char *path = url + strlen("file://");
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return xb_system_error(errno, "cannot read %s", path);
	if (!is_being_written(fd))
		return fd;
	close(fd);
	return xb_system_error(0, "cannot read %s: somebody writes it", path);
}

static void fill_request(struct fetch_request *request, const struct feed_config *feed,
			 const struct xb_feed_state *state, bool conditional)
{
	*request = (struct fetch_request){
		.magic = FETCH_MAGIC,
		.seconds = feed->time_limit,
		.max_bytes = feed->max_bytes,
		/* The last line shows that the body is whole. */
		.accept_unframed = feed->accept_unframed || feed->end,
	};
	snprintf(request->url, sizeof(request->url), "%s", feed->url);
	snprintf(request->ca, sizeof(request->ca), "%s", feed->ca ?: "");
	snprintf(request->header_file, sizeof(request->header_file), "%s", feed->header_file ?: "");
	snprintf(request->user_file, sizeof(request->user_file), "%s", feed->user_file ?: "");
	if (conditional && wire_text_ok(state->etag, sizeof(state->etag)))
		memcpy(request->etag, state->etag, sizeof(request->etag));
	if (conditional && wire_text_ok(state->modified, sizeof(state->modified)))
		memcpy(request->modified, state->modified, sizeof(request->modified));
}
_Static_assert(XB_FEED_TEXT == FETCH_HEADER_MAX, "headers are kept whole");

static int write_request(struct fetcher *fetcher, const struct fetch_request *request)
{
	return pwrite(fetcher->request, request, sizeof(*request), 0) == sizeof(*request)
		       ? 0
		       : xb_system_error(errno, "cannot write a request");
}

static int make_files(struct fetcher *fetcher, const char *url)
{
	fetcher->request = helper_file("request");
	fetcher->result = fetcher->request < 0 ? -1 : helper_file("result");
	fetcher->body = fetcher->result < 0 ? -1 : helper_file("body");
	if (fetcher->body < 0)
		return -EIO;
	if (!strncmp(url, "file:", 5)) {
		fetcher->file = open_file(url);
		return fetcher->file < 0 ? fetcher->file : 0;
	}
	return 0;
}

static void fail(struct fetch_result *result, const char *detail)
{
	*result = (struct fetch_result){.magic = FETCH_MAGIC, .outcome = FETCH_FAILED};
	snprintf(result->detail, sizeof(result->detail), "%s", detail);
}

static bool is_valid(const struct fetch_result *result)
{
	return result->magic == FETCH_MAGIC && result->outcome < FETCH_OUTCOME_COUNT &&
	       result->status < 1000 && result->content_time >= 0 &&
	       result->content_time <= UINT32_MAX &&
	       wire_text_ok(result->etag, sizeof(result->etag)) &&
	       wire_text_ok(result->modified, sizeof(result->modified)) &&
	       wire_text_ok(result->detail, sizeof(result->detail));
}

bool fetcher_take_answer(const void *bytes, size_t size, struct fetch_result *result)
{
	if (size != sizeof(*result))
		return false;
	memcpy(result, bytes, size);
	return is_valid(result);
}

static bool read_answer(const struct fetcher *fetcher, struct fetch_result *result)
{
	struct fetch_result answer;
	ssize_t size = pread(fetcher->result, &answer, sizeof(answer), 0);

	return size > 0 && fetcher_take_answer(&answer, (size_t)size, result);
}

/* Nobody writes to it any more: the process is gone, and had it given the descriptor away, this
 * would fail. */
static bool take_body(const struct fetcher *fetcher, uint64_t bytes)
{
	struct stat about;

	return !fcntl(fetcher->body, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) &&
	       !fstat(fetcher->body, &about) && about.st_size >= 0 &&
	       (uint64_t)about.st_size == bytes && bytes <= fetcher->max_bytes &&
	       !lseek(fetcher->body, 0, SEEK_SET);
}

static void read_result(struct fetcher *fetcher, const siginfo_t *info, struct fetched *fetched)
{
	struct fetch_result *result = &fetched->result;
	char text[FETCH_DETAIL_MAX];

	fetched->body = -1;
	if (fetcher->late) {
		fail(result, "not done in time, and ended");
		result->outcome = FETCH_TIMEOUT;
	} else if (info->si_code != CLD_EXITED || info->si_status) {
		snprintf(text, sizeof(text), HELPER_FETCH " ended with %s %d",
			 info->si_code == CLD_EXITED ? "code" : "signal", info->si_status);
		fail(result, text);
	} else if (!read_answer(fetcher, result)) {
		fail(result, HELPER_FETCH " gave no valid answer");
	} else if (result->outcome == FETCH_TAKEN) {
		if (take_body(fetcher, result->bytes)) {
			fetched->body = fetcher->body;
			fetcher->body = -1;
		} else {
			fail(result, HELPER_FETCH " gave no valid body");
		}
	}
}

static int on_exit_of_child(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fetcher *fetcher = context;
	struct fetched fetched;

	(void)source;
	fetcher->child = 0;
	sd_event_source_set_enabled(fetcher->deadline, SD_EVENT_OFF);
	read_result(fetcher, info, &fetched);
	fetcher->done(fetcher->context, &fetched);
	return 0;
}

static int on_deadline(sd_event_source *source, uint64_t time, void *context)
{
	struct fetcher *fetcher = context;

	(void)source;
	(void)time;
	fetcher->late = true;
	kill(fetcher->child, SIGKILL);
	return 0;
}

static int run(struct agent *agent, struct fetcher *fetcher, uint32_t seconds)
{
	/* Only proxies of the environment mean something to libcurl. */
	const struct helper helper = {
		.name = HELPER_FETCH,
		.files = {fetcher->request, fetcher->result, fetcher->body, fetcher->file},
		.count = 4,
		.kept = {"http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"}};
	pid_t child = helper_start(&helper);
	int error;

	if (child < 0)
		return child;
	fetcher->child = child;
	error = sd_event_add_child(agent->loop, &fetcher->exited, fetcher->child, WEXITED,
				   on_exit_of_child, fetcher);
	if (error >= 0)
		error = sd_event_add_time_relative(agent->loop, &fetcher->deadline, CLOCK_MONOTONIC,
						   (seconds + GRACE) * SECOND, 0, on_deadline,
						   fetcher);
	return error < 0 ? xb_system_error(-error, "cannot watch a process") : 0;
}

int fetcher_ask(struct agent *agent, const struct fetch_request *request, fetcher_done *done,
		void *context, struct fetcher **out)
{
	struct fetcher *fetcher = calloc(1, sizeof(*fetcher));
	int error;

	*out = fetcher;
	if (!fetcher)
		return xb_out_of_memory();
	*fetcher = (struct fetcher){.max_bytes = request->max_bytes,
				    .done = done,
				    .context = context,
				    .request = -1,
				    .result = -1,
				    .body = -1,
				    .file = -1};
	error = make_files(fetcher, request->url);
	if (!error)
		error = write_request(fetcher, request);
	if (!error)
		error = run(agent, fetcher, request->seconds);
	if (error) {
		fetcher_stop(fetcher);
		*out = NULL;
	}
	return error;
}

int fetcher_start(struct agent *agent, const struct feed_config *feed,
		  const struct xb_feed_state *state, bool conditional, fetcher_done *done,
		  void *context, struct fetcher **out)
{
	struct fetch_request *request = malloc(sizeof(*request));
	int error;

	*out = NULL;
	if (!request)
		return xb_out_of_memory();
	fill_request(request, feed, state, conditional);
	error = fetcher_ask(agent, request, done, context, out);
	free(request);
	return error;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void fetcher_stop(struct fetcher *fetcher)
{
	if (!fetcher)
		return;
	if (fetcher->child > 0) {
		kill(fetcher->child, SIGKILL);
		waitpid(fetcher->child, NULL, 0);
	}
	sd_event_source_disable_unref(fetcher->exited);
	sd_event_source_disable_unref(fetcher->deadline);
	close_one(fetcher->request);
	close_one(fetcher->result);
	close_one(fetcher->body);
	close_one(fetcher->file);
	free(fetcher);
}

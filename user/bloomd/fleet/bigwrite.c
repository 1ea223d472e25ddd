/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A write that takes long: the loop goes on meanwhile. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/author.h"
#include "base/error.h"
#include "base/patience.h"
#include "base/text.h"
#include "bloomd/fleet/parts.h"
#include "engine/rotate.h"

#define PATIENCE 120 /* seconds that it waits for other writers */

/* Shared by both processes; the result stands behind it. */
struct bigwrite_left {
	bool done;
	char message[256];
	size_t size; /* of the result */
	_Alignas(16) uint8_t result[];
};

void bigwrite_stop(struct fleet_bigwrite *bigwrite)
{
	struct bigwrite_left *left = bigwrite->left;

	bigwrite->worker = sd_event_source_disable_unref(bigwrite->worker);
	if (bigwrite->child > 0) {
		kill(bigwrite->child, SIGKILL);
		waitpid(bigwrite->child, NULL, 0);
	}
	bigwrite->child = 0;
	if (left)
		munmap(left, sizeof(*left) + left->size);
	bigwrite->left = NULL;
}

struct work {
	struct fleet *fleet;
	bigwrite_body *body;
	void *result;
};

static int run(struct xb_writer *writer, void *context)
{
	struct work *work = context;

	return work->body(writer, work->fleet, work->result);
}

static _Noreturn void work(struct fleet *fleet, bigwrite_body *body)
{
	struct bigwrite_left *left = fleet->bigwrite.left;
	const struct xb_paths *paths = &fleet->agent->paths;
	struct work work = {fleet, body, left->result};
	struct xb_written written = {0};
	int error;

	xb_patience_set(PATIENCE);
	xb_author_set("fleet");
	error = xb_write(paths, XB_WRITE_HEAVY, run, &work, &written);
	if (error && error != BIGWRITE_GIVEN_UP)
		snprintf(left->message, sizeof(left->message), "%.250s", xb_error_message());
	xb_utf8_clean(left->message);
	left->done = !error || error == XB_UNMET || error == BIGWRITE_GIVEN_UP;
	if (!error || error == XB_UNMET)
		xb_write_settle(paths, &written);
	xb_written_free(&written);
	_exit(0);
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fleet *fleet = context;
	struct fleet_bigwrite *bigwrite = &fleet->bigwrite;
	struct bigwrite_left *left = bigwrite->left;

	(void)source;
	(void)info;
	bigwrite->worker = sd_event_source_disable_unref(bigwrite->worker);
	bigwrite->child = 0;
	bigwrite->left = NULL;
	if (!left->done && !*left->message)
		strcpy(left->message, "its process was ended");
	if (left->done && *left->message)
		xb_warning("fleet: %s", left->message);
	bigwrite->ended(fleet, left->result, left->done ? NULL : left->message);
	munmap(left, sizeof(*left) + left->size);
	return 0;
}

const char *bigwrite_start(struct fleet *fleet, bigwrite_body *body, size_t size,
			   bigwrite_ended *ended)
{
	struct fleet_bigwrite *bigwrite = &fleet->bigwrite;

	bigwrite_stop(bigwrite);
	bigwrite->left = mmap(NULL, sizeof(*bigwrite->left) + size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bigwrite->left == MAP_FAILED) {
		bigwrite->left = NULL;
		return "out of memory";
	}
	bigwrite->left->size = size;
	bigwrite->ended = ended;
	bigwrite->child = agent_fork(fleet->agent);
	if (!bigwrite->child)
		work(fleet, body);
	if (bigwrite->child > 0 &&
	    sd_event_add_child(fleet->agent->loop, &bigwrite->worker, bigwrite->child, WEXITED,
			       on_worked, fleet) >= 0)
		return NULL;
	bigwrite_stop(bigwrite);
	return "no process can be started";
}

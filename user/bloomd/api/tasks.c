/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define PHASES_MOST 64	  /* times that a client changes from reading to writing, in a group */
#define READS_MOST  256	  /* requests of a client that do not write, in a group */
#define READ_WORDS  64	  /* of such a request */
#define READS_WORDS 2048  /* of all such requests in a group, which is not cut into slices */
#define WORDS_MOST  65536 /* of a group; one more request may be added */
#define TASKS_KEPT  2048  /* for which memory is kept */

/* So no new filter is built for a group that the filter in force has room for. */
_Static_assert(WORDS_MOST + RESP_WORDS <= XB_CHANGES_MAX, "a group is not bulk");

const char *tasks_keep_text(struct tasks *tasks, const char *text)
{
	const char *copy = xb_arena_copy(&tasks->texts, text, strlen(text) + 1);

	return copy ? copy : "out of memory";
}

struct call tasks_call(struct tasks *tasks, struct task *task)
{
	struct call call = turn_call(tasks->turn, task->client, task->request);

	call.edits = &tasks->edits;
	call.edit = &task->edit;
	call.number = (uint32_t)(task - tasks->task);
	return call;
}

static void plan(struct tasks *tasks, struct task *task)
{
	struct call call = tasks_call(tasks, task);

	task->edit = (struct edit){.first = (uint32_t)tasks->edits.count};
	if (task->command->plan(&call) >= 0)
		return;
	task->refused = tasks_keep_text(tasks, xb_error_message());
	edits_cancel(&tasks->edits, &task->edit);
}

/* Of one client: in which phase it is, and what it has that does not write. */
struct taking {
	uint32_t phase, others;
	bool reads;
};

static int take_task(struct tasks *tasks, struct client *client, struct client_request request,
		     const struct command *command, struct taking *taking)
{
	struct task *task;

	if (xb_array_grow(&tasks->task, &tasks->room, tasks->count + 1, sizeof(*tasks->task)))
		return -ENOMEM;
	task = &tasks->task[tasks->count++];
	*task = (struct task){.client = client,
			      .request = request,
			      .command = command,
			      .writes = command && command->kind == COMMAND_WRITES};
	taking->phase += task->writes && taking->reads;
	taking->reads = !task->writes;
	taking->others += !task->writes;
	tasks->read_words += task->writes ? 0 : request.words;
	task->phase = taking->phase;
	if (task->writes)
		plan(tasks, task);
	return 0;
}

/* What does not fit is for the next turn. */
static bool fits(const struct tasks *tasks, const struct client_request *request,
		 const struct command *command, const struct taking *taking)
{
	if (tasks->count >= TASKS_MOST || tasks->edits.count >= WORDS_MOST)
		return false;
	if (command && command->kind == COMMAND_WRITES)
		return taking->phase + taking->reads < PHASES_MOST;
	return taking->others < READS_MOST && request->words <= READ_WORDS &&
	       tasks->read_words < READS_WORDS && !(command && command->alone);
}

void tasks_take(struct tasks *tasks, struct client *client)
{
	struct taking taking = {0};

	for (size_t i = 0; i < client_pending(client); i++) {
		struct client_request request = turn_request(client, i);
		const struct command *command = turn_command(client, request);

		if (!fits(tasks, &request, command, &taking) ||
		    take_task(tasks, client, request, command, &taking))
			return;
	}
}

void tasks_clear(struct tasks *tasks)
{
	tasks->count = tasks->read_words = 0;
	edits_clear(&tasks->edits);
	xb_arena_free(&tasks->texts);
	if (tasks->room <= TASKS_KEPT)
		return;
	free(tasks->task);
	tasks->task = NULL;
	tasks->room = 0;
}

void tasks_free(struct tasks *tasks)
{
	edits_free(&tasks->edits);
	xb_arena_free(&tasks->texts);
	free(tasks->task);
}

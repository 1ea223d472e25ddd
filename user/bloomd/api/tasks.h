/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests of a group that writes, as they are taken from the clients, each with its plan. */
#ifndef XB_BLOOMD_TASKS_H
#define XB_BLOOMD_TASKS_H

#include "bloomd/api/turn.h"

/* A request in the group. Those of a client stand one behind the other. */
struct task {
	struct client *client;
	struct client_request request;
	const struct command *command; /* NULL: none that it can call */
	bool writes;
	uint32_t phase;	     /* in each, what is written comes before what is read */
	const char *refused; /* why it changes nothing; NULL: it does */
	bool failed;	     /* its answer is an error */
	struct edit edit;
	size_t mark; /* of the first of its client: what was in its answers before */
};

/* All zero but for turn: none. */
struct tasks {
	struct turn *turn;
	struct task *task;
	size_t count, room;
	size_t read_words; /* of those that do not write */
	struct edits edits;
	struct xb_arena texts; /* of refusals */
};

/* In a group; so many requests do not wait for more. */
#define TASKS_MOST 65536

/* Takes requests of the client that wait, as many as fit, and plans what they write. */
void tasks_take(struct tasks *tasks, struct client *client);

/* What the task's command is called with. */
struct call tasks_call(struct tasks *tasks, struct task *task);

/* A copy of the text that lasts until tasks_clear(). */
const char *tasks_keep_text(struct tasks *tasks, const char *text);

void tasks_clear(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

#endif

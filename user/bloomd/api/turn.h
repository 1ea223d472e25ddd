/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A turn of the loop, in which requests are answered: the snapshot of the store that all share who
 * only read, and the count of what was answered.
 */
#ifndef XB_BLOOMD_TURN_H
#define XB_BLOOMD_TURN_H

#include "bloomd/api/client.h"
#include "bloomd/api/command.h"
#include "bloomd/api/cursors.h"
#include "bloomd/base/agent.h"

/* One is used again and again; all zero but for agent: the first. */
struct turn {
	struct agent *agent;
	struct cursors cursors[SOCKETS];
	uint32_t now; /* seconds since 1970 */
	/* The snapshot. */
	struct xb_store *store;
	struct xb_txn *txn;
	bool looked;	      /* it was opened, if it is there */
	char unreadable[512]; /* why it was not; "": it was */
	/* Requests of one kind in a row, to be added to the metrics at once. */
	const struct command *counted;
	bool counted_failed;
	uint64_t in_row;
};

/* The request behind `after` others that the client has waiting. */
struct client_request turn_request(const struct client *client, size_t after);

/* The command that the request can call here; NULL: there is none. */
const struct command *turn_command(struct client *client, struct client_request request);

/* What the command is called with. */
struct call turn_call(struct turn *turn, struct client *client, struct client_request request);

/* Answers what does not write, from the snapshot, which is opened for the first that reads.
 * *failed: the answer is an error. False: the time, as of agent_clock(), was over before the answer
 * was made; the client has the part that there is, and the next call goes on. */
bool turn_answer(struct turn *turn, struct client *client, const struct command *command,
		 struct client_request request, uint64_t until, bool *failed);
#define TURN_NEVER UINT64_MAX

/* Whether the answer that begins at this place of the client's answers is an error. */
bool turn_is_error(const struct client *client, size_t at);

/* The client's next request was answered. Counts it, with its command or NULL. */
void turn_note_answered(struct turn *turn, struct client *client, const struct command *command,
			bool failed);

/* The next request that reads gets a new snapshot. */
void turn_close_snapshot(struct turn *turn);

/* Adds what was counted to the metrics. */
void turn_end(struct turn *turn);

void turn_free(struct turn *turn);

#endif

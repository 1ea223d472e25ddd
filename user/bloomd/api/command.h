/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command of the socket: how it is called, and what it does in the turn of the loop that answers
 * it. */
#ifndef XB_BLOOMD_COMMAND_H
#define XB_BLOOMD_COMMAND_H

#include "bloomd/api/client.h"
#include "bloomd/api/cursors.h"
#include "bloomd/api/edits.h"
#include "bloomd/api/reply.h"
#include "store/store.h"

/* A request that is being answered. */
struct call {
	struct client *client;
	struct client_request request;
	struct reply *reply;	 /* of the client */
	struct xb_txn *txn;	 /* NULL: there is no store yet, so nothing is listed */
	struct cursors *cursors; /* of SSCAN */
	uint32_t now;		 /* seconds since 1970 */
	bool may_allow;		 /* changes of the allowlist are taken */
	size_t begin;		 /* of the reply: where the answer begins */
	uint64_t until;		 /* agent_clock(); what takes longer is done in another turn */

	/* Of a command whose answer is made by words. */
	uint32_t word;	 /* to go on with; 0: the answer has not begun */
	uint32_t looked; /* words, or entries, since the call began */
	bool more;	 /* the time was over before it was made */

	/* Of a command that writes. */
	struct edits *edits;
	struct edit *edit;
	uint32_t number; /* of the edit */
};

/* The words of the request; the first is the command. */
static inline const char *call_text(const struct call *call, uint32_t i)
{
	const struct client *client = call->client;

	return client->in + client->resp.word[call->request.word + i].at;
}

static inline size_t call_size(const struct call *call, uint32_t i)
{
	return call->client->resp.word[call->request.word + i].size;
}

/* Compares without regard to case. */
bool call_is(const struct call *call, uint32_t i, const char *word);

/* A whole number without a sign; false: it is none. */
bool call_number(const struct call *call, uint32_t i, uint64_t *number);

/* Counts a word or an entry that is looked at. True: the time is over; not for the first ones, so
 * that each turn goes on. */
bool call_is_late(struct call *call);

/* For each word from `first` on. False: that was the last one; or it is the turn of others, then
 * call->more is set, and the answer is called again with what the reply has by now. */
bool call_next(struct call *call, uint32_t first, uint32_t *word);

/* As call_next(), of an answer that is an array with an element for each of these words. */
bool call_next_element(struct call *call, uint32_t first, uint32_t *word);

enum command_kind {
	COMMAND_CONNECTION, /* needs no store */
	COMMAND_READS,
	COMMAND_WRITES,
	COMMAND_REFUSED, /* known, and not offered; `about` says why */
};

/*
 * All but writes: answer() makes the reply. Writes: plan() puts the entries into the edit; a
 * negative return, with a message, refuses the request, which then changes nothing. After they were
 * applied, answer() makes the reply. Both may be called twice for a request.
 */
struct command {
	const char *name; /* small letters */
	int arity;	  /* words with the name; negative: at least so many */
	enum command_kind kind;
	void (*answer)(struct call *call);
	int (*plan)(struct call *call);
	bool alone;	   /* its answer may be long: never in one turn with writes */
	bool by_words;	   /* its answer may be made in several turns, by call_next() */
	const char *about; /* of a refused one: what to do instead */
};

/* NULL: there is no such command. */
const struct command *command_find(const char *name, size_t size);

/* All of them, in the order of the table; NULL behind the last. */
const struct command *command_at(size_t place);

bool command_takes(const struct command *command, uint32_t words);

/* Why this request cannot be answered by its command; NULL command: it is unknown. */
void command_refuse(const struct command *command, const struct call *call);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/cswork.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/author.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/agent.h"
#include "bloomd/base/log.h"
#include "bloomd/crowdsec/csanswer.h"
#include "bloomd/feeds/leaving.h"
#include "engine/merge.h"
#include "engine/rotate.h"
#include "engine/writepath.h"
#include "store/fleet.h"
#include "store/membership.h"

/* From so many entries on, a new generation is likely. */
#define HEAVY 50000

/* --- whether the list has what is banned --- */

/* As long as it is banned, or longer. */
static int has(struct xb_txn *txn, uint32_t list, const struct xb_entry *entry, uint32_t until,
	       bool *listed)
{
	struct xb_membership member;
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	*listed = !error && xb_members_have(members, list, &member) &&
		  (!member.expires || member.expires + (uint64_t)BANS_SLACK >= until);
	return error == -ENOENT ? 0 : error;
}

static int look(struct xb_txn *txn, const char *name, const struct bans *bans, bool *lacks)
{
	const struct xb_list *list = xb_list_find(txn, name);
	uint32_t now = (uint32_t)time(NULL), until;
	int error = 0;

	*lacks = false;
	for (size_t at = 0, next; !error && !*lacks && at < bans->count; at = next) {
		bool listed = false;

		next = bans_step(bans, at, now, &until);
		/* What ends at once may be gone already. */
		if (until <= (uint64_t)now + BANS_SLACK)
			continue;
		if (list)
			error = has(txn, list->id, &bans->item[at].entry, until, &listed);
		*lacks = !listed;
	}
	return error;
}

static int find_lacking(const char *state, const char *list, const struct bans *bans, bool *lacks)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(state, &store, &txn);

	*lacks = bans->count;
	if (error)
		return error == -ENOENT ? 0 : error;
	error = look(txn, list, bans, lacks);
	xb_store_end_reading(store, txn);
	return error;
}

bool cswork_is_as_left(const struct xb_paths *paths, const char *list, const struct bans *bans,
		       const char *stamp)
{
	return !bans->count || xb_stamp_holds(paths->state, list, stamp);
}

/* --- putting it into force --- */

/* Of what is known with the list. */
struct comparison {
	bool lacks;
	uint64_t as_of; /* the last write of the store before it; 0: nothing was compared */
};

struct change {
	struct xb_patch *patch;
	const struct bans
		*replace; /* of which the list has nothing else; NULL: it keeps what it has */
	const struct comparison *found; /* NULL: the list gets all that is known */
	uint64_t removed;
};

/* What a feed that is gone has left in the list goes, and nothing that is banned is away meanwhile.
 */
static int take_out_others(struct xb_writer *writer, struct change *change)
{
	struct xb_list *list;
	struct xb_listfile file = {0};
	struct xb_merge merge = {.file = &file, .now = writer->now};
	int error = xb_list_need(writer->txn, change->patch->list, &list);

	if (!error)
		error = xb_share_check_ours(writer->txn, change->patch->list);
	if (!error)
		error = bans_to_file(change->replace, writer->now, &file);
	if (!error) {
		merge.list = list->id;
		error = xb_merge_replace(writer->txn, &merge);
	}
	xb_listfile_free(&file);
	change->removed = merge.removed;
	return error;
}

static int apply(struct xb_writer *writer, void *context)
{
	struct change *change = context;
	int error = change->replace ? take_out_others(writer, change) : 0;

	/* What others have changed since is yet to be compared. */
	if (change->found && change->found->as_of != writer->txn->meta.transaction)
		change->patch->stamp = NULL;
	return error ? error : xb_patch_apply(writer, change->patch);
}

static unsigned int how_to_write(const struct csanswer *answer)
{
	return (answer->changes.count > HEAVY ? XB_WRITE_HEAVY : 0) |
	       (answer->whole ? XB_WRITE_SURVEY : 0);
}

static void tell(struct cswork_outcome *outcome)
{
	snprintf(outcome->message, sizeof(outcome->message), "%.*s", XB_FEED_TEXT - 1,
		 xb_error_message());
	xb_utf8_clean(outcome->message);
}

static bool replaces(const struct cswork *work, const struct csanswer *answer)
{
	return work->state->replaces && answer->whole && !*answer->guard;
}

static int put_into_force(const struct cswork *work, const struct csanswer *answer,
			  const struct comparison *found, struct xb_written *written)
{
	const struct crowdsec_config *config = work->config->crowdsec;
	struct cswork_outcome *outcome = work->outcome;
	struct xb_patch patch = {
		.list = crowdsec_config_list(config),
		.judges = config->terms.judges,
		.verdict = config->terms.verdict,
		.scopes = config->terms.scopes,
		.scope = config->terms.scope,
		.items = answer->changes.item,
		.count = answer->changes.count,
		.factor = config->factor,
		.origin = XB_ORIGIN_CROWDSEC,
		.stamp = outcome->stamp,
	};
	struct change change = {.patch = &patch,
				.found = answer->whole || found->lacks ? NULL : found,
				.replace = replaces(work, answer) ? &answer->after : NULL};
	int error;

	xb_author_set("crowdsec");
	error = xb_write(work->paths, how_to_write(answer), apply, &change, written);

	if (error)
		tell(outcome);
	outcome->changed = true;
	outcome->added = patch.added;
	outcome->renewed = patch.renewed;
	outcome->removed = patch.removed + change.removed;
	outcome->held = patch.held;
	outcome->members = patch.members;
	return error == XB_UNMET ? 0 : error;
}

/* The last write of the store. 0: it is not known. */
static uint64_t last_write(const char *state)
{
	struct xb_store *store;
	struct xb_txn *txn;
	uint64_t transaction;

	if (xb_store_begin_reading(state, &store, &txn)) {
		xb_error_clear();
		return 0;
	}
	transaction = txn->meta.transaction;
	xb_store_end_reading(store, txn);
	return transaction;
}

static int compare(const struct cswork *work, const char *list, struct comparison *found)
{
	uint64_t begun = agent_clock();
	int error;

	found->as_of = last_write(work->paths->state);
	if (work->whole || cswork_is_as_left(work->paths, list, work->before, work->outcome->stamp))
		return 0;
	if (!work->looks) {
		found->as_of = 0;
		return 0;
	}
	error = find_lacking(work->paths->state, list, work->before, &found->lacks);
	work->outcome->look_time = agent_clock() - begun;
	return error;
}

/* *answer is made up to what is to be put into force. */
static int take(const struct cswork *work, struct csanswer *answer, struct comparison *found)
{
	const char *list = crowdsec_config_list(work->config->crowdsec);
	bool says_nothing = !work->whole && csanswer_is_empty(work->body);
	int error = compare(work, list, found);

	if (error || (says_nothing && !found->lacks))
		return error;
	error = csanswer_take(answer, work->body, work->before, work->config->crowdsec,
			      work->paths);
	if (error || !found->lacks)
		return error;
	log_info("crowdsec: list %s lacks entries that are banned; they come back", list);
	return csanswer_refill(answer, work->before);
}

/* The process that started this one goes on with it. */
static int hand_over(const struct cswork *work, const struct csanswer *answer)
{
	struct cswork_outcome *outcome = work->outcome;

	outcome->same = !work->whole && !answer->told.added.count && !answer->told.deleted.count;
	if (outcome->same && !outcome->changed)
		return 0;
	outcome->entries = bans_live_entries(&answer->after, (uint32_t)time(NULL));
	snprintf(outcome->guard, sizeof(outcome->guard), "%s", answer->guard);
	snprintf(outcome->why, sizeof(outcome->why), "%s", answer->why);
	return outcome->same ? 0 : bans_save(&answer->after, work->after);
}

static void leave(const struct cswork *work)
{
	if (*work->outcome->guard || !*work->state->left)
		return;
	if (leave_lists(work->paths, work->config, work->state, work->outcome->settled))
		log_error("crowdsec: the list that it filled before stays for now");
}

void cswork_run(const struct cswork *work)
{
	struct csanswer answer = {.whole = work->whole, .exact = work->exact, .guard = ""};
	struct cswork_outcome *outcome = work->outcome;
	struct xb_written written = {0};
	struct comparison found = {0};
	int error = take(work, &answer, &found);

	if (!error && (answer.changes.count || replaces(work, &answer)))
		error = put_into_force(work, &answer, &found, &written);
	if (!error && outcome->held)
		error = csanswer_hold(&answer, work->before, outcome->held, outcome->members);
	if (!error)
		error = hand_over(work, &answer);
	if (error && !*outcome->message)
		tell(outcome);
	outcome->done = !error;
	if (!error)
		leave(work);
	xb_write_settle(work->paths, &written);
	xb_written_free(&written);
	csanswer_free(&answer);
}

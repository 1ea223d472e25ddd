/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/storeview.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "store/expiry.h"
#include "store/fleet.h"
#include "store/renamed.h"
#include "store/walk.h"
#include "store/wanted.h"

struct look {
	struct xb_txn *txn;
	struct xb_storeview *view;
	uint32_t now;
	bool glance; /* reads no entries */
	size_t room; /* of view->automatic */
};

static int append(struct look *look, const struct xb_entry *entry, const struct xb_list *list,
		  const struct xb_membership *member)
{
	struct xb_storeview *view = look->view;
	struct xb_automatic *one;
	int error = xb_array_grow(&view->automatic, &look->room, view->automatic_count + 1,
				  sizeof(*view->automatic));

	if (error)
		return error;
	one = &view->automatic[view->automatic_count++];
	xb_entry_format(entry, one->entry);
	snprintf(one->kind, sizeof(one->kind), "%s", list->name + strlen(XB_LIST_AUTO));
	snprintf(one->why, sizeof(one->why), "%.*s", (int)member->comment_size,
		 member->comment_size ? member->comment : "");
	return 0;
}

/* An entry of the allowlist; *left: memberships in automatic lists that were not met yet. */
static int read_allowed(struct look *look, const struct xb_walk *walk, uint64_t *left)
{
	struct xb_members members = walk->members;
	struct xb_membership member;
	bool automatic = false, manual = false;
	int error = 0;

	while (!error && xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(look->txn, member.list);

		if (!list || !xb_list_is_auto(list)) {
			manual = true;
			continue;
		}
		automatic = true;
		--*left;
		error = append(look, &walk->entry, list, &member);
	}
	look->view->manual -= automatic && !manual;
	return error;
}

/* Walks no further than to the last entry that is there automatically. */
static int read_allowlist(struct look *look)
{
	const struct xb_txn *txn = look->txn;
	struct xb_walk walk;
	uint64_t left = 0;
	int more = 0, error;

	for (size_t i = 0; i < txn->list_count; i++)
		left += xb_list_is_auto(&txn->lists[i]) ? txn->lists[i].members : 0;
	error = left ? xb_walk_begin(&walk, look->txn, &XB_WALK_ALLOW) : 0;
	if (error || !left)
		return error;
	while (!error && left && (more = xb_walk_next(&walk)) > 0)
		error = read_allowed(look, &walk, &left);
	xb_walk_end(&walk);
	return error ? error : more < 0 ? more : 0;
}

static int read_trial(struct look *look)
{
	int error = xb_trial_get(look->txn, &look->view->trial);

	look->view->tried = !error;
	return error == -ENOENT ? 0 : error;
}

static int read_entries(struct look *look)
{
	struct xb_storeview *view = look->view;
	int error = xb_expiry_overlook(look->txn, look->now, &view->expired);

	view->manual = look->txn->meta.totals.allow;
	return error ? error : read_allowlist(look);
}

/* Damage that every command that writes would meet. */
static int check_renamed(struct xb_txn *txn)
{
	struct xb_renamed *renamed;
	size_t count;
	int found = xb_renamed_get(txn, &renamed, &count);

	free(renamed);
	return found < 0 ? found : 0;
}

static int read_limits(struct look *look)
{
	struct xb_storeview *view = look->view;
	int error;

	view->limits = calloc(1, sizeof(*view->limits));
	error = view->limits ? xb_limits_get(look->txn, view->limits) : xb_out_of_memory();
	for (uint32_t number = 1; !error && number < XB_LIMITS; number++) {
		const char *list = view->limits->limit[number].list;

		if (*list && !xb_share_is_ours(look->txn, list))
			view->followed |= 1U << number;
	}
	return error;
}

static int read_all(struct look *look)
{
	struct xb_storeview *view = look->view;
	struct xb_txn *txn = look->txn;
	int error = xb_expiry_next(txn, &view->due);

	if (!error || error == -ENOENT)
		error = look->glance ? 0 : read_entries(look);
	view->meta = txn->meta;
	view->lists = txn->lists;
	view->list_count = txn->list_count;
	view->scopes = txn->scopes;
	txn->lists = NULL;
	txn->scopes = (struct xb_arena){0};
	if (!error)
		error = xb_wanted_all(txn, &view->wanted, &view->wanted_count);
	if (!error)
		error = xb_home_get(txn, &view->home);
	if (!error)
		error = check_renamed(txn);
	if (!error)
		error = xb_known_wish_get(txn, &view->known);
	if (!error)
		error = read_limits(look);
	return error ? error : read_trial(look);
}

static int look_at(const char *state, struct look *look)
{
	struct xb_storeview *view = look->view;
	struct xb_store *store;
	int error = xb_store_open(state, XB_STORE_READ, &store);

	*view = (struct xb_storeview){
		.meta = {.ports.dns = {XB_DNS_PORT}, .answer_limit = XB_ANSWER_LIMIT},
	};
	if (error)
		return error == -ENOENT ? 0 : error;
	view->reader = xb_readers_last(store->env);
	error = xb_store_read(store, &look->txn);
	if (!error) {
		error = read_all(look);
		xb_txn_abort(look->txn);
	}
	xb_store_close(store);
	return error;
}

int xb_storeview_read(const char *state, uint32_t now, struct xb_storeview *view)
{
	return look_at(state, &(struct look){.view = view, .now = now});
}

int xb_storeview_glance(const char *state, struct xb_storeview *view)
{
	return look_at(state, &(struct look){.view = view, .glance = true});
}

void xb_storeview_free(struct xb_storeview *view)
{
	free(view->lists);
	xb_arena_free(&view->scopes);
	free(view->wanted);
	free(view->automatic);
	free(view->limits);
	xb_trial_free(&view->trial);
	*view = (struct xb_storeview){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial as the record in the store, the guard and the generation it tries tell of it. */
#include "bloomctl/tried.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "engine/trial.h"

int tried_open(const struct cli *cli, struct xb_txn *txn, struct tried *tried)
{
	struct xb_anchor anchor;
	int error;

	*tried = (struct tried){0};
	error = txn ? xb_trial_get(txn, &tried->trial) : -ENOENT;
	if (!error)
		error = xb_anchor_open(cli->paths.pins, &anchor);
	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_trial_policy(&cli->paths, &anchor, &tried->policy);
	if (!error)
		tried->left = xb_trial_left(&tried->trial, &anchor.guard.state);
	xb_anchor_close(&anchor);
	return error == -ENOENT ? 0 : error;
}

void tried_close(struct tried *tried)
{
	xb_trial_free(&tried->trial);
}

int tried_show(const struct cli *cli,
	       int (*answer)(const struct cli *cli, struct xb_txn *txn, const struct tried *tried,
			     void *context),
	       void *context)
{
	struct xb_store *store;
	struct xb_txn *txn;
	struct tried tried = {0};
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn), code;

	if (!error)
		error = tried_open(cli, txn, &tried);
	code = error && error != -ENOENT ? cli_fail() : answer(cli, txn, &tried, context);
	tried_close(&tried);
	xb_store_end_reading(store, txn);
	return code;
}

bool tried_verdict(const struct tried *tried, const char *list, uint32_t *verdict)
{
	const struct xb_request *request = &tried->trial.request;

	if (!tried->left || request->kind != XB_REQUEST_VERDICT ||
	    strcmp(request->verdict.list, list))
		return false;
	*verdict = request->verdict.verdict;
	return true;
}

bool tried_scope(const struct tried *tried, const char *list, struct xb_scope *scope)
{
	const struct xb_request *request = &tried->trial.request;

	if (!tried->left || request->kind != XB_REQUEST_SCOPE || strcmp(request->scope.list, list))
		return false;
	*scope = request->scope.scope;
	return true;
}

void tried_print(uint64_t left, const char *afterwards)
{
	char until[32];

	printf(" (on trial until %s, then %s)",
	       cli_time((uint32_t)((uint64_t)time(NULL) + left), until), afterwards);
}

json_t *tried_json(const struct tried *tried, const char *key, const char *word)
{
	return json_pack("{s:s,s:I}", key, word, "seconds_left", (json_int_t)tried->left);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial as the record in the store, the guard and the generation it tries tell of it. */
#include "bloomctl/ontrial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/trial.h"

int ontrial_open(const struct cli *cli, struct xb_txn *txn, struct ontrial *ontrial)
{
	struct xb_anchor anchor;
	int error;

	*ontrial = (struct ontrial){0};
	error = txn ? xb_trial_get(txn, &ontrial->trial) : -ENOENT;
	if (!error)
		error = xb_anchor_open(cli->paths.pins, &anchor);
	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_trial_policy(&cli->paths, &anchor, &ontrial->policy);
	if (!error)
		ontrial->left = xb_trial_left(&ontrial->trial, &anchor.guard.state);
	xb_anchor_close(&anchor);
	return error == -ENOENT ? 0 : error;
}

void ontrial_close(struct ontrial *ontrial)
{
	xb_trial_free(&ontrial->trial);
}

int ontrial_show(const struct cli *cli,
		 int (*answer)(const struct cli *cli, struct xb_txn *txn,
			       const struct ontrial *ontrial, void *context),
		 void *context)
{
	struct xb_store *store;
	struct xb_txn *txn;
	struct ontrial ontrial = {0};
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn), code;

	if (!error)
		error = ontrial_open(cli, txn, &ontrial);
	code = error && error != -ENOENT ? cli_fail() : answer(cli, txn, &ontrial, context);
	ontrial_close(&ontrial);
	xb_store_end_reading(store, txn);
	return code;
}

bool ontrial_verdict(const struct ontrial *ontrial, const char *list, uint32_t *verdict)
{
	const struct xb_request *request = &ontrial->trial.request;

	if (!ontrial->left || request->kind != XB_REQUEST_VERDICT ||
	    strcmp(request->verdict.list, list))
		return false;
	*verdict = request->verdict.verdict;
	return true;
}

bool ontrial_scope(const struct ontrial *ontrial, const char *list, struct xb_scope *scope)
{
	const struct xb_request *request = &ontrial->trial.request;

	if (!ontrial->left || request->kind != XB_REQUEST_SCOPE ||
	    strcmp(request->scope.list, list))
		return false;
	*scope = request->scope.scope;
	return true;
}

const struct xb_limit *ontrial_limit_added(const struct ontrial *ontrial)
{
	const struct xb_request *request = &ontrial->trial.request;

	return ontrial->left && request->kind == XB_REQUEST_LIMIT_ADD ? &request->limit_add : NULL;
}

bool ontrial_limit_deleted(const struct ontrial *ontrial, const char *name)
{
	const struct xb_request *request = &ontrial->trial.request;

	return ontrial->left && request->kind == XB_REQUEST_LIMIT_DEL &&
	       !strcmp(request->limit_del, name);
}

void ontrial_print(FILE *out, uint64_t left, const char *afterwards)
{
	char until[32];

	fprintf(out, " (on trial until %s, then %s)",
		xb_time_format((uint64_t)((uint64_t)time(NULL) + left), until), afterwards);
}

json_t *ontrial_json(const struct ontrial *ontrial, const char *key, const char *word)
{
	return json_pack("{s:s,s:I}", key, word, "seconds_left", (json_int_t)ontrial->left);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/settings.h"

#include "base/error.h"
#include "base/program.h"
#include "engine/admission.h"
#include "engine/writepath.h"
#include "store/knownwish.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/lists.h"

/* Of --known: what it needs is wanted. */
static int check_known(struct xb_writer *writer)
{
	struct xb_known_wish wish;
	int error = xb_known_wish_get(writer->txn, &wish);

	if (error || wish.on)
		return error;
	return xb_input_error("no source is known, because remembering is off%s",
			      xb_advice(XB_ADVICE_REMEMBER));
}

struct policy_change {
	struct xb_policy_request request;
	struct xb_admits admits;
};

static int check_admission(struct xb_writer *writer, struct policy_change *change)
{
	const struct xb_policy_request *request = &change->request;
	int error;

	xb_admits_free(&change->admits);
	error = xb_admits_find(writer->txn, &change->admits);
	if (error || request->force)
		return error;
	return xb_admission_check(writer->paths, writer->txn, &change->admits, request->known);
}

static int set_policy(struct xb_writer *writer, void *context)
{
	struct policy_change *change = context;
	const struct xb_policy_request *request = &change->request;
	struct xb_meta *meta = &writer->txn->meta;
	int error = request->known ? check_known(writer) : 0;

	if (!error && request->policy == XB_POLICY_ALLOW_ONLY)
		error = check_admission(writer, change);
	if (error)
		return error;
	meta->policy = request->policy;
	meta->admits_known = request->known;
	writer->txn->edits++;
	return 0;
}

int xb_policy_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_admits *admits, struct xb_written *written)
{
	struct policy_change change = {.request = wish->request->policy};
	int error = xb_write_wish(paths, XB_WRITE_SURVEY, wish, set_policy, &change, written);

	if (admits)
		*admits = change.admits;
	else
		xb_admits_free(&change.admits);
	return error;
}

static int set_verdict(struct xb_writer *writer, void *context)
{
	const struct xb_verdict_request *request = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, request->list, &list);

	return error ? error : xb_domain_verdict_set(writer->txn, list, request->verdict);
}

int xb_verdict_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		    struct xb_written *written)
{
	struct xb_verdict_request request = wish->request->verdict;

	return xb_write_wish(paths, 0, wish, set_verdict, &request, written);
}

static int set_scope(struct xb_writer *writer, void *context)
{
	const struct xb_scope_request *request = context;
	struct xb_list *list;
	int error = xb_list_need(writer->txn, request->list, &list);

	return error ? error : xb_list_scope_set(writer->txn, list, &request->scope);
}

int xb_scope_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		  struct xb_written *written)
{
	struct xb_scope_request request = wish->request->scope;

	return xb_write_wish(paths, 0, wish, set_scope, &request, written);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes are given last: on the way from the former terms to the new ones more may be in use than
 * there can be. */
#include "engine/listterms.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/jsontext.h"
#include "model/origin.h"
#include "model/verdict.h"
#include "store/listclass.h"
#include "store/lists.h"

struct xb_former {
	uint32_t class;
	bool counts;
	const struct xb_scope *scope;
};

static bool counts(const struct xb_list *list)
{
	return list->verdict == XB_DOMAIN_COUNT;
}

int xb_list_terms_begin(struct xb_list_terms *terms, struct xb_txn *txn)
{
	*terms = (struct xb_list_terms){.count = txn->list_count};
	terms->former = calloc(terms->count + 1, sizeof(*terms->former));
	if (!terms->former)
		return xb_out_of_memory();
	for (size_t i = 0; i < terms->count; i++) {
		struct xb_list *list = &txn->lists[i];

		terms->former[i] =
			(struct xb_former){list->class, counts(list), xb_list_scope(list)};
		list->class = XB_CLASS_ALL;
		list->verdict = XB_DOMAIN_DROP;
		list->scope = NULL;
		/* The entries of shared lists stay. */
		list->origins = list->share ? list->origins : 0;
	}
	return 0;
}

static int set_scope(struct xb_txn *txn, struct xb_list *list, const char *text)
{
	struct xb_scope scope;
	int error = xb_scope_parse(text, &scope);

	if (error)
		return error;
	list->scope = NULL;
	if (xb_scope_is_all(&scope))
		return 0;
	if (!xb_list_has_verdict(list))
		return xb_input_error("list %s has no scope: what it allows passes", list->name);
	list->scope = xb_arena_copy(&txn->scopes, &scope, sizeof(scope));
	return list->scope ? 0 : -EIO;
}

static int set_origins(struct xb_list *list, const json_t *names)
{
	uint32_t origins = 0, origin;
	json_t *name;
	size_t i;

	if (!json_is_array(names))
		return xb_input_error("\"origins\" is not an array");
	json_array_foreach(names, i, name)
	{
		if (!json_is_string(name))
			return xb_input_error("\"origins\" holds names of origins");
		if (xb_origin_parse(json_string_value(name), &origin))
			return -EINVAL;
		origins |= 1U << origin;
	}
	list->origins = list->share ? list->origins : origins;
	return 0;
}

int xb_list_terms_line(struct xb_txn *txn, const json_t *line)
{
	const json_t *origins = json_object_get(line, "origins");
	const char *name, *verdict, *scope;
	struct xb_list *list;
	int error = 0;

	if (xb_json_text(line, "list", &name) || xb_json_text(line, "verdict", &verdict) ||
	    xb_json_text(line, "scope", &scope))
		return -EINVAL;
	if (!name)
		return xb_input_error("%s needs a \"list\"", verdict ? "a verdict"
							     : scope ? "a scope"
								     : "an origin");
	if (xb_list_need(txn, name, &list))
		return -EINVAL;
	if (verdict)
		error = xb_domain_verdict_parse(verdict, &list->verdict);
	if (!error && scope)
		error = set_scope(txn, list, scope);
	return error || !origins ? error : set_origins(list, origins);
}

static bool is_as_before(const struct xb_former *former, const struct xb_list *list)
{
	return former->counts == counts(list) &&
	       xb_scope_equals(former->scope, xb_list_scope(list));
}

int xb_list_terms_end(const struct xb_list_terms *terms, struct xb_txn *txn)
{
	int error = 0;

	for (size_t i = 0; i < terms->count; i++)
		if (is_as_before(&terms->former[i], &txn->lists[i]))
			txn->lists[i].class = terms->former[i].class;
	for (size_t i = 0; !error && i < txn->list_count; i++) {
		struct xb_list *list = &txn->lists[i];
		bool is_new = i >= terms->count && (list->scope || counts(list));

		if (is_new || (i < terms->count && !is_as_before(&terms->former[i], list)))
			error = xb_list_classify(txn, list);
	}
	return error;
}

void xb_list_terms_free(struct xb_list_terms *terms)
{
	free(terms->former);
	*terms = (struct xb_list_terms){0};
}

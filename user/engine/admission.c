/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/admission.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "engine/known.h"
#include "model/policy.h"
#include "store/lists.h"
#include "store/origins.h"

static const char *describe_lack(const struct xb_txn *txn)
{
	const struct xb_totals *totals = &txn->meta.totals;

	return (totals->host4 + totals->prefix4 + totals->net6)
		       ? "all lists that have sources only count"
		       : "no source is listed";
}

static void put_list(struct xb_line *line, const struct xb_admitting *list)
{
	const char *join = " by ";

	xb_line_put(line, "%" PRIu64 " in list %s", list->sources, list->name);
	for (uint32_t origin = 0; origin < XB_ORIGINS; origin++) {
		if (!(list->origins >> origin & 1))
			continue;
		xb_line_put(line, "%s%s", join, xb_origin_name(origin));
		join = " and ";
	}
}

#define TOLD 4

/* "5000 in list level1 by import, 2 in list bots by feed": what the lists admit that have an
 * origin; "": none does. */
static void describe_strangers(const struct xb_admits *admits, char *out, size_t size)
{
	struct xb_line line = {.text = out, .room = size};
	size_t count = 0;

	*out = '\0';
	for (size_t i = 0; i < admits->count; i++) {
		if (!admits->list[i].origins || count++ >= TOLD)
			continue;
		xb_line_put(&line, "%s", count > 1 ? ", " : "");
		put_list(&line, &admits->list[i]);
	}
	if (count > TOLD)
		xb_line_put(&line, ", and in %zu more lists", count - TOLD);
}

int xb_admission_check(const struct xb_paths *paths, const struct xb_txn *txn,
		       const struct xb_admits *admits, bool known)
{
	char strangers[sizeof(((struct xb_admission *)0)->strangers)];
	bool anybody = false;
	int error = !admits->sources && known ? xb_known_anybody(paths, &anybody) : 0;

	if (error)
		return error;
	if (!admits->sources && !anybody)
		return xb_input_error("%s%s: allow-only would shut everybody out%s",
				      describe_lack(txn), known ? ", and nobody is known yet" : "",
				      xb_advice(XB_ADVICE_SHUT_OUT));
	describe_strangers(admits, strangers, sizeof(strangers));
	if (!*strangers)
		return 0;
	return xb_input_error("allow-only would admit sources that nobody added by hand: %s%s",
			      strangers, xb_advice(XB_ADVICE_ADMIT));
}

static const char *find_lack(const struct xb_txn *txn)
{
	return txn->meta.policy == XB_POLICY_ALLOW_ONLY && xb_admits_none(txn) ? describe_lack(txn)
									       : NULL;
}

/* Whether the list has admitted strangers before the transaction. */
static bool did_admit(const struct xb_writer *writer, const struct xb_list *list)
{
	return writer->before.policy == XB_POLICY_ALLOW_ONLY && list->stored &&
	       list->stored_members && list->stored_verdict != XB_DOMAIN_COUNT &&
	       list->stored_origins;
}

static bool begins_to_admit(const struct xb_writer *writer, const struct xb_list *list)
{
	return xb_admits_by(list) && xb_list_origins(list) && !did_admit(writer, list);
}

static bool has_newcomers(const struct xb_writer *writer)
{
	const struct xb_txn *txn = writer->txn;

	if (txn->meta.policy != XB_POLICY_ALLOW_ONLY)
		return false;
	for (size_t i = 0; i < txn->list_count; i++)
		if (begins_to_admit(writer, &txn->lists[i]))
			return true;
	return false;
}

static int find_newcomers(const struct xb_writer *writer, struct xb_admission *admission)
{
	struct xb_admits admits;
	int error = xb_admits_find(writer->txn, &admits);

	for (size_t i = 0; !error && i < admits.count; i++) {
		struct xb_admitting *one = &admits.list[i];

		if (!begins_to_admit(writer, xb_list_by_name(writer->txn, one->name)))
			one->origins = 0;
	}
	if (!error)
		describe_strangers(&admits, admission->strangers, sizeof(admission->strangers));
	xb_admits_free(&admits);
	return error;
}

int xb_admission_begin(const struct xb_writer *writer, struct xb_admission *admission)
{
	*admission = (struct xb_admission){.lack = find_lack(writer->txn),
					   .known = writer->txn->meta.admits_known};
	return has_newcomers(writer) ? find_newcomers(writer, admission) : 0;
}

/* Whether nobody is admitted. */
static bool shuts_out(const struct xb_paths *paths, const struct xb_admission *admission)
{
	bool anybody = false;

	return admission->lack &&
	       !(admission->known && (xb_known_anybody(paths, &anybody) || anybody));
}

void xb_admission_settle(const struct xb_paths *paths, const struct xb_admission *admission,
			 bool *out)
{
	bool told = *out;

	*out = shuts_out(paths, admission);
	if (*out && !told)
		xb_warning("%s%s, and the policy is allow-only: everybody is shut out but the "
			   "allowlist",
			   admission->lack, admission->known ? ", nobody is known" : "");
	if (*admission->strangers)
		xb_warning("the policy is allow-only, and it admits sources that nobody added by "
			   "hand: %s",
			   admission->strangers);
}

void xb_admission_look(const struct xb_paths *paths)
{
	struct xb_admission admission = {0};
	struct xb_store *store;
	struct xb_txn *txn;
	bool out = false;

	if (!xb_store_begin_reading(paths->state, &store, &txn)) {
		admission.lack = find_lack(txn);
		admission.known = txn->meta.admits_known;
	}
	xb_store_end_reading(store, txn);
	xb_error_clear();
	xb_admission_settle(paths, &admission, &out);
}

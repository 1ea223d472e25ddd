/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl test: what, if anything, has this address or prefix blocked, and what the kernel would
 * do with it now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/error.h"
#include "core/generation.h"
#include "core/policy.h"
#include "core/probe.h"
#include "show.h"

/* What all the answers are taken from. */
struct view {
	const struct cli *cli;
	struct xb_store *store;
	struct xb_txn *txn; /* NULL: there is no store */
	struct xb_link link;
	bool linked, allow;
	json_t *answers;
};

/* Every entry of one side that covers the one asked for, itself included. by: NULL to print. */
static int covering(const struct view *view, const struct xb_entry *asked, json_t *by, bool *found)
{
	struct xb_members members;
	struct covers covers;
	int more = 0;

	*found = false;
	show_covers(asked, &covers);
	while (view->txn && (more = show_next_cover(view->txn, &covers, &members)) > 0) {
		*found = true;
		if (by)
			json_array_append_new(by, show_entry_json(view->txn, &covers.entry, members,
								  XB_ANY_LIST));
		else if (!view->cli->quiet)
			show_entry(view->txn, &covers.entry, members, XB_ANY_LIST);
	}
	return more;
}

static const char *reason(enum xb_verdict verdict, uint32_t policy, bool listed, bool allowed)
{
	if (verdict == XB_PROBE_NONE)
		return "nothing is enforced";
	if (policy == XB_POLICY_ALLOW_ONLY)
		return listed	 ? "listed, and the policy is allow-only"
		       : allowed ? "allowed"
				 : "not listed, and the policy is allow-only";
	if (listed && allowed)
		return "allowed";
	if (listed && policy == XB_POLICY_MONITOR)
		return "the policy is monitor";
	return listed ? "listed" : "not listed";
}

/* What the kernel does with a single address. */
static int tell_verdict(const struct view *view, const struct xb_entry *asked, bool listed,
			bool allowed, json_t *answer)
{
	static const char *const names[] = {"none", "pass", "drop"};
	uint32_t policy = view->txn ? view->txn->meta.policy : XB_POLICY_ENFORCE;
	enum xb_verdict verdict = XB_PROBE_NONE;
	char text[XB_ENTRY_TEXT];
	const char *why;
	int error;

	if (xb_entry_is_name(asked) || asked->length != xb_entry_full_length(asked))
		return 0;
	error = view->linked ? xb_probe(&view->link, asked, &verdict) : 0;
	if (error)
		return error;
	why = reason(verdict, policy, listed, allowed);
	if (answer) {
		json_object_set_new(answer, "kernel", json_string(names[verdict]));
		json_object_set_new(answer, "reason", json_string(why));
	} else if (!view->cli->quiet) {
		printf("%s %s now: %s\n", xb_entry_format(asked, text),
		       verdict == XB_PROBE_DROP ? "is dropped" : "passes", why);
	}
	return 0;
}

static int answer_one(const struct view *view, const struct xb_entry *asked, bool *found)
{
	json_t *answer = view->cli->json ? json_object() : NULL;
	json_t *by = answer ? json_array() : NULL, *by_allow = answer ? json_array() : NULL;
	struct xb_entry allow = xb_entry_allow(asked);
	bool listed = false, allowed;
	char text[XB_ENTRY_TEXT];
	int error = view->allow ? 0 : covering(view, asked, by, &listed);

	xb_entry_format(asked, text);
	if (!error && !listed && !answer && !view->allow && !view->cli->quiet)
		printf("%s is not listed\n", text);
	if (!error)
		error = covering(view, &allow, by_allow, &allowed);
	if (!error && !allowed && !answer && view->allow && !view->cli->quiet)
		printf("%s is not allowed\n", text);
	if (answer) {
		json_object_set_new(answer, "entry", json_string(text));
		if (!view->allow) {
			json_object_set_new(answer, "listed", json_boolean(listed));
			json_object_set(answer, "by", by);
		}
		json_object_set_new(answer, "allowed", json_boolean(allowed));
		json_object_set(answer, "allowed_by", by_allow);
		json_array_append(view->answers, answer);
	}
	if (!error && !view->allow)
		error = tell_verdict(view, asked, listed, allowed, answer);
	json_decref(by);
	json_decref(by_allow);
	json_decref(answer);
	*found = view->allow ? allowed : listed;
	return error;
}

static int open_view(struct view *view)
{
	int error = xb_store_open(view->cli->paths.state, false, &view->store);

	if (!error)
		error = xb_store_read(view->store, &view->txn);
	if (error && error != -ENOENT)
		return error;
	error = xb_link_open(view->cli->paths.pins, &view->link);
	view->linked = !error;
	return error == -ENOENT ? 0 : error;
}

int show_test(struct cli *cli, int argc, char **argv, bool allow)
{
	struct view view = {.cli = cli, .allow = allow, .answers = json_array()};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry asked;
	bool absent = false;
	int error, code;

	if (argc < 2)
		return cli_usage(cli, "%stest needs at least one entry", allow ? "allow " : "");
	for (int i = 1; i < argc; i++)
		if (xb_entry_parse(argv[i], strlen(argv[i]), form, &asked, NULL))
			return cli_fail();
	error = open_view(&view);
	for (int i = 1; !error && i < argc; i++) {
		bool found = false;

		error = xb_entry_parse(argv[i], strlen(argv[i]), form, &asked, NULL);
		if (!error)
			error = answer_one(&view, &asked, &found);
		absent |= !found;
	}
	xb_txn_abort(view.txn);
	xb_store_close(view.store);
	if (view.linked)
		xb_link_close(&view.link);
	if (error)
		code = cli_fail();
	else if (cli->json)
		code = cli_json(cli, json_pack("{s:O}", "entries", view.answers));
	else
		code = cli_done(EXIT_DONE);
	json_decref(view.answers);
	return code ? code : absent ? EXIT_ABSENT : EXIT_DONE;
}

int verb_test(struct cli *cli, int argc, char **argv)
{
	return show_test(cli, argc, argv, false);
}

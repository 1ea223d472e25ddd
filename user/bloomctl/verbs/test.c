/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl test: what, if anything, has this address, prefix or domain blocked, and what the kernel
 * would do with it now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/show.h"
#include "filter/generation.h"
#include "filter/testrun.h"
#include "model/policy.h"
#include "store/covers.h"
#include "store/expiry.h"
#include "store/walk.h"

/* What all the answers are taken from. */
struct view {
	const struct cli *cli;
	struct xb_store *store;
	struct xb_txn *txn; /* NULL: there is no store */
	struct xb_anchor anchor;
	bool anchored, allow;
	uint32_t now;	  /* what is listed is told as of */
	uint64_t expired; /* memberships that are not swept yet */
	json_t *answers;
};

/* Every entry of one side that covers the one asked for, itself included. by: NULL to print. */
static int covering(const struct view *view, const struct xb_entry *asked, json_t *by, bool *found)
{
	/* `allow test` tells of this side alone. */
	const char *before = xb_entry_is_allow(asked) && !view->allow ? "allow " : "";
	struct xb_members members;
	struct xb_covers covers;
	int more = 0;

	*found = false;
	xb_covers_begin(asked, &covers);
	while (view->txn && (more = xb_covers_next(view->txn, &covers, &members)) > 0) {
		*found = true;
		if (by)
			json_array_append_new(by, show_entry_json(view->txn, &covers.entry, members,
								  XB_ANY_LIST));
		else if (!view->cli->quiet)
			show_entry(view->txn, before, &covers.entry, members, XB_ANY_LIST);
	}
	return more;
}

/* What is known of an entry when the kernel is asked. */
struct asked {
	struct xb_entry entry;
	bool listed, allowed;
	bool expired, allow_expired; /* was, and is enforced until the store is swept */
};

/* Tells of the entry that covered this one until it expired; `key`: its time in JSON. */
static int look_for_expired(const struct view *view, const struct xb_entry *entry, json_t *answer,
			    const char *key, bool *expired)
{
	struct xb_membership member;
	struct xb_members members;
	struct xb_covers covers;
	char text[XB_ENTRY_TEXT], when[32];
	int more;

	if (!view->txn || !view->expired)
		return 0;
	view->txn->as_of = 0;
	xb_covers_begin(entry, &covers);
	more = xb_covers_next(view->txn, &covers, &members);
	view->txn->as_of = view->now;
	if (more <= 0 || !xb_members_next(&members, &member))
		return more < 0 ? more : 0;
	*expired = true;
	cli_time(member.expires, when);
	if (answer)
		json_object_set_new(answer, key, json_string(when));
	else if (!view->cli->quiet)
		printf("%s%s expired %s\n",
		       xb_entry_is_allow(entry) && !view->allow ? "allow " : "",
		       xb_entry_format(&covers.entry, text), when);
	return 0;
}

static uint32_t policy_of(const struct view *view)
{
	return view->txn ? view->txn->meta.policy : XB_POLICY_ENFORCE;
}

#define EXPIRED "expired, and enforced until `bloomctl expire` or another command that writes"

static const char *source_reason(const struct view *view, const struct asked *asked,
				 enum xb_verdict verdict)
{
	uint32_t policy = policy_of(view);

	if (verdict == XB_PROBE_NONE)
		return "nothing is enforced";
	if (verdict == XB_PROBE_PASS && asked->listed && !asked->allowed && asked->allow_expired)
		return EXPIRED;
	if (verdict == XB_PROBE_DROP && !asked->listed && asked->expired &&
	    policy != XB_POLICY_ALLOW_ONLY)
		return EXPIRED;
	if (policy == XB_POLICY_ALLOW_ONLY)
		return asked->listed	? "listed, and the policy is allow-only"
		       : asked->allowed ? "allowed"
					: "not listed, and the policy is allow-only";
	if (asked->listed && asked->allowed)
		return "allowed";
	if (asked->listed && policy == XB_POLICY_MONITOR)
		return "the policy is monitor";
	return asked->listed ? "listed" : "not listed";
}

/* The strictest verdict of all that covers a listed name. */
static int strictest(const struct view *view, const struct xb_entry *name, uint32_t *verdict)
{
	struct xb_members members;
	struct xb_covers covers;
	int more;

	*verdict = XB_DOMAIN_COUNT;
	xb_covers_begin(name, &covers);
	while ((more = xb_covers_next(view->txn, &covers, &members)) > 0) {
		enum xb_domain_verdict one = xb_members_verdict(view->txn, members);

		if (one < *verdict)
			*verdict = one;
	}
	return more;
}

static int name_reason(const struct view *view, const struct asked *asked, enum xb_verdict now,
		       const char **why)
{
	uint32_t verdict = XB_DOMAIN_COUNT;
	int error = asked->listed ? strictest(view, &asked->entry, &verdict) : 0;

	/* NOLINTBEGIN(clang-analyzer-core.NullDereference): listed is only what a store has */
	*why = now == XB_PROBE_NONE					  ? "nothing is enforced"
	       : !asked->listed && asked->expired && now != XB_PROBE_PASS ? EXPIRED
	       : asked->listed && !asked->allowed && asked->allow_expired && now == XB_PROBE_PASS
		       ? EXPIRED
	       : !asked->listed			      ? "not listed"
	       : asked->allowed			      ? "allowed"
	       : !view->txn->meta.ports.dns[0]	      ? "listed, and the ports of dns are off"
	       : verdict == XB_DOMAIN_COUNT	      ? "listed, and the verdict is count"
	       : policy_of(view) == XB_POLICY_MONITOR ? "the policy is monitor"
						      : "listed";
	/* NOLINTEND(clang-analyzer-core.NullDereference) */
	return error;
}

/*
 * A source that the filter lets through, so that it is the name that decides: addresses nobody has
 * (169.254.0.0/16 is allowed automatically), else one that is listed, for allow-only. 0: none was
 * found.
 */
static int find_source(const struct view *view, struct xb_entry *source)
{
	static const uint32_t addresses[] = {0xa9fe0001, 0xc0000201, 0xc6336401, 0xcb007101};
	const size_t count = sizeof(addresses) / sizeof(addresses[0]);
	enum xb_verdict verdict = XB_PROBE_NONE;
	struct xb_walk walk;
	int error = 0;

	*source = (struct xb_entry){.kind = XB_HOST4, .length = 32};
	for (size_t i = 0; !error && i < count && verdict != XB_PROBE_PASS; i++) {
		source->hi = (uint64_t)addresses[i] << 32;
		error = xb_testrun(&view->anchor, source, &verdict);
	}
	if (error || verdict == XB_PROBE_PASS || !view->txn)
		return error ? error : verdict == XB_PROBE_PASS;
	error = xb_walk_begin(&walk, view->txn, &XB_WALK_LISTED);
	if (error)
		return error;
	error = xb_walk_next(&walk);
	xb_walk_end(&walk);
	if (error <= 0 || !xb_entry_is_ipv4(&walk.entry))
		return error < 0 ? error : 0;
	source->hi = walk.entry.hi;
	error = xb_testrun(&view->anchor, source, &verdict);
	return error ? error : verdict == XB_PROBE_PASS;
}

/* What becomes of a query for the name. */
static int ask_name(const struct view *view, const struct asked *asked, enum xb_verdict *verdict,
		    const char **why)
{
	uint16_t port = view->txn ? view->txn->meta.ports.dns[0] : 0;
	struct xb_entry source;
	int found = view->anchored ? find_source(view, &source) : 1, error = 0;

	*verdict = XB_PROBE_NONE;
	if (found < 0)
		return found;
	if (!found) {
		*verdict = XB_PROBE_DROP;
		*why = "no source was found that gets through, and the source decides first";
		return 0;
	}
	if (view->anchored)
		error = xb_testrun_name(&view->anchor, &source, port ? port : XB_DNS_PORT,
					&asked->entry, verdict);
	return error ? error : name_reason(view, asked, *verdict, why);
}

static int ask_source(const struct view *view, const struct asked *asked, enum xb_verdict *verdict,
		      const char **why)
{
	int error = view->anchored ? xb_testrun(&view->anchor, &asked->entry, verdict) : 0;

	*why = source_reason(view, asked, *verdict);
	return error;
}

/* Of what the kernel does: the name in JSON, and the words. */
static const struct {
	const char *name, *words;
} verdicts[] = {
	[XB_PROBE_NONE] = {"none", "passes"},
	[XB_PROBE_PASS] = {"pass", "passes"},
	[XB_PROBE_DROP] = {"drop", "is dropped"},
	[XB_PROBE_REFUSED] = {"refused", "is answered REFUSED"},
	[XB_PROBE_NXDOMAIN] = {"nxdomain", "is answered NXDOMAIN"},
	[XB_PROBE_TRUNCATED] = {"truncate", "is answered truncated"},
	[XB_PROBE_ANSWERED] = {"answer", "is answered"},
};

/* What the kernel does with a single address, or a query for a domain. */
static int tell_verdict(const struct view *view, const struct asked *asked, json_t *answer)
{
	const struct xb_entry *entry = &asked->entry;
	enum xb_verdict verdict = XB_PROBE_NONE;
	char text[XB_ENTRY_TEXT];
	const char *why;
	int error;

	if (!xb_entry_is_name(entry) && entry->length != xb_entry_full_length(entry))
		return 0;
	error = xb_entry_is_name(entry) ? ask_name(view, asked, &verdict, &why)
					: ask_source(view, asked, &verdict, &why);
	if (error)
		return error;
	if (answer) {
		json_object_set_new(answer, "kernel", json_string(verdicts[verdict].name));
		json_object_set_new(answer, "reason", json_string(why));
	} else if (!view->cli->quiet) {
		printf("%s %s now: %s\n", xb_entry_format(entry, text), verdicts[verdict].words,
		       why);
	}
	return 0;
}

static int answer_one(const struct view *view, const struct xb_entry *entry, bool *found)
{
	json_t *answer = view->cli->json ? json_object() : NULL;
	json_t *by = answer ? json_array() : NULL, *by_allow = answer ? json_array() : NULL;
	struct xb_entry allow = xb_entry_allow(entry);
	struct asked asked = {.entry = *entry};
	bool says = !answer && !view->cli->quiet;
	char text[XB_ENTRY_TEXT];
	int error = view->allow ? 0 : covering(view, entry, by, &asked.listed);

	xb_entry_format(entry, text);
	if (!error && !asked.listed && says && !view->allow)
		printf("%s is not listed\n", text);
	if (!error && !asked.listed && !view->allow)
		error = look_for_expired(view, entry, answer, "expired", &asked.expired);
	if (!error)
		error = covering(view, &allow, by_allow, &asked.allowed);
	if (!error && !asked.allowed && says && view->allow)
		printf("%s is not allowed\n", text);
	if (!error && !asked.allowed)
		error = look_for_expired(view, &allow, answer, "allow_expired",
					 &asked.allow_expired);
	if (answer) {
		json_object_set_new(answer, "entry", json_string(text));
		if (!view->allow) {
			json_object_set_new(answer, "listed", json_boolean(asked.listed));
			json_object_set(answer, "by", by);
		}
		json_object_set_new(answer, "allowed", json_boolean(asked.allowed));
		json_object_set(answer, "allowed_by", by_allow);
		json_array_append(view->answers, answer);
	}
	if (!error && !view->allow)
		error = tell_verdict(view, &asked, answer);
	json_decref(by);
	json_decref(by_allow);
	json_decref(answer);
	*found = view->allow ? asked.allowed : asked.listed;
	return error;
}

static int open_view(struct view *view)
{
	int error = xb_store_open(view->cli->paths.state, XB_STORE_READ, &view->store);

	if (!error)
		error = xb_store_read(view->store, &view->txn);
	if (!error)
		error = xb_expiry_overlook(view->txn, view->now, &view->expired);
	if (error && error != -ENOENT)
		return error;
	error = xb_anchor_open(view->cli->paths.pins, &view->anchor);
	view->anchored = !error;
	return error == -ENOENT ? 0 : error;
}

int show_test(struct cli *cli, int argc, char **argv, bool allow)
{
	struct view view = {.cli = cli, .allow = allow, .now = (uint32_t)time(NULL)};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry asked;
	bool absent = false;
	int error, code;

	if (cli_option(cli, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	if (optind == argc)
		return cli_usage(cli, "%stest needs at least one entry", allow ? "allow " : "");
	for (int i = optind; i < argc; i++)
		if (xb_entry_parse(argv[i], strlen(argv[i]), form, &asked, NULL))
			return cli_fail();
	view.answers = json_array();
	error = open_view(&view);
	for (int i = optind; !error && i < argc; i++) {
		bool found = false;

		error = xb_entry_parse(argv[i], strlen(argv[i]), form, &asked, NULL);
		if (!error)
			error = answer_one(&view, &asked, &found);
		absent |= !found;
	}
	xb_txn_abort(view.txn);
	xb_store_close(view.store);
	if (view.anchored)
		xb_anchor_close(&view.anchor);
	if (error)
		code = cli_fail();
	else if (cli->json)
		code = cli_json(cli, json_pack("{s:O}", "entries", view.answers));
	else
		code = cli_done(EXIT_DONE);
	json_decref(view.answers);
	return code ? code : absent ? EXIT_ABSENT : EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	return show_test(cli, argc, argv, false);
}

const struct verb verb_test = {
	.name = "test",
	.summary = "show whether entries are listed, and by what",
	.operands = {{.name = "ENTRY..."}},
	.run = run,
	.examples = {"test 192.0.2.7", "test www.example.com"},
};

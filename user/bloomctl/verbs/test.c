/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl test: what, if anything, has this address, prefix or domain blocked, and what the kernel
 * would do with it now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attach/anchor.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "bloomctl/holding.h"
#include "bloomctl/ontrial.h"
#include "engine/known.h"
#include "filter/generation.h"
#include "filter/inforce.h"
#include "filter/testrun.h"
#include "model/policy.h"
#include "store/covers.h"
#include "store/expiry.h"
#include "store/rulings.h"
#include "store/walk.h"

/* What all the answers are taken from. */
struct view {
	const struct cli *cli;
	struct xb_store *store;
	struct xb_txn *txn; /* NULL: there is no store */
	struct xb_anchor anchor;
	struct ontrial ontrial;
	bool anchored, allow;
	const struct xb_service *to; /* that packets go to; NULL: all packets */
	char to_text[XB_SCOPE_TEXT];
	uint32_t now;	  /* what is listed is told as of */
	uint64_t expired; /* memberships that are not swept yet */
	json_t *answers;
};

/* Tells of the lists that decide so about a name, each by its own most specific entry. kind:
 * XB_NAME or XB_EXCEPT_NAME; by: NULL to print. */
static int rule_on(const struct view *view, const struct xb_entry *asked, enum xb_kind kind,
		   json_t *by, bool *found)
{
	struct xb_rulings rulings;
	int more = 0;

	*found = false;
	xb_rulings_begin_query(asked, &rulings);
	while (view->txn && (more = xb_rulings_next(view->txn, &rulings)) > 0) {
		const struct xb_ruling *ruling = &rulings.at;

		if (ruling->entry.kind != kind)
			continue;
		*found = true;
		if (by)
			json_array_append_new(by,
					      display_entry_json(view->txn, &ruling->entry,
								 ruling->members, ruling->list));
		else if (!view->cli->quiet)
			display_entry(view->txn, "", &ruling->entry, ruling->members, ruling->list);
	}
	xb_rulings_end(&rulings);
	return more;
}

/* Every entry of one side that covers the one asked for, itself included. by: NULL to print;
 * holding: NULL for a side without scopes. */
static int covering(const struct view *view, const struct xb_entry *asked, json_t *by,
		    struct holding *holding, bool *found)
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
		if (holding)
			holding_add(holding, view->txn, members, view->to);
		if (by)
			json_array_append_new(by, display_entry_json(view->txn, &covers.entry,
								     members, XB_ANY_LIST));
		else if (!view->cli->quiet)
			display_entry(view->txn, before, &covers.entry, members, XB_ANY_LIST);
	}
	return more;
}

/* What is known of an entry when the kernel is asked. */
struct asked {
	struct xb_entry entry;
	bool listed, allowed;
	bool excepted;		     /* a name, by some list */
	struct holding holding;	     /* of a source that is listed */
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
	xb_time_format(member.expires, when);
	if (answer)
		json_object_set_new(answer, key, json_string(when));
	else if (!view->cli->quiet)
		printf("%s%s expired %s\n",
		       xb_entry_is_allow(entry) && !view->allow ? "allow " : "",
		       xb_entry_format(&covers.entry, text), when);
	return 0;
}

/* The same of a name that some list would list if nothing had expired. */
static int look_for_expired_name(const struct view *view, const struct xb_entry *entry,
				 json_t *answer, bool *expired)
{
	struct xb_membership member;
	struct xb_rulings rulings;
	char text[XB_ENTRY_TEXT], when[32];
	bool found = false;
	int more;

	if (!view->txn || !view->expired)
		return 0;
	view->txn->as_of = 0;
	xb_rulings_begin_query(entry, &rulings);
	while (!found && (more = xb_rulings_next(view->txn, &rulings)) > 0)
		found = rulings.at.entry.kind == XB_NAME &&
			xb_members_have(rulings.at.members, rulings.at.list, &member) &&
			member.expires && member.expires <= view->now;
	view->txn->as_of = view->now;
	*expired = found;
	if (found) {
		xb_time_format(member.expires, when);
		if (answer)
			json_object_set_new(answer, "expired", json_string(when));
		else if (!view->cli->quiet)
			printf("%s expired %s\n", xb_entry_format(&rulings.at.entry, text), when);
	}
	xb_rulings_end(&rulings);
	return more < 0 ? more : 0;
}

static uint32_t policy_of(const struct view *view)
{
	if (view->ontrial.left)
		return view->ontrial.policy;
	return view->txn ? view->txn->meta.policy : XB_POLICY_ENFORCE;
}

/* Whether the policy admits known sources; with a store. */
static bool admits_known(const struct view *view)
{
	const struct xb_request *ontrial = &view->ontrial.trial.request;

	if (view->ontrial.left && ontrial->kind == XB_REQUEST_POLICY)
		return ontrial->policy.known;
	return view->txn->meta.admits_known;
}

#define WHY	(XB_SCOPE_TEXT + 64)
#define EXPIRED "expired, and enforced until `bloomctl expire` or another command that writes"
#define OVER	"over a limit"

/* Of what is not listed. */
static const char *unlisted_reason(const struct view *view, enum xb_testrun_verdict verdict)
{
	if (verdict == XB_TESTRUN_PASS)
		return "not listed";
	if (view->txn && view->txn->meta.unconfirmed)
		return "not listed, but the filter takes it for listed, and looks no hit up "
		       "(`bloomctl rotate --confirm` ends that)";
	return "not listed, but the filter in force has it still; `bloomctl up` brings that up to "
	       "date";
}

/* Whether it is listed for what is asked about. */
static bool is_listed(const struct view *view, const struct asked *asked)
{
	return view->to ? holding_is(&asked->holding) : asked->listed;
}

/* Of a source that is listed, by lists that hold for other services only. */
static const char *other_reason(const struct asked *asked, char room[WHY])
{
	char scope[XB_SCOPE_TEXT];

	snprintf(room, WHY, "listed, but for %s only", holding_others(&asked->holding, scope));
	return room;
}

/* Who is only counted is not admitted. */
static const char *allow_only_reason(const struct asked *asked, char room[WHY])
{
	if (asked->holding.drops)
		return "listed, and the policy is allow-only";
	if (asked->allowed)
		return "allowed";
	if (!asked->listed)
		return "not listed, and the policy is allow-only";
	if (asked->holding.counts)
		return "listed, but the verdict is count, and the policy is allow-only";
	other_reason(asked, room);
	return strcat(room, ", and the policy is allow-only");
}

static const char *listed_reason(const struct view *view, const struct asked *asked, char room[WHY])
{
	const struct holding *holding = &asked->holding;

	if (asked->allowed)
		return "allowed";
	if (holding->drops)
		return policy_of(view) == XB_POLICY_MONITOR ? "the policy is monitor" : "listed";
	return holding->counts ? "listed, and the verdict is count" : other_reason(asked, room);
}

static const char *source_reason(const struct view *view, const struct asked *asked,
				 enum xb_testrun_verdict verdict, char room[WHY])
{
	uint32_t policy = policy_of(view);

	if (verdict == XB_TESTRUN_NONE)
		return "nothing is enforced";
	if (verdict == XB_TESTRUN_PASS && asked->holding.drops && !asked->allowed &&
	    asked->allow_expired)
		return EXPIRED;
	if (verdict == XB_TESTRUN_DROP && !asked->listed && asked->expired &&
	    policy != XB_POLICY_ALLOW_ONLY)
		return EXPIRED;
	if (policy == XB_POLICY_ALLOW_ONLY)
		return allow_only_reason(asked, room);
	return asked->listed ? listed_reason(view, asked, room) : unlisted_reason(view, verdict);
}

/* Whether an exception that has expired is still in force. */
static int is_excepted_still(const struct view *view, const struct asked *asked, bool *still)
{
	uint32_t verdict;
	int error;

	*still = false;
	if (!view->expired || !asked->listed)
		return 0;
	view->txn->as_of = 0;
	error = xb_query_verdict(view->txn, &asked->entry, &verdict);
	view->txn->as_of = view->now;
	*still = !error && verdict == XB_DOMAIN_VERDICTS;
	return error;
}

static int name_reason(const struct view *view, const struct asked *asked,
		       enum xb_testrun_verdict now, const char **why)
{
	uint32_t verdict = XB_DOMAIN_COUNT;
	bool still = false;
	int error = asked->listed ? xb_query_verdict(view->txn, &asked->entry, &verdict) : 0;

	if (!error)
		error = is_excepted_still(view, asked, &still);
	/* NOLINTBEGIN(clang-analyzer-core.NullDereference): listed is only what a store has */
	*why = now == XB_TESTRUN_NONE					    ? "nothing is enforced"
	       : !asked->listed && asked->expired && now != XB_TESTRUN_PASS ? EXPIRED
	       : asked->listed && !asked->allowed && (asked->allow_expired || still) &&
			       now == XB_TESTRUN_PASS
		       ? EXPIRED
	       : !asked->listed && asked->excepted && now == XB_TESTRUN_PASS ? "excepted"
	       : !asked->listed			      ? unlisted_reason(view, now)
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
 * (169.254.0.0/16 is allowed automatically, and never limited), else one that is listed, for
 * allow-only. 0: none was found.
 */
static int find_source(const struct view *view, uint16_t port, struct xb_entry *source)
{
	const struct xb_service to = {XB_SERVICE_UDP, port, port};
	static const uint32_t addresses[] = {0xc0000201, 0xc6336401, 0xcb007101, 0xa9fe0001};
	const size_t count = sizeof(addresses) / sizeof(addresses[0]);
	enum xb_testrun_verdict verdict = XB_TESTRUN_NONE;
	struct xb_walk walk;
	int error = 0;

	*source = (struct xb_entry){.kind = XB_HOST4, .length = 32};
	for (size_t i = 0; !error && i < count && verdict != XB_TESTRUN_PASS; i++) {
		source->hi = (uint64_t)addresses[i] << 32;
		error = xb_testrun(&view->anchor, source, &to, &verdict);
	}
	if (error || verdict == XB_TESTRUN_PASS || !view->txn)
		return error ? error : verdict == XB_TESTRUN_PASS;
	error = xb_walk_begin(&walk, view->txn, &XB_WALK_LISTED);
	if (error)
		return error;
	error = xb_walk_next(&walk);
	xb_walk_end(&walk);
	if (error <= 0 || !xb_entry_is_ipv4(&walk.entry))
		return error < 0 ? error : 0;
	source->hi = walk.entry.hi;
	error = xb_testrun(&view->anchor, source, &to, &verdict);
	return error ? error : verdict == XB_TESTRUN_PASS;
}

/* Of all questions so far, those that were over a limit. */
static int count_limited(const struct view *view, uint64_t *packets)
{
	struct xb_counts counts;
	int error = xb_anchor_counts(&view->anchor, 0, &counts);

	*packets = error ? 0
			 : counts.reason[XB_LIMITED].packets +
				   counts.reason[XB_OVER_TRUNCATED].packets;
	return error;
}

/* The question counts for limits as any query does. *limited: it was over one. */
static int ask_for_name(const struct view *view, const struct xb_entry *source, uint16_t port,
			const struct xb_entry *name, enum xb_testrun_verdict *verdict,
			bool *limited)
{
	uint64_t before, after = 0;
	int error = count_limited(view, &before);

	if (!error)
		error = xb_testrun_name(&view->anchor, source, port, name, verdict);
	if (!error)
		error = count_limited(view, &after);
	*limited = !error && after != before;
	return error;
}

/* What becomes of a query for the name. */
static int ask_name(const struct view *view, const struct asked *asked,
		    enum xb_testrun_verdict *verdict, const char **why)
{
	uint16_t stored = view->txn ? view->txn->meta.ports.dns[0] : 0;
	uint16_t port = stored ? stored : XB_DNS_PORT;
	struct xb_entry source;
	int found = view->anchored ? find_source(view, port, &source) : 1, error = 0;
	bool limited = false;

	*verdict = XB_TESTRUN_NONE;
	if (found < 0)
		return found;
	if (!found) {
		*verdict = XB_TESTRUN_DROP;
		*why = "no source was found that gets through, and the source decides first";
		return 0;
	}
	if (view->anchored)
		error = ask_for_name(view, &source, port, &asked->entry, verdict, &limited);
	if (limited)
		*why = OVER;
	return error || limited ? error : name_reason(view, asked, *verdict, why);
}

/* Whether a source passes only because it is known. The filter looks for that last. */
static int admitted_known(const struct view *view, const struct asked *asked,
			  enum xb_testrun_verdict verdict, bool *known)
{
	const struct xb_entry *entry = &asked->entry;
	int error;

	*known = false;
	if (verdict != XB_TESTRUN_PASS || policy_of(view) != XB_POLICY_ALLOW_ONLY ||
	    !admits_known(view) || asked->holding.drops || asked->allowed)
		return 0;
	error = xb_known_test(&view->cli->paths, xb_entry_is_ipv4(entry), entry->hi, known);
	return error == -ENOENT ? 0 : error;
}

/* The question counts for limits as any packet of the source does. */
static int ask_filter(const struct view *view, const struct xb_entry *source,
		      enum xb_testrun_verdict *verdict, bool *limited)
{
	uint64_t before = 0, after = 0;
	int error;

	*limited = false;
	if (!view->anchored)
		return 0;
	error = count_limited(view, &before);
	if (!error)
		error = xb_testrun(&view->anchor, source, view->to, verdict);
	if (!error)
		error = count_limited(view, &after);
	*limited = !error && *verdict == XB_TESTRUN_DROP && after != before;
	return error;
}

static int ask_source(const struct view *view, const struct asked *asked,
		      enum xb_testrun_verdict *verdict, char room[WHY], const char **why)
{
	bool known = false, limited;
	int error = ask_filter(view, &asked->entry, verdict, &limited);

	if (!error)
		error = admitted_known(view, asked, *verdict, &known);
	*why = limited ? OVER : known ? "known" : source_reason(view, asked, *verdict, room);
	return error;
}

/* Of what the kernel does: the name in JSON, and the words. */
static const struct {
	const char *name, *words;
} verdicts[] = {
	[XB_TESTRUN_NONE] = {"none", "passes"},
	[XB_TESTRUN_PASS] = {"pass", "passes"},
	[XB_TESTRUN_DROP] = {"drop", "is dropped"},
	[XB_TESTRUN_REFUSED] = {"refused", "is answered REFUSED"},
	[XB_TESTRUN_NXDOMAIN] = {"nxdomain", "is answered NXDOMAIN"},
	[XB_TESTRUN_TRUNCATED] = {"truncate", "is answered truncated"},
	[XB_TESTRUN_ANSWERED] = {"answer", "is answered"},
};

/* What the kernel does with a single address, or a query for a domain. */
static int tell_verdict(const struct view *view, const struct asked *asked, json_t *answer)
{
	const struct xb_entry *entry = &asked->entry;
	enum xb_testrun_verdict verdict = XB_TESTRUN_NONE;
	char text[XB_ENTRY_TEXT], room[WHY];
	const char *why = "";
	int error;

	if (!xb_entry_is_name(entry) && entry->length != xb_entry_full_length(entry))
		return 0;
	error = xb_entry_is_name(entry) ? ask_name(view, asked, &verdict, &why)
					: ask_source(view, asked, &verdict, room, &why);
	if (error)
		return error;
	if (answer) {
		json_object_set_new(answer, "kernel", json_string(verdicts[verdict].name));
		json_object_set_new(answer, "reason", json_string(why));
	} else if (!view->cli->quiet) {
		printf("%s%s%s %s now: %s\n", xb_entry_format(entry, text), view->to ? " to " : "",
		       view->to_text, verdicts[verdict].words, why);
	}
	return 0;
}

static int answer_one(const struct view *view, const struct xb_entry *entry, bool *found)
{
	json_t *answer = view->cli->json ? json_object() : NULL;
	json_t *by = answer ? json_array() : NULL, *by_allow = answer ? json_array() : NULL;
	json_t *excepted_by = answer ? json_array() : NULL;
	bool name = xb_entry_is_name(entry);
	struct xb_entry allow = xb_entry_allow(entry);
	struct asked asked = {.entry = *entry};
	bool says = !answer && !view->cli->quiet;
	char text[XB_ENTRY_TEXT];
	int error = view->allow ? 0
		    : name	? rule_on(view, entry, XB_NAME, by, &asked.listed)
				: covering(view, entry, by, &asked.holding, &asked.listed);

	xb_entry_format(entry, text);
	if (!error && !is_listed(view, &asked) && says && !view->allow)
		printf("%s is not listed%s%s\n", text, view->to ? " for " : "", view->to_text);
	if (!error && name && !view->allow)
		error = rule_on(view, entry, XB_EXCEPT_NAME, excepted_by, &asked.excepted);
	if (!error && !asked.listed && !view->allow)
		error = name ? look_for_expired_name(view, entry, answer, &asked.expired)
			     : look_for_expired(view, entry, answer, "expired", &asked.expired);
	if (!error)
		error = covering(view, &allow, by_allow, NULL, &asked.allowed);
	if (!error && !asked.allowed && says && view->allow)
		printf("%s is not allowed\n", text);
	if (!error && !asked.allowed)
		error = look_for_expired(view, &allow, answer, "allow_expired",
					 &asked.allow_expired);
	if (answer) {
		json_object_set_new(answer, "entry", json_string(text));
		if (view->to)
			json_object_set_new(answer, "to", json_string(view->to_text));
		if (!view->allow) {
			json_object_set_new(answer, "listed",
					    json_boolean(is_listed(view, &asked)));
			json_object_set(answer, "by", by);
			if (name)
				json_object_set(answer, "excepted_by", excepted_by);
		}
		json_object_set_new(answer, "allowed", json_boolean(asked.allowed));
		json_object_set(answer, "allowed_by", by_allow);
		json_array_append(view->answers, answer);
	}
	if (!error && !view->allow)
		error = tell_verdict(view, &asked, answer);
	json_decref(by);
	json_decref(by_allow);
	json_decref(excepted_by);
	json_decref(answer);
	*found = view->allow ? asked.allowed : is_listed(view, &asked);
	return error;
}

static int open_view(struct view *view)
{
	int error = xb_store_begin_reading(view->cli->paths.state, &view->store, &view->txn);

	if (!error)
		error = xb_expiry_overlook(view->txn, view->now, &view->expired);
	if (error && error != -ENOENT)
		return error;
	error = xb_anchor_open(view->cli->paths.pins, &view->anchor);
	view->anchored = !error;
	if (!error)
		error = xb_generation_refuse_newer(&view->anchor);
	if (!error)
		error = ontrial_open(view->cli, view->txn, &view->ontrial);
	return error == -ENOENT ? 0 : error;
}

static const struct option_spec options[] = {
	{"to", "SERVICE", 't', .help = "ask about packets to tcp/PORT, udp/PORT or icmp"},
	{0},
};

/* `allow test` has no options: what is allowed is allowed for every service. */
static bool take_options(struct view *view, int argc, char **argv, struct xb_service *to)
{
	const struct option_spec *table = view->allow ? NULL : options;
	int option;

	while ((option = cli_option(view->cli, argc, argv, table)) == 't') {
		if (xb_service_parse(optarg, to))
			return cli_fail(), false;
		view->to = to;
		xb_scope_format(&(struct xb_scope){1, {*to}}, view->to_text);
	}
	return option == -1;
}

static int check_entry(const struct view *view, const char *text)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry asked = {0};
	int error = xb_entry_parse(text, strlen(text), form, &asked, NULL);

	if (!error && view->to && xb_entry_is_name(&asked))
		error = xb_input_error("--to is for addresses: queries for %s are judged at the "
				       "ports that `bloomctl ports` shows",
				       XB_SHOW(text));
	return error;
}

int display_test(struct cli *cli, int argc, char **argv, bool allow)
{
	struct view view = {.cli = cli, .allow = allow, .now = (uint32_t)time(NULL)};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry asked;
	struct xb_service to;
	bool absent = false;
	int error, code;

	if (!take_options(&view, argc, argv, &to))
		return EXIT_USAGE;
	if (optind == argc)
		return cli_usage(cli, "%stest needs at least one entry", allow ? "allow " : "");
	for (int i = optind; i < argc; i++)
		if (check_entry(&view, argv[i]))
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
	ontrial_close(&view.ontrial);
	xb_store_end_reading(view.store, view.txn);
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
	return display_test(cli, argc, argv, false);
}

const struct verb verb_test = {
	.name = "test",
	.summary = "show whether entries are listed, and by what",
	.operands = {{.name = "ENTRY..."}},
	.options = options,
	.run = run,
	.little = true,
	.examples = {"test 192.0.2.7 www.example.com", "test 192.0.2.7 --to tcp/25"},
};

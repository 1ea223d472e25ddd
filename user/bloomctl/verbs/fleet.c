/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl fleet: what bloomd knows of the fleet, and what an operator may ask of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "bloomctl/fleetverify.h"
#include "engine/control.h"
#include "engine/fleethosts.h"
#include "engine/fleetstate.h"
#include "store/outbox.h"
#include "store/store.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void print_lists(const json_t *state)
{
	const json_t *list;
	size_t i;

	json_array_foreach(json_object_get(state, "lists"), i, list)
	{
		printf("  list     %s, %lld entries%s%s%s\n", text_of(list, "name"),
		       number_of(list, "entries"),
		       json_is_true(json_object_get(list, "publish")) ? ", published" : "",
		       json_is_true(json_object_get(list, "follow")) ? ", followed" : "",
		       json_is_true(json_object_get(list, "joined")) ? ""
								     : ", not synchronized yet");
	}
}

/* Its clock is so much ahead of the server's, or behind it. */
static const char *skew_text(double skew, char text[64])
{
	snprintf(text, 64, "%.0f s %s", fabs(skew), skew > 0 ? "ahead" : "behind");
	return text;
}

static void print_host(const json_t *state, const json_t *own, const json_t *host)
{
	unsigned int judged = xb_fleet_judge(state, own, host);
	long long behind = xb_fleet_behind(state, host);
	char when[32], skew[64];

	printf("  host     %s (%.8s), position %lld", text_of(host, "name"), text_of(host, "host"),
	       number_of(host, "position"));
	if (behind)
		printf(" (%lld behind)", behind);
	printf(", %lld to publish, reported %s", number_of(host, "outbox"),
	       xb_time_format((uint64_t)real_of(host, "time"), when));
	if (host == own)
		printf(", this host");
	if (judged & XB_HOST_SKEWED)
		printf(", clock %s", skew_text(real_of(host, "skew"), skew));
	if (judged & XB_HOST_SILENT)
		printf(", SILENT");
	if (judged & XB_HOST_DIFFERS)
		printf(", DIFFERS");
	putchar('\n');
}

static void print_hosts(const json_t *state)
{
	const json_t *own = xb_fleet_own_report(state), *host;
	size_t i;

	json_array_foreach(json_object_get(state, "hosts"), i, host) print_host(state, own, host);
}

static void print_state(const json_t *state)
{
	const char *message = text_of(state, "message");
	double skew = real_of(state, "skew");
	char when[32], text[64];

	printf("%s: %s%s%s\n", text_of(state, "name"), text_of(state, "state"),
	       *message ? ": " : "", message);
	printf("  since    %s\n", xb_time_format((uint64_t)real_of(state, "since"), when));
	printf("  log      position %lld of %lld, term %lld\n", number_of(state, "position"),
	       number_of(state, "log_end"), number_of(state, "term"));
	printf("  outbox   %lld to publish\n", number_of(state, "outbox"));
	if (fabs(skew) > XB_FLEET_SKEW)
		printf("  clock    %s%s the server's\n", skew_text(skew, text),
		       skew > 0 ? " of" : "");
	if (number_of(state, "files"))
		printf("  files    of a snapshot made %s\n",
		       xb_time_format((uint64_t)number_of(state, "files"), when));
	print_lists(state);
	print_hosts(state);
}

/* What waits now: bloomd writes its state a moment after what it tells of. */
static void count_outbox(const struct cli *cli, json_t *state)
{
	uint64_t waiting, first, last;
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (!error)
		error = xb_outbox_span(txn, &waiting, &first, &last);
	xb_store_end_reading(store, txn);
	if (!error)
		json_object_set_new(state, "outbox", json_integer((json_int_t)waiting));
	else if (error != -ENOENT)
		xb_warning("the outbox is shown as bloomd last saw it: %s", xb_error_message());
}

static int show(const struct cli *cli)
{
	int error, code = EXIT_DONE;
	json_t *state = xb_fleet_state_read(&cli->paths, &error);

	if (!state && error != -ENOENT)
		return cli_fail();
	if (state)
		count_outbox(cli, state);
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "fleet", state ?: json_null()));
	if (state)
		print_state(state);
	else if (!cli->quiet)
		puts("no fleet");
	json_decref(state);
	return cli_done(code);
}

static int ask(const struct cli *cli, const char *request)
{
	char line[XB_CONTROL_LINE], reply[XB_CONTROL_LINE];

	snprintf(line, sizeof(line), "fleet %s", request);
	if (xb_control_ask(&cli->paths, line, reply))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:s}", "fleet", reply));
	if (!cli->quiet)
		printf("bloomd synchronizes with the fleet %s\n", reply);
	return cli_done(EXIT_DONE);
}

static const struct option_spec options[] = {
	{"limit", "NUMBER", 'l', .help = "with verify: show up to NUMBER differences (default 20)"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	uint64_t limit = FLEETVERIFY_LIMIT;
	bool limited = false;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option != 'l' ||
		    !cli_number(cli, "--limit", optarg, 0, XB_FLEET_DIFFERENCES, &limit))
			return EXIT_USAGE;
		limited = true;
	}
	argc -= optind;
	argv += optind;
	if (argc > 1)
		return cli_usage(cli, "fleet takes nothing, or one of status, accept, resync and "
				      "verify");
	if (argc && !strcmp(argv[0], "verify"))
		return fleetverify(cli, limit);
	if (limited)
		return cli_usage(cli, "--limit goes with verify");
	if (!argc || !strcmp(argv[0], "status"))
		return show(cli);
	if (strcmp(argv[0], "accept") != 0 && strcmp(argv[0], "resync") != 0)
		return cli_usage(cli, "unknown subcommand '%s': status, accept, resync or verify",
				 XB_SHOW(argv[0]));
	return ask(cli, argv[0]);
}

const struct verb verb_fleet = {
	.name = "fleet",
	.summary = "show the fleet with which lists are shared, synchronize with it, or compare",
	.operands = {{"status|accept|resync|verify", .optional = true}},
	.options = options,
	.run = run,
	.examples = {"fleet", "fleet verify"},
};

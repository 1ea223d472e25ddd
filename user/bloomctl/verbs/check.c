/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl check: a line for each thing that is not as it should be, for cron and for programs that
 * watch machines. Changes nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomctl/advice.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "engine/feedstate.h"
#include "engine/health.h"
#include "model/policy.h"
#include "store/store.h"

#define ANY_POLICY UINT32_MAX /* one that drops something */

struct wish {
	uint32_t policy;
	bool nagios;
};

static void check_policy(const struct wish *wish, struct xb_health *health)
{
	if (wish->policy == ANY_POLICY && health->policy == XB_POLICY_MONITOR)
		xb_problem_add(&health->problems, XB_PROBLEM_OTHER_POLICY, NULL,
			       "the policy is monitor: nothing is dropped");
	else if (wish->policy != ANY_POLICY && health->policy != wish->policy)
		xb_problem_add(&health->problems, XB_PROBLEM_OTHER_POLICY, NULL,
			       "the policy is %s, and not %s", xb_policy_name(health->policy),
			       xb_policy_name(wish->policy));
}

#define LATE 3600 /* s */

/* A feed that has brought nothing for long is a problem of its own: this one shows within the hour
 * that nobody fetches. One that cannot be read has been told already. */
static void check_fetching(const struct cli *cli, struct xb_problems *problems)
{
	int64_t now = (int64_t)time(NULL);
	struct xb_feed_state *feeds;
	char when[XB_TIME_TEXT];
	size_t count;

	if (xb_feed_states_read(cli->paths.state, &feeds, &count))
		xb_error_clear();
	for (size_t i = 0; i < count; i++)
		if (feeds[i].next_fetch && now - feeds[i].next_fetch > LATE)
			xb_problem_add(problems, XB_PROBLEM_FEED_LATE, NULL,
				       "feed %s was to be fetched at %s, and has not been",
				       feeds[i].name,
				       xb_time_format((uint64_t)feeds[i].next_fetch, when));
	free(feeds);
}

#define LEAST_ROOM (16 << 20) /* bytes */

/* A large change writes about half of the store anew before what was there becomes free. */
static void check_room(const struct cli *cli, struct xb_problems *problems)
{
	char path[XB_PATH_MAX];
	struct statvfs disk;
	uint64_t room, least;
	struct stat file;

	if (snprintf(path, sizeof(path), "%s/" XB_STORE_FILE, cli->paths.state) >=
		    (int)sizeof(path) ||
	    stat(path, &file) || statvfs(cli->paths.state, &disk))
		return;
	room = (uint64_t)disk.f_bavail * disk.f_frsize;
	least = (uint64_t)file.st_size / 2;
	least = least < LEAST_ROOM ? LEAST_ROOM : least;
	if (room < least)
		xb_problem_add(problems, XB_PROBLEM_NO_ROOM, NULL,
			       "the file system of %s has %" PRIu64
			       " MiB left, and the store may need %" PRIu64,
			       cli->paths.state, room >> 20, least >> 20);
}

static size_t count_filtered(const struct xb_interfaces *all)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += all->item[i].now.ifindex && all->item[i].hold == XB_HOLD_OURS;
	return count;
}

static void look(const struct cli *cli, const struct wish *wish, struct xb_health *health)
{
	if (!health->store.wanted_count && !count_filtered(&health->interfaces))
		xb_problem_add(&health->problems, XB_PROBLEM_NOTHING_WANTED, NULL,
			       "no interface is attached, so nothing is filtered");
	check_policy(wish, health);
	check_fetching(cli, &health->problems);
	check_room(cli, &health->problems);
}

static uint64_t count_listed(const struct xb_totals *totals)
{
	return totals->host4 + totals->prefix4 + totals->net6 + totals->names;
}

/* What is listed is dropped all the same, or nobody can see whether it is. */
static bool is_warning(enum xb_problem_kind kind)
{
	switch (kind) {
	case XB_PROBLEM_UNWANTED:
	case XB_PROBLEM_LEFT:
	case XB_PROBLEM_STALE:
	case XB_PROBLEM_RENAMED:
	case XB_PROBLEM_NAME_UNUSABLE:
	case XB_PROBLEM_CHANGE_LASTS:
	case XB_PROBLEM_KNOWN_FULL:
	case XB_PROBLEM_OVERDUE:
	case XB_PROBLEM_FEED_STALE:
	case XB_PROBLEM_FEED_LATE:
	case XB_PROBLEM_STILL_LEARNING:
	case XB_PROBLEM_NOT_LISTING:
	case XB_PROBLEM_NO_ROOM:
		return true;
	default:
		return false;
	}
}

/* The exit codes of plugins: Monitoring Plugins Development Guidelines, "Plugin Return Codes". */
enum nagios { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };

static enum nagios worst(const struct xb_problems *problems)
{
	enum nagios found = NAGIOS_OK;

	for (size_t i = 0; i < problems->count; i++) {
		enum xb_problem_kind kind = problems->item[i].kind;

		if (kind == XB_PROBLEM_HIDDEN)
			return NAGIOS_UNKNOWN;
		if (!is_warning(kind))
			found = NAGIOS_CRITICAL;
		else if (found == NAGIOS_OK)
			found = NAGIOS_WARNING;
	}
	return found;
}

/* What stands behind '|' would be figures. */
static void print_plainly(const char *text)
{
	for (; *text; text++)
		putchar(*text == '|' ? '/' : *text);
}

static const char *const nagios_words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

static int answer_nagios(const struct xb_health *health)
{
	const struct xb_problems *problems = &health->problems;
	enum nagios found = worst(problems);
	char text[ADVICE_TEXT];

	printf("XDP-BLOOM %s: ", nagios_words[found]);
	if (problems->count)
		print_plainly(advice_for(&problems->item[0], text));
	else
		printf("policy %s, all is in force", xb_policy_name(health->policy));
	printf(" | interfaces=%zu listed=%" PRIu64 "\n", count_filtered(&health->interfaces),
	       count_listed(&health->store.meta.totals));
	for (size_t i = 1; i < problems->count; i++) {
		print_plainly(advice_for(&problems->item[i], text));
		putchar('\n');
	}
	return cli_done((int)found);
}

/* In words of the plugin: nobody reads its standard error. */
static int fail_nagios(void)
{
	printf("XDP-BLOOM %s: ", nagios_words[NAGIOS_UNKNOWN]);
	print_plainly(xb_error_message());
	putchar('\n');
	return cli_done(NAGIOS_UNKNOWN);
}

static int answer_json(const struct cli *cli, const struct xb_problems *problems)
{
	return cli_json(cli, json_pack("{s:b,s:o,s:o}", "ok", !problems->count, "problems",
				       display_problems_json(problems), "problem_details",
				       display_problem_details_json(problems)));
}

static int answer(const struct cli *cli, const struct xb_problems *problems)
{
	char text[ADVICE_TEXT];
	int code;

	for (size_t i = 0; i < problems->count && !cli->json; i++)
		puts(advice_for(&problems->item[i], text));
	code = cli->json ? answer_json(cli, problems) : cli_done(EXIT_DONE);
	return code || !problems->count ? code : EXIT_SYSTEM;
}

static int check(const struct cli *cli, const struct wish *wish)
{
	static struct xb_health health; /* too large for a stack */
	int error = xb_health_look(&cli->paths, &health), code;

	if (!error)
		look(cli, wish, &health);
	if (!error && health.problems.lost)
		error = xb_out_of_memory();
	if (wish->nagios)
		code = error ? fail_nagios() : answer_nagios(&health);
	else
		code = error ? cli_fail() : answer(cli, &health.problems);
	xb_health_free(&health);
	return code;
}

static const struct option_spec options[] = {
	{.name = "policy",
	 .value = "enforce|monitor|allow-only",
	 .id = 'p',
	 .help = "the one that should be in force; else any but monitor"},
	{.name = "nagios", .id = 'n', .help = "answer as a plugin of Nagios or Icinga"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct wish wish = {.policy = ANY_POLICY};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option == 'n')
			wish.nagios = true;
		else if (option != 'p')
			return EXIT_USAGE;
		else if (xb_policy_parse(optarg, &wish.policy))
			return cli_fail();
	if (optind < argc)
		return cli_usage(cli, "check takes no arguments; `bloomctl test` looks entries up");
	if (wish.nagios && cli->json)
		return cli_usage(cli, "--nagios and -j are two forms of one answer");
	return check(cli, &wish);
}

const struct verb verb_check = {
	.name = "check",
	.summary = "say only what is not as it should be; exit 0 if nothing is",
	.options = options,
	.run = run,
	.little = true,
	.examples = {"check", "check --nagios --policy enforce"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl feeds: what bloomd last found of each feed, and a request to fetch now. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "engine/control.h"
#include "engine/feedstate.h"
#include "store/expiry.h"
#include "store/store.h"

static int answer_json(const struct cli *cli, const struct xb_feed_state *feeds, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, xb_feed_state_json(&feeds[i]));
	return cli_json(cli, json_pack("{s:o}", "feeds", array));
}

static const char *when(int64_t seconds, char out[32])
{
	return seconds ? xb_time_format((uint64_t)seconds, out) : "never";
}

static void print_one(const struct xb_feed_state *feed)
{
	char last[32], success[32], next[32], content[32];

	printf("%s: %s", feed->name, *feed->outcome ? feed->outcome : "not fetched yet");
	if (*feed->guard)
		printf(" by %s", feed->guard);
	if (feed->failures)
		printf(", %" PRId64 " failure%s in a row", feed->failures,
		       feed->failures == 1 ? "" : "s");
	printf("\n  list     %s, %" PRId64 " entries%s%s\n", feed->list, feed->entries,
	       *feed->format ? ", read as " : "", feed->format);
	if (feed->left_out)
		printf("  left out %" PRId64 " line%s (first: %s)\n", feed->left_out,
		       feed->left_out == 1 ? "" : "s", feed->first_left_out);
	if (*feed->notes)
		printf("  notes    %s\n", feed->notes);
	if (feed->bogons)
		printf("  bogons   %" PRId64 " left out\n", feed->bogons);
	printf("  fetched  %s, last good %s\n", when(feed->last_attempt, last),
	       when(feed->last_success, success));
	if (feed->content_time)
		printf("  content  %s\n", when(feed->content_time, content));
	printf("  next     %s\n", when(feed->next_fetch, next));
	if (*feed->message)
		printf("  why      %s\n", feed->message);
}

/* What the list has now, whatever the last import has put there. */
static void count_entries(struct xb_txn *txn, struct xb_feed_state *feed)
{
	const struct xb_list *list = xb_list_find(txn, feed->list);

	feed->entries = list ? (int64_t)list->members : 0;
}

static int count_all(const struct cli *cli, struct xb_feed_state *feeds, size_t count)
{
	struct xb_store *store;
	struct xb_txn *txn;
	uint64_t expired;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (error && error != -ENOENT)
		return error;
	if (!error)
		error = xb_expiry_overlook(txn, (uint32_t)time(NULL), &expired);
	for (size_t i = 0; i < count; i++) {
		feeds[i].entries = 0;
		if (!error)
			count_entries(txn, &feeds[i]);
	}
	xb_store_end_reading(store, txn);
	return error == -ENOENT ? 0 : error;
}

static int show(const struct cli *cli)
{
	struct xb_feed_state *feeds;
	size_t count;
	int error = xb_feed_states_read(cli->paths.state, &feeds, &count), code;

	if (!error && count)
		error = count_all(cli, feeds, count);
	if (error) {
		free(feeds);
		return cli_fail();
	}
	if (cli->json) {
		code = answer_json(cli, feeds, count);
	} else {
		for (size_t i = 0; i < count; i++)
			print_one(&feeds[i]);
		if (!count && !cli->quiet)
			puts("no feeds");
		code = cli_done(EXIT_DONE);
	}
	free(feeds);
	return code;
}

static int update(const struct cli *cli, const char *name)
{
	char line[XB_CONTROL_LINE], reply[XB_CONTROL_LINE];
	unsigned long count;

	if (name && !xb_feed_name_ok(name))
		return cli_usage(cli, "invalid feed name '%s': letters, digits, . _ - only",
				 XB_SHOW(name));
	snprintf(line, sizeof(line), "feeds update%s%s", name ? " " : "", name ?: "");
	if (xb_control_ask(&cli->paths, line, reply))
		return cli_fail();
	count = strtoul(reply, NULL, 10);
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "fetching", (json_int_t)count));
	if (!cli->quiet)
		printf("bloomd fetches %lu feed%s\n", count, count == 1 ? "" : "s");
	return cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	if (cli_option(cli, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	if (!argc)
		return show(cli);
	if (strcmp(argv[0], "update") != 0 || argc > 2)
		return cli_usage(cli, "feeds takes nothing, or update and perhaps one feed");
	return update(cli, argc > 1 ? argv[1] : NULL);
}

const struct verb verb_feeds = {
	.group = "with bloomd",
	.name = "feeds",
	.summary = "show the feeds that bloomd fetches, or have them fetched now",
	.operands = {{"update", .optional = true},
		     {"FEED", .optional = true, .offers = OFFER_FEEDS}},
	.run = run,
	.examples = {"feeds", "feeds update drop"},
};

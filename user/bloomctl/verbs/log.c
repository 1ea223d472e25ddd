/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl log: who changed what, and when. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "store/journal.h"
#include "store/store.h"

struct request {
	const struct cli *cli;
	const char *list; /* NULL: all */
	uint64_t since;	  /* seconds since 1970 */
	uint64_t last;	  /* of the newest, at most; 0: all */
	bool begun;
};

/* "alice", or "1000" if nobody is called so; behind it who called the command by sudo. */
static void describe_who(const struct xb_author *author, char text[96])
{
	const struct passwd *user = getpwuid(author->uid);
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, author->uid);
	snprintf(text, 96, "%.40s%s%s%s", user ? user->pw_name : number, *author->who ? " (" : "",
		 author->who, *author->who ? ")" : "");
	xb_utf8_clean(text);
}

/* With the distance from UTC, as the time zone of whoever asks has it. */
static const char *local_time(uint32_t when, char text[32])
{
	time_t seconds = when;
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(text, 32, "%FT%T%z", &local))
		text[0] = '\0';
	return text;
}

static json_t *lists_json(const struct xb_journal_record *record)
{
	json_t *lists = json_array();

	for (uint32_t i = 0; i < record->lists; i++) {
		const struct xb_journal_list *list = &record->list[i];
		json_t *one =
			json_pack("{s:I,s:I,s:I,s:I}", "added", (json_int_t)list->came, "removed",
				  (json_int_t)list->went, "expired", (json_int_t)list->expired,
				  "renewed", (json_int_t)list->renewed);

		if (*list->name)
			json_object_set_new(one, "name", json_string(list->name));
		json_array_append_new(lists, one);
	}
	return lists;
}

static json_t *record_json(const struct xb_journal_record *record)
{
	char when[XB_TIME_TEXT], local[32], who[96];
	json_t *one;

	describe_who(&record->author, who);
	one = json_pack("{s:I,s:s,s:s,s:s,s:I,s:s,s:o}", "number", (json_int_t)record->number,
			"time", xb_time_format(record->when, when), "local_time",
			local_time(record->when, local), "user", who, "uid",
			(json_int_t)record->author.uid, "change", record->author.what, "lists",
			lists_json(record));
	if (*record->author.who)
		json_object_set_new(one, "sudo_user", json_string(record->author.who));
	return one;
}

static void print_count(const char *sign, uint32_t count)
{
	if (count)
		printf(" %s%" PRIu32, sign, count);
}

static void print_record(const struct xb_journal_record *record)
{
	char when[XB_TIME_TEXT], local[32], who[96];
	const char *zone;

	describe_who(&record->author, who);
	printf("%s", xb_time_format(record->when, when));
	zone = strpbrk(local_time(record->when, local) + 8, "+-");
	if (zone && strcmp(zone + 1, "0000") != 0)
		printf(" (%s)", local);
	printf("  %s  `%s`", who, record->author.what);
	for (uint32_t i = 0; i < record->lists; i++) {
		const struct xb_journal_list *list = &record->list[i];

		printf("%s%s", i ? "," : "  ", i ? " " : "");
		printf("%s", *list->name ? list->name : "others");
		print_count("+", list->came);
		print_count("-", list->went);
		print_count("expired ", list->expired);
		print_count("~", list->renewed);
	}
	putchar('\n');
}

static bool is_wanted(const struct request *request, const struct xb_journal_record *record)
{
	if (record->when < request->since)
		return false;
	for (uint32_t i = 0; request->list && i < record->lists; i++)
		if (!strcmp(record->list[i].name, request->list) || !*record->list[i].name)
			return true;
	return !request->list;
}

/* Nobody reads on: the walk ends. */
#define UNREAD 1

static int tell(const struct xb_journal_record *record, void *context)
{
	struct request *request = context;

	if (!is_wanted(request, record))
		return 0;
	if (request->cli->json)
		cli_array_item(request->cli, record_json(record), !request->begun);
	else
		print_record(record);
	request->begun = true;
	return ferror(stdout) ? UNREAD : 0;
}

static int tell_all(struct request *request, struct xb_txn *txn)
{
	uint64_t last = 0;
	int error = txn ? xb_journal_last(txn, &last) : 0;

	if (error)
		return error;
	if (request->cli->json)
		cli_array_begin(request->cli, "records");
	if (!last)
		return 0;
	error = xb_journal_visit(
		txn, request->last && request->last < last ? last - request->last + 1 : 1, tell,
		request);
	return error == UNREAD ? 0 : error;
}

static const struct option_spec options[] = {
	{"since", "SECONDS", 's', .help = "only what is no older: 1h, 7d"},
	{"last", "NUMBER", 'n', .help = "only so many of the newest records"},
	{"list", "NAME", 'l', .help = "only what changed this list", .offers = OFFER_LISTS},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct request request = {.cli = cli};
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	uint64_t now = (uint64_t)time(NULL), seconds;
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 's' && cli_seconds(cli, "--since", optarg, 1, now, &seconds))
			request.since = now - seconds;
		else if (option == 'l' && cli_list_name(cli, optarg))
			request.list = optarg;
		else if (option != 'n' ||
			 !cli_number(cli, "--last", optarg, 1, XB_JOURNAL_MOST, &request.last))
			return EXIT_USAGE;
	}
	if (optind != argc)
		return cli_usage(cli, "log takes no operands");
	error = xb_store_begin_reading(cli->paths.state, &store, &txn);
	if (!error || error == -ENOENT)
		error = tell_all(&request, txn);
	xb_store_end_reading(store, txn);
	if (error)
		return cli_fail();
	return cli->json ? cli_array_end(cli) : cli_done(EXIT_DONE);
}

const struct verb verb_log = {
	.name = "log",
	.summary = "show who changed what, when, and how many entries came and went",
	.options = options,
	.run = run,
	.little = true,
	.examples = {"log --since 1d", "log --list mine --last 20"},
};

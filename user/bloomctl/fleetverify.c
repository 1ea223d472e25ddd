/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomd does the work, and is asked how far it is; the outcome is in a file, since it may be long.
 */
#include "bloomctl/fleetverify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/control.h"
#include "engine/fleetstate.h"

#define WAIT_NS 100000000 /* between two questions */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool is(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* --- asking bloomd --- */

static void show_progress(const char *words)
{
	unsigned long long done, total;

	if (sscanf(words, "busy %llu %llu", &done, &total) != 2)
		return;
	/* Equal ones would mean that it is over. */
	if (total)
		xb_progress("verifying", done < total ? done : total - 1, total);
}

/* 0: it is done; or an error with its message. */
static int wait_for(const struct cli *cli, unsigned long token)
{
	const struct timespec wait = {.tv_nsec = WAIT_NS};
	char line[XB_CONTROL_LINE], reply[XB_CONTROL_LINE];
	int error;

	for (;;) {
		snprintf(line, sizeof(line), "fleet verifying %lu", token);
		error = xb_control_ask(&cli->paths, line, reply);
		if (error || !strcmp(reply, "done"))
			break;
		if (!strncmp(reply, "failed ", 7)) {
			error = xb_system_error(0, "cannot verify: %s", reply + 7);
			break;
		}
		show_progress(reply);
		nanosleep(&wait, NULL);
	}
	xb_progress("verifying", 1, 1);
	return error;
}

/* A new reference; NULL with a message. */
static json_t *verify(const struct cli *cli, uint64_t limit)
{
	char line[XB_CONTROL_LINE], reply[XB_CONTROL_LINE];
	unsigned long token;
	json_t *verified;
	int error;

	snprintf(line, sizeof(line), "fleet verify %" PRIu64, limit);
	if (xb_control_ask(&cli->paths, line, reply))
		return NULL;
	token = strtoul(reply, NULL, 10);
	if (wait_for(cli, token))
		return NULL;
	verified = xb_fleet_verified_read(&cli->paths, &error);
	if (verified && number_of(verified, "token") == (long long)token)
		return verified;
	if (verified || error == -ENOENT)
		xb_system_error(0, "what bloomd has found is not there any more; try again");
	json_decref(verified);
	return NULL;
}

/* --- the answer --- */

static void print_side(const char *where, const json_t *side)
{
	long long expires = number_of(side, "expires");
	const char *comment = text_of(side, "comment");
	char when[32];

	printf("%s%s%s", where, expires ? "expires " : "never expires",
	       expires ? xb_time_format((uint64_t)expires, when) : "");
	if (*comment)
		printf(" comment \"%s\"", comment);
}

static void print_difference(const json_t *difference)
{
	const json_t *here = json_object_get(difference, "here");
	const json_t *there = json_object_get(difference, "snapshot");

	printf("%-8s %s list %s", text_of(difference, "kind"), text_of(difference, "entry"),
	       text_of(difference, "list"));
	if (here)
		print_side(there ? ", here: " : " ", here);
	if (there)
		print_side(here ? ", in the snapshot: " : " ", there);
	putchar('\n');
}

static long long differences_of(const json_t *list)
{
	return number_of(list, "missing") + number_of(list, "extra") + number_of(list, "changed");
}

static void print_list(const json_t *list)
{
	long long of_log = number_of(list, "log"), of_outbox = number_of(list, "outbox");

	printf("list %s: %lld entries here, %lld in the snapshot; ", text_of(list, "name"),
	       number_of(list, "here"), number_of(list, "snapshot"));
	if (differences_of(list))
		printf("%lld missing here, %lld extra here, %lld changed",
		       number_of(list, "missing"), number_of(list, "extra"),
		       number_of(list, "changed"));
	else
		printf("no difference");
	if (of_log)
		printf("; %lld changed by the log since", of_log);
	if (of_outbox)
		printf("; %lld to publish", of_outbox);
	putchar('\n');
}

static void print_notes(const json_t *verified)
{
	if (is(verified, "behind"))
		puts("This host has not taken the snapshot yet: what differs may come with it.");
	if (is(verified, "partial"))
		puts("This host does not know all changes of the log since the snapshot: they may "
		     "explain differences.");
}

static void print_summary(const json_t *verified)
{
	const json_t *snapshot = json_object_get(verified, "snapshot"), *list;
	const json_t *loaded = json_object_get(verified, "loaded");
	char when[32];
	size_t i;

	json_array_foreach(json_object_get(verified, "lists"), i, list) print_list(list);
	print_notes(verified);
	printf("Compared at position %lld with the snapshot of %s, position %lld; %s loaded\n",
	       number_of(verified, "position"),
	       xb_time_format((uint64_t)json_number_value(json_object_get(snapshot, "time")), when),
	       number_of(snapshot, "position"), cli_bytes((uint64_t)number_of(loaded, "bytes")));
}

static void print(const struct cli *cli, const json_t *verified)
{
	const json_t *difference;
	size_t i;

	json_array_foreach(json_object_get(verified, "differences"), i, difference)
		print_difference(difference);
	if (number_of(verified, "more"))
		printf("... and %lld more\n", number_of(verified, "more"));
	if (!cli->quiet)
		print_summary(verified);
}

static bool has_differences(const json_t *verified)
{
	const json_t *list;
	size_t i;

	json_array_foreach(json_object_get(verified, "lists"), i,
			   list) if (differences_of(list)) return true;
	return false;
}

int fleetverify(const struct cli *cli, uint64_t limit)
{
	json_t *verified = verify(cli, limit);
	int code;

	if (!verified)
		return cli_fail();
	code = has_differences(verified) ? EXIT_ABSENT : EXIT_DONE;
	if (cli->json) {
		int printed;

		json_object_del(verified, "token");
		printed = cli_json(cli, verified);
		return printed ? printed : code;
	}
	print(cli, verified);
	json_decref(verified);
	return cli_done(code);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl top: a live view of what is dropped where, and of what is not as it should be. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "bloomctl/top/picture.h"
#include "bloomctl/top/topjson.h"

#define DEFAULT_INTERVAL 2 /* seconds */
#define INTERVAL_MAX	 3600
#define FIRST_INTERVAL	 (XB_SECOND / 2) /* nobody likes to wait for the first picture */

struct session {
	const struct cli *cli;
	uint64_t interval; /* ns */
	struct meter *meter;
	struct meter_view *view; /* that is shown */
};

static volatile sig_atomic_t interrupted;

/* For library notices, which must not be written across the picture. */
static struct picture picture = {.alone = TABLES};

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* A wait in progress must end, so no SA_RESTART. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = interrupt}, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static void keep_notice(enum xb_notice_kind kind, const char *message)
{
	(void)kind;
	xb_utf8_show(message, strlen(message), picture.notice, sizeof(picture.notice));
}

static void wait_until(struct session *session, uint64_t due)
{
	while (!interrupted && xb_clock() < due)
		meter_wait(session->meter);
}

static int answer_json(struct session *session)
{
	wait_until(session, xb_clock() + session->interval);
	if (meter_read(session->meter, session->view))
		return cli_fail();
	return cli_json(session->cli, top_json(session->view));
}

/* An error is shown with the last reading; perhaps it passes. */
static int read_again(struct session *session)
{
	struct meter_view *next = calloc(1, sizeof(*next));

	if (!next)
		return xb_out_of_memory();
	picture.trouble[0] = '\0';
	if (meter_read(session->meter, next))
		snprintf(picture.trouble, sizeof(picture.trouble), "%s", xb_error_message());
	if (picture.paused || *picture.trouble) {
		meter_free(next);
		free(next);
		return 0;
	}
	meter_free(session->view);
	free(session->view);
	session->view = next;
	return 0;
}

/* Returns whether to go on. */
static bool obey(int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case ' ':
	case 'p':
		picture.paused = !picture.paused;
		return true;
	case 's':
		picture.order = (picture.order + 1) % TABLE_ORDERS;
		return true;
	case '\t':
		picture.alone = (picture.alone + 1) % (TABLES + 1);
		return true;
	default:
		return true;
	}
}

static int look_on(struct session *session)
{
	uint64_t due = xb_clock() + FIRST_INTERVAL, now;
	int error = 0, key;

	while (!error && !interrupted && !cli_is_unread()) {
		bool changed = false;

		while ((key = screen_key()) != SCREEN_NO_KEY) {
			if (!obey(key))
				return 0;
			changed = true;
		}
		now = xb_clock();
		if (now >= due) {
			error = read_again(session);
			due = now + session->interval;
			changed = true;
		}
		if (changed && !error)
			error = picture_draw(&picture, session->view);
		meter_wait(session->meter);
	}
	return error;
}

static int answer_live(struct session *session)
{
	int error = screen_open();

	if (error)
		return cli_fail();
	xb_notice_sink(keep_notice);
	libbpf_set_print(NULL);
	error = look_on(session);
	screen_close();
	return error ? cli_fail() : EXIT_DONE;
}

static int answer(struct session *session)
{
	int code;

	session->view = calloc(1, sizeof(*session->view));
	if (!session->view) {
		xb_out_of_memory();
		return cli_fail();
	}
	if (meter_open(&session->cli->paths, &session->meter))
		code = cli_fail();
	else
		code = session->cli->json ? answer_json(session) : answer_live(session);
	meter_close(session->meter);
	meter_free(session->view);
	free(session->view);
	return code;
}

static const struct option_spec options[] = {
	{"interval", "SECONDS", 'i', .help = "between two readings (default 2)"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct session session = {.cli = cli};
	uint64_t seconds = DEFAULT_INTERVAL;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'i' ||
		    !cli_seconds(cli, "--interval", optarg, 1, INTERVAL_MAX, &seconds))
			return EXIT_USAGE;
	if (optind != argc)
		return cli_usage(cli, "top takes no arguments");
	if (!cli->json && !isatty(STDOUT_FILENO)) {
		xb_input_error("top needs a terminal; -j prints one reading without one");
		return cli_fail();
	}
	session.interval = seconds * XB_SECOND;
	catch_signals();
	return answer(&session);
}

const struct verb verb_top = {
	.name = "top",
	.summary = "show live who is dropped, where and why",
	.options = options,
	.run = run,
	.examples = {"top", "-j top --interval 10"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomd: options, configuration, then the loop. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/holder.h"
#include "base/mapfault.h"
#include "base/program.h"
#include "bloomd/configfile.h"
#include "bloomd/base/log.h"
#include "bloomd/run.h"

enum { EXIT_USAGE = 2, EXIT_SYSTEM = 3 };

static const char usage[] =
	"Usage: bloomd [--config FILE] [--state DIR] [--pin DIR] [--run DIR] [--check]\n"
	"\n"
	"Takes out what has expired, fetches feeds, and serves programs and metrics.\n"
	"\n"
	"  --config FILE  read this file, and FILE.d/*.conf (default: " CONFIG_FILE ")\n"
	"  --state DIR    where the store is (default: " XB_STATE_DIRECTORY ")\n"
	"  --pin DIR      where the filter is pinned (default: " XB_PIN_DIRECTORY ")\n"
	"  --run DIR      where counters and sockets lie (default: " XB_RUN_DIRECTORY ")\n"
	"  --check        check the configuration, and do nothing else\n"
	"  --help         show this text\n"
	"  --version      show the version\n";

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'}, {"state", required_argument, NULL, 's'},
	{"pin", required_argument, NULL, 'p'},	  {"run", required_argument, NULL, 'r'},
	{"check", no_argument, NULL, 'k'},	  {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},	  {0},
};

struct request {
	struct settings settings;
	bool check;
};

/* What a message of the library says of keys of the configuration. */
static const char *advice_words(enum xb_advice advice)
{
	switch (advice) {
	case XB_ADVICE_FORMAT:
		return " with the key format";
	case XB_ADVICE_COLUMN:
		return " with the key column";
	case XB_ADVICE_JSON:
		return " (key json-path)";
	case XB_ADVICE_SKIP_BAD:
		return " (the key skip-bad leaves out up to a number of wrong lines)";
	case XB_ADVICE_NAME_FORMAT:
		return "; the key format names the right one";
	case XB_ADVICE_NAME_ZONE:
		return "; the key zone names it";
	default:
		return "";
	}
}

static int fail(void)
{
	log_error(NULL);
	return xb_error_class() == XB_ERROR_INPUT ? EXIT_USAGE : EXIT_SYSTEM;
}

/* Returns the code to exit with. */
static int say(const char *text)
{
	if (fputs(text, stdout) >= 0 && !fflush(stdout))
		return EXIT_SUCCESS;
	xb_system_error(errno, "cannot write the answer");
	return fail();
}

/* -1 to go on, or the code to exit with. */
static int parse(struct request *request, int argc, char **argv)
{
	struct settings *settings = &request->settings;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:hV", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			settings->file = optarg;
			settings->needed = true;
			break;
		case 's':
			settings->paths.state = optarg;
			break;
		case 'p':
			settings->paths.pins = optarg;
			break;
		case 'r':
			settings->paths.run = optarg;
			break;
		case 'k':
			request->check = true;
			break;
		case 'h':
			return say(usage);
		case 'V':
			return say("xdp-bloom " XB_VERSION "\n");
		case ':':
			xb_input_error("option '%s' needs a value", argv[optind - 1]);
			return fail();
		default:
			xb_input_error("unknown option '%s'; bloomd --help lists them",
				       argv[optind - 1]);
			return fail();
		}
	}
	if (optind == argc)
		return -1;
	xb_input_error("bloomd takes no operand: '%s'", argv[optind]);
	return fail();
}

static int check(const struct settings *settings)
{
	struct config *config;
	int error = config_read(settings->file, settings->needed, &config);

	config_free(config);
	return error ? fail() : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct request request = {
		.settings = {.paths = {XB_STATE_DIRECTORY, XB_PIN_DIRECTORY, XB_RUN_DIRECTORY},
			     .file = CONFIG_FILE}};
	int code;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	xb_program_set("bloomd", advice_words);
	log_begin();
	code = parse(&request, argc, argv);
	if (code >= 0)
		return code;
	if (request.check)
		return check(&request.settings);
	xb_mapfault_watch(EXIT_SYSTEM);
	xb_holder_sign(argc, argv);
	return run(&request.settings) ? fail() : EXIT_SUCCESS;
}

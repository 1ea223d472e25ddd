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
#include "base/program.h"
#include "bloomd/configfile.h"
#include "bloomd/base/helper.h"
#include "bloomd/base/log.h"
#include "bloomd/run.h"
#include "cli/crash.h"
#include "cli/suggest.h"
#include "cli/usage.h"

enum { EXIT_USAGE = 2, EXIT_SYSTEM = 3 };

static const struct option_spec options[] = {
	{"config", "FILE", 'c',
	 .help = "read this file, and FILE.d/*.conf (default: " CONFIG_FILE ")"},
	{"state", "DIR", 's', .help = "where the store is (default: " XB_STATE_DIRECTORY ")"},
	{"pin", "DIR", 'p', .help = "where the filter is pinned (default: " XB_PIN_DIRECTORY ")"},
	{"run", "DIR", 'r',
	 .help = "where counters and sockets lie (default: " XB_RUN_DIRECTORY ")"},
	{"check", NULL, 'k', .help = "check the configuration, and do nothing else"},
	{"help", NULL, 'h', .help = "show this text", .letter = 'h', .instead = true},
	{"version", NULL, 'V', .help = "show the version", .letter = 'V', .instead = true},
	{0},
};

/* It has no commands: all that the usage line says of it are its options. */
static const struct verb whole = {.name = "bloomd", .options = options};

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
	case XB_ADVICE_SET:
		return " with the key set";
	case XB_ADVICE_PLACES:
		return " (keys country, not-country, continent, asn, mmdb-path)";
	case XB_ADVICE_BELOW:
		return "; below = yes takes all names below them, too";
	case XB_ADVICE_SKIP_BAD:
		return " (skip-bad = NUMBER leaves out up to NUMBER wrong lines)";
	case XB_ADVICE_NAME_FORMAT:
		return "; the key format names the right one";
	case XB_ADVICE_NAME_ZONE:
		return "; the key zone names it";
	case XB_ADVICE_SCOPE:
		return "; a list of those sources with the key scope can";
	case XB_ADVICE_ALLOW_ONLY:
		return "; `bloomctl policy allow-only` can";
	default:
		return "";
	}
}

static int fail(void)
{
	log_error(NULL);
	return xb_error_class() == XB_ERROR_INPUT ? EXIT_USAGE : EXIT_SYSTEM;
}

/* Of what was printed; returns the code to exit with. */
static int said(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_SUCCESS;
	xb_system_error(errno, "cannot write the answer");
	return fail();
}

static int say_help(void)
{
	char usage[USAGE_BYTES];

	printf("Usage: %s\n\n"
	       "Takes out what has expired, fetches feeds, and serves programs and metrics.\n\n",
	       usage_line(&whole, usage));
	usage_print_options(options);
	return said();
}

static int say_version(void)
{
	puts("xdp-bloom " XB_VERSION);
	return said();
}

/* -1 to go on, or the code to exit with. */
static int parse(struct request *request, int argc, char **argv)
{
	struct settings *settings = &request->settings;
	char letters[OPTION_LETTERS], hint[SUGGEST_BYTES];
	int option;

	opterr = 0;
	option_letters(options, "+:", letters);
	while ((option = option_next(options, letters, argc, argv)) != -1) {
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
			return say_help();
		case 'V':
			return say_version();
		case OPTION_CLASHES:
			xb_input_error("%s", option_clash());
			return fail();
		case ':':
			xb_input_error("option '%s' needs a value", argv[optind - 1]);
			return fail();
		default:
			xb_input_error("unknown option '%s'%s; bloomd --help lists them",
				       option_wrong(argv),
				       suggest_option(options, option_wrong(argv), hint));
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

	if (!error && (config->feeds || config->crowdsec))
		error = helper_check(HELPER_FETCH);
	if (!error && config->fleet)
		error = helper_check(HELPER_REDIS);
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
	crash_watch(EXIT_SYSTEM);
	xb_holder_sign(argc, argv);
	return run(&request.settings) ? fail() : EXIT_SUCCESS;
}

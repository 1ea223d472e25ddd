/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers and complaints, the same for all verbs. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "cli/suggest.h"
#include "cli/usage.h"

static struct {
	const char *file;
	unsigned long line;
} place;

void cli_at(const char *file, unsigned long line)
{
	place.file = file;
	place.line = line;
}

static bool errors_as_json;

void cli_errors_as_json(void)
{
	errors_as_json = true;
}

static void print_object(const char *name, json_t *value)
{
	json_t *object = json_pack("{s:i,s:o}", "schema", 1, name, value);

	json_dumpf(object, stderr, JSON_COMPACT | JSON_PRESERVE_ORDER);
	fputc('\n', stderr);
	json_decref(object);
}

void cli_notice(enum xb_notice_kind kind, const char *message)
{
	if (errors_as_json)
		print_object(kind == XB_WARNING ? "warning" : "note", json_string(message));
	else
		fprintf(stderr, "%s: %s%s\n", xb_program(), kind == XB_WARNING ? "warning: " : "",
			message);
}

static void print_error(bool input)
{
	json_t *error = json_pack("{s:s,s:s}", "class", input ? "input" : "system", "message",
				  xb_error_message());

	if (place.file) {
		json_object_set_new(error, "file", json_string(place.file));
		json_object_set_new(error, "line", json_integer((json_int_t)place.line));
	}
	print_object("error", error);
}

int cli_fail(void)
{
	int code = exitcode_of_error();

	if (place.file)
		xb_error_prefix(0, "%s:%lu", place.file, place.line);
	if (errors_as_json)
		print_error(code == EXIT_USAGE);
	else
		fprintf(stderr, "%s: %s\n", xb_program(), xb_error_message());
	return code;
}

int cli_usage(const struct cli *cli, const char *format, ...)
{
	char text[512], usage[USAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	xb_input_error("%s; usage: %s %s", text, xb_program(), usage_line(cli->verb, usage));
	return cli_fail();
}

static void wrong_option(const struct cli *cli, const struct option_spec *options,
			 const char *option)
{
	const struct verb *verb = cli->verb;
	char hint[SUGGEST_BYTES];

	if (option_is_valued(options, option) || option_is_valued(cli->program->options, option)) {
		xb_input_error("option '%.*s' takes no value", (int)strcspn(option, "="), option);
		cli_fail();
		return;
	}
	if (!*suggest_option(options, option, hint))
		suggest_option(cli->program->options, option, hint);
	xb_input_error("unknown option '%s'%s; %s help %s%s%s lists them", option, hint,
		       xb_program(), verb->above ?: "", verb->above ? " " : "", verb->name);
	cli_fail();
}

int cli_clash(void)
{
	xb_input_error("%s", option_clash());
	return cli_fail();
}

int cli_option(const struct cli *cli, int argc, char **argv, const struct option_spec *options)
{
	char letters[OPTION_LETTERS];
	int option;

	opterr = 0;
	option = option_next(options, option_letters(options, ":", letters), argc, argv);
	if (option == ':')
		cli_usage(cli, "option '%s' needs a value", argv[optind - 1]);
	else if (option == '?')
		wrong_option(cli, options, option_wrong(argv));
	else if (option == OPTION_CLASHES)
		cli_clash();
	return option == ':' || option == OPTION_CLASHES ? '?' : option;
}

bool cli_is_unread(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

int cli_done(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE || cli_is_unread())
		return EXIT_UNREAD;
	xb_system_error(errno, "cannot write the answer");
	return cli_fail();
}

static size_t json_flags(const struct cli *cli)
{
	return cli->pretty ? JSON_INDENT(2) : JSON_COMPACT;
}

int cli_json(const struct cli *cli, json_t *object)
{
	json_t *whole = json_pack("{s:i}", "schema", 1);

	if (!whole || !object || json_object_update(whole, object)) {
		xb_out_of_memory();
		return cli_fail();
	}
	json_dumpf(whole, stdout, json_flags(cli) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(whole);
	json_decref(object);
	return cli_done(EXIT_DONE);
}

void cli_array_begin(const struct cli *cli, const char *name)
{
	printf(cli->pretty ? "{\n  \"schema\": 1,\n  \"%s\": [" : "{\"schema\":1,\"%s\":[", name);
}

void cli_array_item(const struct cli *cli, json_t *item, bool first)
{
	fputs(first ? "" : ",", stdout);
	fputs(cli->pretty ? "\n    " : "", stdout);
	json_dumpf(item, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(item);
}

int cli_array_end(const struct cli *cli)
{
	puts(cli->pretty ? "\n  ]\n}" : "]}");
	return cli_done(EXIT_DONE);
}

bool cli_number(const struct cli *cli, const char *option, const char *text, uint64_t least,
		uint64_t most, uint64_t *number)
{
	if (xb_number_parse(text, least, most, number))
		return true;
	cli_usage(cli, "%s takes a whole number from %llu to %llu, not '%s'", option,
		  (unsigned long long)least, (unsigned long long)most, text);
	return false;
}

bool cli_seconds(const struct cli *cli, const char *option, const char *text, uint64_t least,
		 uint64_t most, uint64_t *seconds)
{
	if (xb_seconds_parse(text, least, most, seconds))
		return true;
	cli_usage(cli,
		  "%s takes a whole number of seconds, or one with a unit (90s, 15m, 1h, 30d, 2w), "
		  "from %llu to %llu seconds, not '%s'",
		  option, (unsigned long long)least, (unsigned long long)most, text);
	return false;
}

bool cli_size(const struct cli *cli, const char *option, const char *text, uint64_t least,
	      uint64_t most, uint64_t *bytes)
{
	if (xb_size_parse(text, least, most, bytes))
		return true;
	cli_usage(cli, "%s takes a size from %s to %s, such as 512M or 1.5G, not '%s'", option,
		  cli_bytes(least), cli_bytes(most), text);
	return false;
}

const char *cli_bytes(uint64_t bytes)
{
	static char buffers[8][32];
	static unsigned int next;
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	char *out = buffers[next++ % 8];
	double value = (double)bytes;
	unsigned int unit = 0;

	/* What one digit behind the point would show as 1024.0 is one of the next unit. */
	while (value >= (unit ? 1023.95 : 1024) && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(out, sizeof(buffers[0]), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return out;
}

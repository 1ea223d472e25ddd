/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program with verbs is made of, and what every verb has in hand: where the installation
 * lives and how to answer. */
#ifndef XB_CLI_H
#define XB_CLI_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/paths.h"
#include "cli/exitcode.h"
#include "cli/verb.h"

struct xb_wish;
struct xb_written;

struct cli_program {
	const struct verb *const *verbs;   /* all of them, ended by NULL */
	const struct option_spec *options; /* of every command: cli/everywhere.h, and its own */
	/* Takes one of its own options; false: it is none of them. *right becomes false if its
	 * value is wrong, for which a message was printed. NULL: it has none. */
	bool (*take)(struct cli *cli, int option, const char *value, bool *right);
	/* Prints the words for an offer, if it knows them; false: completion finds them. May be
	 * NULL. */
	bool (*offer)(enum offer offer);
	const char *closing; /* the end of the list of commands: what operands mean */
};

struct cli {
	const struct cli_program *program;
	struct xb_paths paths;
	bool json, pretty, quiet, verbose;
	const struct verb *verb;    /* what is being done, for messages */
	struct xb_wish *wish;	    /* of a command that can be tried */
	struct xb_written *written; /* what writes leave for the end of the command */
};

/* From now on an error is an object on stderr: {"schema":1,"error":{"class","message","file"?,
 * "line"?}}, its class "input" or "system". */
void cli_errors_as_json(void);

/* From now on errors come from this line of this file; NULL: from the command line. */
void cli_at(const char *file, unsigned long line);

/* Prints the recorded error; returns its exit code. */
int cli_fail(void);

/* Prints a note or a warning, as errors are printed. */
void cli_notice(enum xb_notice_kind kind, const char *message);

/* A usage error, with the verb's usage line; returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const struct cli *cli, const char *format, ...);

/* Prints that an option contradicts one before it; returns EXIT_USAGE. */
int cli_clash(void);

/* The id of the next option of a verb, -1 at the end; '?' after a wrong option, for which a
 * message was printed. */
int cli_option(const struct cli *cli, int argc, char **argv, const struct option_spec *options);

/* Prints the object with "schema": 1 in front and frees it; returns 0, or EXIT_SYSTEM when stdout
 * is broken. */
int cli_json(const struct cli *cli, json_t *object);

/* Arrays too long to be held: begin with the members of head, an array called name, items one by
 * one. */
void cli_array_begin(const struct cli *cli, const char *name);
void cli_array_item(const struct cli *cli, json_t *item, bool first);
int cli_array_end(const struct cli *cli);

/* Flushes stdout. Returns `code`, or EXIT_SYSTEM with a message if output was lost. If nobody
 * reads the output any more, the code of a program that ended by SIGPIPE, without a message. */
int cli_done(int code);

/* Whether nobody reads stdout any more, as when `head` has ended. */
bool cli_is_unread(void);

/* Reads a number option; a usage error otherwise (returns false). */
bool cli_number(const struct cli *cli, const char *option, const char *text, uint64_t least,
		uint64_t most, uint64_t *number);
/* Seconds, perhaps with a unit: 90s, 15m, 1h, 30d, 2w. */
bool cli_seconds(const struct cli *cli, const char *option, const char *text, uint64_t least,
		 uint64_t most, uint64_t *seconds);
/* Bytes, perhaps with a unit: 512K, 64M, 1.5G. */
bool cli_size(const struct cli *cli, const char *option, const char *text, uint64_t least,
	      uint64_t most, uint64_t *bytes);
/* "1.5 MiB" and the like, in one of a few static buffers. */
const char *cli_bytes(uint64_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command as its own file describes it. The parser, the usage line, help and completion are made
 * from this; scripts/synopses makes those of the man page from the usage lines. */
#ifndef XB_CLI_VERB_H
#define XB_CLI_VERB_H

#include "cli/options.h"

struct cli;

/* An operand: what stands behind the verb and is no option. */
struct verb_operand {
	const char *name;  /* "ENTRY...", "on|off" */
	bool optional;	   /* with all behind it */
	enum offer offers; /* nothing said: the words of the name */
};

struct verb {
	const char *group; /* the heading in front of it in the list of commands; NULL: none */
	const char *above; /* the command that this one is a command of; NULL: of the program */
	const char *name;
	const char *summary; /* NULL: that of the command above does */
	struct verb_operand operands[2];
	const struct option_spec *options;
	const struct verb *const *below; /* its commands, which get its argv */
	int (*run)(struct cli *cli, int argc,
		   char **argv); /* argv[0] is the verb; returns the exit code */
	/* Of one with --rollback: makes the request in cli->wish, and answers; returns the exit
	 * code */
	int (*make)(struct cli *cli);
	/* Unless it builds a filter, it needs little more memory than its operands take. */
	bool little;
	const char *examples[2]; /* without the name of the program */
};

#define VERB_OPERANDS 2

/* In a list that ends with NULL; NULL: none is called so. */
const struct verb *verb_find(const struct verb *const *verbs, const char *name);

/* The verb itself, or the one below it that argv[1] names. */
const struct verb *verb_named(const struct verb *verb, int argc, char **argv);

#endif

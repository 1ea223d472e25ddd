/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command, by name: the table of them is main.c's, those below a command are its own. */
#ifndef XB_CLI_VERB_H
#define XB_CLI_VERB_H

struct cli;

struct verb {
	const char *name;
	const char *usage;
	const char *summary;
	int (*run)(struct cli *cli, int argc,
		   char **argv); /* argv[0] is the verb; returns the exit code */
	const char *examples[2]; /* without "bloomctl" */
};

/* In a table that ends with a NULL name; NULL: none is called so. */
const struct verb *verb_find(const struct verb *table, const char *name);

#endif

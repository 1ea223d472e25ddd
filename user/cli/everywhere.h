/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that every command of every program takes, in front of it or behind: for the tables
 * of programs, which end with a NULL name. */
#ifndef XB_CLI_EVERYWHERE_H
#define XB_CLI_EVERYWHERE_H

#include "cli/options.h"

#define OPTION_JSON                                                                                \
	{                                                                                          \
		"json", NULL, 'j', .help = "answer in JSON", .letter = 'j'                         \
	}
#define OPTION_PRETTY                                                                              \
	{                                                                                          \
		"pretty", NULL, 'p', .help = "answer in readable JSON", .letter = 'p'              \
	}
#define OPTION_QUIET                                                                               \
	{                                                                                          \
		"quiet", NULL, 'q', .help = "print no notes and less text", .letter = 'q'          \
	}
/* text: what it shows. */
#define OPTION_VERBOSE(text)                                                                       \
	{                                                                                          \
		"verbose", NULL, 'v', .help = (text), .letter = 'v'                                \
	}
#define OPTION_HELP                                                                                \
	{                                                                                          \
		"help", NULL, 'h',                                                                 \
			.help = "list the commands; after a command, show how to use it",          \
			.letter = 'h', .instead = true                                             \
	}
#define OPTION_VERSION                                                                             \
	{                                                                                          \
		"version", NULL, 'V', .help = "print the version", .letter = 'V', .instead = true  \
	}

/* Ids of a program's own options without a letter begin here. */
#define OPTION_OWN 256

#endif

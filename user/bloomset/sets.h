/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verbs of set operations share: their options, and how they go about it. */
#ifndef XB_BLOOMSET_SETS_H
#define XB_BLOOMSET_SETS_H

#include "bloomset/reading.h"
#include "bloomset/rule.h"
#include "cli/cli.h"

/* How files are read. */
#define SETS_INPUT_OPTIONS READING_LINES_OPTION, READING_OPTIONS("format")

/* How much is taken for it, and what of it is told. */
#define SETS_WORK_OPTIONS                                                                          \
	{"memory", "SIZE", 'm',                                                                    \
	 .help = "use so much at most; the rest goes to files below TMPDIR"},                      \
	{                                                                                          \
		"plan", NULL, 'n', .help = "say what it would take, but do not do it"              \
	}

/* Where the result goes. */
#define SETS_OUTPUT_OPTIONS                                                                        \
	{"output",                                                                                 \
	 "FILE",                                                                                   \
	 'o',                                                                                      \
	 .help = "the result becomes this file when it is complete",                               \
	 .offers = OFFER_FILES,                                                                    \
	 .letter = 'o'},                                                                           \
	{                                                                                          \
		"count", NULL, 'c', .help = "print only how many there are"                        \
	}

struct sets {
	const struct option_spec *options;
	enum rule_kind kind;
	uint32_t files_least;
	bool counts; /* it always prints a number only */
};

/* Returns the exit code. */
int sets_run(struct cli *cli, int argc, char **argv, const struct sets *sets);

#endif

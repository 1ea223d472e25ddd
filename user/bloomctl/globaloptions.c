/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/globaloptions.h"

#include <stddef.h>

const struct option_spec global_options[] = {
	{"json", NULL, 'j', .help = "answer in JSON", .letter = 'j'},
	{"pretty", NULL, 'p', .help = "answer in readable JSON", .letter = 'p'},
	{"quiet", NULL, 'q', .help = "no notes, less text", .letter = 'q'},
	{"verbose", NULL, 'v', .help = "also what libbpf says, and lines of files not understood",
	 .letter = 'v'},
	{"state", "DIR", OPTION_STATE, .help = "where the list is", .offers = OFFER_DIRECTORIES},
	{"pin", "DIR", OPTION_PIN, .help = "where the kernel objects are pinned",
	 .offers = OFFER_DIRECTORIES},
	{"run", "DIR", OPTION_RUN, .help = "where the counters are", .offers = OFFER_DIRECTORIES},
	{"wait", "SECONDS", OPTION_WAIT,
	 .help = "how long to wait for other commands and trials; 60 if not given"},
	{"help", NULL, 'h', .help = "list the commands; behind one, show how it is used",
	 .letter = 'h', .instead = true},
	{"version", NULL, 'V', .help = "print the version", .letter = 'V', .instead = true},
	{0},
};

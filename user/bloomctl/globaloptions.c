/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/globaloptions.h"

#include <stddef.h>

const struct option_spec global_options[] = {
	{"json", NULL, 'j', .help = "answer in JSON", .letter = 'j'},
	{"pretty", NULL, 'p', .help = "answer in readable JSON", .letter = 'p'},
	{"quiet", NULL, 'q', .help = "print no notes and less text", .letter = 'q'},
	{"verbose", NULL, 'v',
	 .help = "show libbpf's messages, and lines of files that were not understood",
	 .letter = 'v'},
	{"state", "DIR", OPTION_STATE, .help = "directory of the store",
	 .offers = OFFER_DIRECTORIES},
	{"pin", "DIR", OPTION_PIN, .help = "directory of the pinned kernel objects",
	 .offers = OFFER_DIRECTORIES},
	{"run", "DIR", OPTION_RUN, .help = "directory of the counters behind the filter",
	 .offers = OFFER_DIRECTORIES},
	{"wait", "SECONDS", OPTION_WAIT,
	 .help = "how long to wait for other commands and trials (default 60)"},
	{"help", NULL, 'h', .help = "list the commands; after a command, show how to use it",
	 .letter = 'h', .instead = true},
	{"version", NULL, 'V', .help = "print the version", .letter = 'V', .instead = true},
	{0},
};

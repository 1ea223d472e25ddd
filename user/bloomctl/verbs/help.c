/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl help: on all commands and on one. */
#include "cli/help.h"

#include "bloomctl/verbs.h"

const struct verb verb_help = {
	.name = "help",
	.summary = "show this list, or how to use a command",
	.operands = {{"COMMAND", .optional = true, .offers = OFFER_COMMANDS}},
	.run = help_run,
	.examples = {"help", "help import"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset help: on all commands and on one. */
#include "cli/help.h"

#include "bloomset/verbs.h"

const struct verb verb_help = {
	.name = "help",
	.summary = "show this list, or how to use a command",
	.operands = {{"COMMAND", .optional = true, .offers = OFFER_COMMANDS}},
	.run = help_run,
	.examples = {"help", "help distinct"},
};

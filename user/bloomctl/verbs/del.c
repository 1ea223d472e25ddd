/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl del */
#include "bloomctl/edit.h"

const struct verb verb_del = {
	.name = "del",
	.summary = "take entries out of a list, or out of all",
	.operands = {{.name = "ENTRY..."}},
	.options = edit_del_options,
	.run = edit_run,
	.little = true,
	.examples = {"del 192.0.2.7", "del example.com --list mine --exist"},
};

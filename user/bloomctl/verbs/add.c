/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl add */
#include "bloomctl/edit.h"

const struct verb verb_add = {
	.group = "lists",
	.name = "add",
	.summary = "list addresses, prefixes or domains",
	.operands = {{.name = "ENTRY..."}},
	.options = edit_add_options,
	.run = edit_run,
	.little = true,
	.examples = {"add 192.0.2.7 --timeout 1h --comment \"port scan\"",
		     "add 198.51.100.0/24 example.com --list mine"},
};

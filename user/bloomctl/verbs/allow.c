/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl allow: the allowlist, which wins over every entry. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/display.h"
#include "bloomctl/edit.h"
#include "cli/suggest.h"
#include "engine/settingsjson.h"
#include "engine/writepath.h"
#include "machine/lifelines.h"
#include "store/walk.h"

static int allow_list(struct cli *cli, int argc, char **argv)
{
	return display_list(cli, argc - 1, argv + 1, &XB_WALK_ALLOW);
}

static int allow_test(struct cli *cli, int argc, char **argv)
{
	return display_test(cli, argc - 1, argv + 1, true);
}

struct refusal {
	unsigned int kinds;
	bool refuse;
	uint32_t after; /* all that is refused now */
};

static int refuse_body(struct xb_writer *writer, void *context)
{
	struct refusal *refusal = context;
	uint32_t *refused = &writer->txn->meta.refused;

	*refused = refusal->refuse ? *refused | refusal->kinds : *refused & ~refusal->kinds;
	refusal->after = *refused;
	writer->txn->edits++;
	return 0;
}

/* refuse and accept */
static int allow_kinds(struct cli *cli, int argc, char **argv)
{
	struct refusal refusal = {.refuse = !strcmp(argv[1], "refuse")};

	if (argc < 3)
		return cli_usage(cli, "allow %s needs a kind", argv[1]);
	for (int i = 2; i < argc; i++) {
		enum xb_lifeline_kind kind;

		if (!strcmp(argv[i], "all"))
			refusal.kinds = XB_LIFELINE_ALL;
		else if (xb_lifeline_parse(argv[i], &kind))
			return cli_fail();
		else
			refusal.kinds |= 1U << kind;
	}
	if (xb_write(&cli->paths, XB_WRITE_SURVEY, refuse_body, &refusal, cli->written))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "refused", xb_kinds_json(refusal.after)));
	return EXIT_DONE;
}

static const struct verb allow_add_verb = {
	.above = "allow",
	.name = "add",
	.operands = {{.name = "ENTRY..."}},
	.options = edit_allow_options,
	.run = edit_run,
	.examples = {"allow add 198.51.100.0/24 --comment \"the office\"",
		     "allow add 203.0.113.9 --timeout 1d"},
};

static const struct verb allow_del_verb = {
	.above = "allow",
	.name = "del",
	.operands = {{.name = "ENTRY..."}},
	.options = edit_del_options,
	.run = edit_run,
	.examples = {"allow del 203.0.113.9", "allow del 203.0.113.9 --list allow --exist"},
};

static const struct verb allow_list_verb = {
	.above = "allow",
	.name = "list",
	.options = show_list_options,
	.run = allow_list,
	.examples = {"allow list", "allow list --list auto:ssh"},
};

static const struct verb allow_test_verb = {
	.above = "allow",
	.name = "test",
	.operands = {{.name = "ENTRY..."}},
	.run = allow_test,
	.examples = {"allow test 198.51.100.7", "allow test good.example.com"},
};

static const struct verb allow_refuse_verb = {
	.above = "allow",
	.name = "refuse",
	.operands = {{"KIND...|all", .offers = OFFER_KINDS}},
	.run = allow_kinds,
	.examples = {"allow refuse dhcp", "allow refuse all"},
};

static const struct verb allow_accept_verb = {
	.above = "allow",
	.name = "accept",
	.operands = {{"KIND...|all", .offers = OFFER_KINDS}},
	.run = allow_kinds,
	.examples = {"allow accept ssh", "allow accept all"},
};

static const struct verb *const below[] = {
	&allow_add_verb,
	&allow_del_verb,
	&allow_list_verb,
	&allow_test_verb,
	&allow_refuse_verb,
	&allow_accept_verb,
	NULL,
};

static int run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb;
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	char hint[SUGGEST_BYTES];

	if (argc < 2)
		return cli_usage(cli, "allow needs add, del, list, test, refuse or accept");
	verb = verb_find(below, argv[1]);
	if (!verb && !xb_entry_parse(argv[1], strlen(argv[1]), form, &entry, NULL) &&
	    !*suggest_verb(below, argv[1], hint))
		return cli_usage(cli, "unknown command 'allow %s' (did you mean 'allow add %s'?)",
				 argv[1], argv[1]);
	if (!verb)
		return cli_usage(cli, "unknown command 'allow %s'%s", argv[1],
				 suggest_verb(below, argv[1], hint));
	cli->verb = verb;
	return verb->run(cli, argc, argv);
}

const struct verb verb_allow = {
	.group = "what lists and policy do",
	.name = "allow",
	.summary = "exempt sources and domains, and show what is allowed automatically",
	.below = below,
	.run = run,
	.examples = {"allow add 198.51.100.0/24 --comment \"the office\"", "allow list"},
};

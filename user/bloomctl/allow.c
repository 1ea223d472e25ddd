/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl allow: the allowlist, which wins over every entry. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/lifeline.h"
#include "edit.h"
#include "show.h"
#include "suggest.h"

static int allow_list(struct cli *cli, int argc, char **argv)
{
	return show_list(cli, argc - 1, argv + 1, &XB_WALK_ALLOW);
}

static int allow_test(struct cli *cli, int argc, char **argv)
{
	return show_test(cli, argc - 1, argv + 1, true);
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
	if (xb_write(&cli->paths, XB_WRITE_SURVEY, refuse_body, &refusal))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "refused", show_kinds_json(refusal.after)));
	return EXIT_DONE;
}

const struct verb allow_verbs[] = {
	{"add",
	 "allow add ENTRY... [--list NAME] [--comment TEXT] [--timeout SECONDS] [--exist] "
	 "[--force]",
	 NULL,
	 edit_run,
	 {"allow add 198.51.100.0/24 --comment \"the office\"",
	  "allow add 203.0.113.9 --timeout 1d"}},
	{"del",
	 "allow del ENTRY... [--list NAME] [--exist]",
	 NULL,
	 edit_run,
	 {"allow del 203.0.113.9", "allow del 203.0.113.9 --list allow --exist"}},
	{"list",
	 "allow list [--list NAME]",
	 NULL,
	 allow_list,
	 {"allow list", "allow list --list auto:ssh"}},
	{"test",
	 "allow test ENTRY...",
	 NULL,
	 allow_test,
	 {"allow test 198.51.100.7", "allow test good.example.com"}},
	{"refuse",
	 "allow refuse KIND...|all",
	 NULL,
	 allow_kinds,
	 {"allow refuse dhcp", "allow refuse all"}},
	{"accept",
	 "allow accept KIND...|all",
	 NULL,
	 allow_kinds,
	 {"allow accept ssh", "allow accept all"}},
	{0},
};

int verb_allow(struct cli *cli, int argc, char **argv)
{
	const struct verb *below;
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	char hint[SUGGEST_BYTES];

	if (argc < 2)
		return cli_usage(cli, "allow needs add, del, list, test, refuse or accept");
	below = verb_find(allow_verbs, argv[1]);
	if (!below && !xb_entry_parse(argv[1], strlen(argv[1]), form, &entry, NULL) &&
	    !*suggest_verb(allow_verbs, argv[1], hint))
		return cli_usage(cli, "unknown command 'allow %s' (did you mean 'allow add %s'?)",
				 argv[1], argv[1]);
	if (!below)
		return cli_usage(cli, "unknown command 'allow %s'%s", argv[1],
				 suggest_verb(allow_verbs, argv[1], hint));
	cli->verb = below->usage;
	return below->run(cli, argc, argv);
}

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

static int allow_list(struct cli *cli, int argc, char **argv)
{
	return show_list(cli, argc, argv, &XB_WALK_ALLOW);
}

static int allow_test(struct cli *cli, int argc, char **argv)
{
	return show_test(cli, argc, argv, true);
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
	struct refusal refusal = {.refuse = !strcmp(argv[0], "refuse")};

	if (argc < 2)
		return cli_usage(cli, "allow %s needs a kind", argv[0]);
	for (int i = 1; i < argc; i++) {
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

int verb_allow(struct cli *cli, int argc, char **argv)
{
	const struct {
		const char *name;
		int (*run)(struct cli *, int, char **);
	} verbs_below[] = {
		{"list", allow_list},
		{"test", allow_test},
		{"refuse", allow_kinds},
		{"accept", allow_kinds},
	};

	if (argc < 2)
		return cli_usage(cli, "allow needs add, del, list, test, refuse or accept");
	if (!strcmp(argv[1], "add") || !strcmp(argv[1], "del"))
		return edit_run(cli, argc, argv);
	for (size_t i = 0; i < sizeof(verbs_below) / sizeof(verbs_below[0]); i++)
		if (!strcmp(argv[1], verbs_below[i].name))
			return verbs_below[i].run(cli, argc - 1, argv + 1);
	return cli_usage(cli, "'%s' is nothing to do with the allowlist", argv[1]);
}

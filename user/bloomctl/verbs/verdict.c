/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl verdict: what happens to queries for the domains of a list, and to its addresses. */
#include "model/verdict.h"

#include "bloomctl/cli.h"
#include "bloomctl/property.h"
#include "bloomctl/rollback.h"
#include "bloomctl/vethtx.h"
#include "engine/settings.h"

static const char *stored(const struct xb_list *list, char room[PROPERTY_WORD])
{
	(void)room;
	return xb_domain_verdict_name(list->verdict);
}

static const char *on_trial(const struct ontrial *ontrial, const char *list,
			    char room[PROPERTY_WORD])
{
	uint32_t verdict;

	(void)room;
	return ontrial_verdict(ontrial, list, &verdict) ? xb_domain_verdict_name(verdict) : NULL;
}

static const struct property property = {
	.name = "verdict",
	.plural = "verdicts",
	.operands = "a list and a verdict for it",
	.value = "a verdict",
	.stored = stored,
	.ontrial = on_trial,
};

static const struct option_spec options[] = {
	ROLLBACK_OPTION,
	{0},
};

static int make(struct cli *cli)
{
	const struct xb_verdict_request *request = &cli->wish->request->verdict;

	if (xb_verdict_wish(&cli->paths, cli->wish, cli->written))
		return cli_fail();
	if (xb_domain_verdict_answers(request->verdict))
		vethtx_note(cli, NULL, 0);
	if (cli->json)
		return cli_json(cli, json_pack("{s:s,s:s}", "list", request->list, "verdict",
					       xb_domain_verdict_name(request->verdict)));
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_VERDICT};
	int code = property_begin(cli, argc, argv, options, &property);

	if (code >= 0)
		return code;
	request.verdict.list = argv[optind];
	if (xb_domain_verdict_parse(argv[optind + 1], &request.verdict.verdict))
		return cli_fail();
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_verdict = {
	.name = "verdict",
	.summary = "set what happens to queries for the domains of a list, and to its addresses",
	.operands = {{"LIST", .optional = true, .offers = OFFER_LISTS_TO_FILL},
		     {"drop|refused|nxdomain|truncate|count", .optional = true}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"verdict", "verdict ads nxdomain"},
};

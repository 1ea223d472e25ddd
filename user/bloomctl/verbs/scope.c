/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl scope: the services that the addresses of a list are dropped for. */
#include "model/scope.h"

#include "bloomctl/cli.h"
#include "bloomctl/property.h"
#include "bloomctl/rollback.h"
#include "engine/settings.h"
#include "store/listclass.h"

static const char *stored(const struct xb_list *list, char room[PROPERTY_WORD])
{
	return xb_scope_format(xb_list_scope(list), room);
}

static const char *on_trial(const struct ontrial *ontrial, const char *list,
			    char room[PROPERTY_WORD])
{
	struct xb_scope scope;

	return ontrial_scope(ontrial, list, &scope) ? xb_scope_format(&scope, room) : NULL;
}

static const struct property property = {
	.name = "scope",
	.plural = "scopes",
	.operands = "a list, and services with ',' between",
	.value = "services",
	.stored = stored,
	.ontrial = on_trial,
};

static const struct option_spec options[] = {
	ROLLBACK_OPTION,
	{0},
};

static int make(struct cli *cli)
{
	const struct xb_scope_request *request = &cli->wish->request->scope;
	char text[XB_SCOPE_TEXT];

	if (xb_scope_wish(&cli->paths, cli->wish, cli->written))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:s,s:s}", "list", request->list, "scope",
					       xb_scope_format(&request->scope, text)));
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_SCOPE};
	int code = property_begin(cli, argc, argv, options, &property);

	if (code >= 0)
		return code;
	request.scope.list = argv[optind];
	if (xb_scope_parse(argv[optind + 1], &request.scope.scope))
		return cli_fail();
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_scope = {
	.name = "scope",
	.summary = "set for which services the addresses of a list count",
	.operands = {{"LIST", .optional = true, .offers = OFFER_LISTS_TO_FILL},
		     {"SERVICE,...|all", .optional = true}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"scope", "scope spam tcp/25,tcp/465,tcp/587"},
};

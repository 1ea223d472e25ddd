/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl policy */
#include "model/policy.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/ontrial.h"
#include "bloomctl/rollback.h"
#include "engine/settings.h"
#include "engine/settingsjson.h"

static int answer(const struct cli *cli, struct xb_txn *txn, const struct ontrial *ontrial,
		  void *context)
{
	uint32_t stored = txn ? txn->meta.policy : XB_POLICY_ENFORCE;
	const char *name = xb_policy_name(stored);

	(void)context;
	if (cli->json)
		return cli_json(
			cli, json_pack("{s:s,s:o*}", "policy", name, "trial",
				       ontrial->left ? ontrial_json(ontrial, "policy",
								    xb_policy_name(ontrial->policy))
						     : NULL));
	if (!ontrial->left || ontrial->policy == stored) {
		puts(name);
		return cli_done(EXIT_DONE);
	}
	fputs(xb_policy_name(ontrial->policy), stdout);
	ontrial_print(stdout, ontrial->left, name);
	putchar('\n');
	return cli_done(EXIT_DONE);
}

static const struct option_spec options[] = {
	{"known", NULL, 'k', .help = "allow-only admits known sources, too"},
	{"force", NULL, 'f', .help = "set allow-only whomever it admits"},
	ROLLBACK_OPTION,
	{0},
};

/* What somebody would miss who believes that all customers are known. */
static void tell_known(void)
{
	xb_notice(
		"from now on only known and listed sources pass, with ARP, neighbour discovery, "
		"DHCP leases and what `bloomctl allow list` shows. Known are those with whom this "
		"machine had a TCP connection since `bloomctl known on`; not those who use UDP "
		"services alone, whose connections are forwarded, or end in another network "
		"namespace (containers): allow these");
}

static json_t *admits_json(const struct xb_admits *admits, bool known)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < admits->count; i++) {
		const struct xb_admitting *list = &admits->list[i];

		json_array_append_new(lists, json_pack("{s:s,s:I,s:o*}", "name", list->name,
						       "sources", (json_int_t)list->sources,
						       "origins", xb_origins_json(list->origins)));
	}
	return json_pack("{s:b,s:I,s:o}", "known", known, "sources", (json_int_t)admits->sources,
			 "lists", lists);
}

#define LISTS_TOLD 8

static void print_lists(const struct xb_admits *admits)
{
	size_t told = admits->count > LISTS_TOLD ? LISTS_TOLD : admits->count;

	printf("list%s ", admits->count == 1 ? "" : "s");
	for (size_t i = 0; i < told; i++)
		printf("%s%s",
		       !i		       ? ""
		       : i + 1 < admits->count ? ", "
					       : " and ",
		       admits->list[i].name);
	if (told < admits->count)
		printf(" and %zu more", admits->count - told);
}

static void print_admits(const struct xb_admits *admits, bool known)
{
	printf(": it admits the allowlist%s", !known	      ? ""
					      : admits->count ? ", known sources"
							      : " and known sources");
	if (admits->count) {
		printf(" and the %" PRIu64 " source%s of ", admits->sources,
		       admits->sources == 1 ? "" : "s");
		print_lists(admits);
	}
	printf(", and nobody else");
}

static int answer_set(const struct cli *cli, const struct xb_admits *admits)
{
	const struct xb_policy_request *request = &cli->wish->request->policy;
	const char *name = xb_policy_name(request->policy);
	bool only = request->policy == XB_POLICY_ALLOW_ONLY;

	if (cli->json)
		return cli_json(cli, json_pack("{s:s,s:o*}", "policy", name, "admits",
					       only ? admits_json(admits, request->known) : NULL));
	if (!cli->quiet && !cli->wish->commits) {
		printf("the policy is %s", name);
		if (only)
			print_admits(admits, request->known);
		putchar('\n');
	}
	return cli_done(EXIT_DONE);
}

static int make(struct cli *cli)
{
	uint32_t policy = cli->wish->request->policy.policy;
	struct xb_admits admits;
	int code;

	if (xb_policy_wish(&cli->paths, cli->wish, &admits, cli->written)) {
		xb_admits_free(&admits);
		return cli_fail();
	}
	if (cli->wish->request->policy.known)
		tell_known();
	else if (policy == XB_POLICY_ALLOW_ONLY)
		xb_notice("from now on only listed sources pass, with ARP, neighbour discovery, "
			  "DHCP leases and what `bloomctl allow list` shows (including the name, "
			  "time and DHCP servers in use); replies to connections that this machine "
			  "opens to others are dropped too");
	code = answer_set(cli, &admits);
	xb_admits_free(&admits);
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_POLICY};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option == 'f')
			request.policy.force = true;
		else if (option == 'k')
			request.policy.known = true;
		else
			return EXIT_USAGE;
	if (optind == argc && cli->wish->seconds)
		return cli_usage(cli, "without a policy there is nothing to roll back");
	if (optind == argc)
		return ontrial_show(cli, answer, NULL);
	if (argc - optind != 1)
		return cli_usage(cli, "policy takes one of enforce, monitor, allow-only");
	if (xb_policy_parse(argv[optind], &request.policy.policy))
		return cli_fail();
	if (request.policy.known && request.policy.policy != XB_POLICY_ALLOW_ONLY)
		return cli_usage(cli, "--known belongs to the policy allow-only");
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_policy = {
	.name = "policy",
	.summary = "drop listed sources, only count them, or drop all others",
	.operands = {{"enforce|monitor|allow-only", .optional = true}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"policy", "policy enforce --rollback 60"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl policy */
#include "model/policy.h"

#include <stdio.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/ontrial.h"
#include "bloomctl/rollback.h"
#include "engine/settings.h"

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
	ontrial_print(ontrial->left, name);
	putchar('\n');
	return cli_done(EXIT_DONE);
}

static const struct option_spec options[] = {
	{"known", NULL, 'k', .help = "allow-only admits known sources, too"},
	{"force", NULL, 'f', .help = "set allow-only even while nobody would be admitted"},
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

static int make(struct cli *cli)
{
	uint32_t policy = cli->wish->request->policy.policy;

	if (xb_policy_wish(&cli->paths, cli->wish, cli->written))
		return cli_fail();
	if (cli->wish->request->policy.known)
		tell_known();
	else if (policy == XB_POLICY_ALLOW_ONLY)
		xb_notice("from now on only listed sources pass, with ARP, neighbour discovery, "
			  "DHCP leases and what `bloomctl allow list` shows (including the name, "
			  "time and DHCP servers in use); replies to connections that this machine "
			  "opens to others are dropped too");
	if (cli->json)
		return cli_json(cli, json_pack("{s:s}", "policy", xb_policy_name(policy)));
	if (!cli->quiet && !cli->wish->commits)
		printf("the policy is %s\n", xb_policy_name(policy));
	return cli_done(EXIT_DONE);
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

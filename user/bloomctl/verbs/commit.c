/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl commit: what is on trial is done once more, to last. */
#include <signal.h>
#include <stdio.h>

#include "base/author.h"
#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/requesttext.h"
#include "engine/trial.h"

static const struct verb *const makers[XB_REQUEST_KINDS] = {
	[XB_REQUEST_ATTACH] = &verb_attach,   [XB_REQUEST_POLICY] = &verb_policy,
	[XB_REQUEST_VERDICT] = &verb_verdict, [XB_REQUEST_ROTATE] = &verb_rotate,
	[XB_REQUEST_IMPORT] = &verb_import,   [XB_REQUEST_RESTORE] = &verb_restore,
	[XB_REQUEST_SCOPE] = &verb_scope,     [XB_REQUEST_LIMIT_ADD] = &verb_limit,
	[XB_REQUEST_LIMIT_DEL] = &verb_limit,
};

static int make(struct cli *cli, const struct xb_trial *trial)
{
	const struct xb_request *request = &trial->request;

	cli->verb = makers[request->kind];
	*cli->wish = (struct xb_wish){.request = request, .commits = trial->identity};
	return cli->verb->make(cli);
}

/* For the log of changes: what is committed says more than that something is. */
static void sign(const struct xb_request *request)
{
	char command[256];

	xb_request_command(request, command, sizeof(command));
	xb_author_set("commit: %s", command);
}

static int tell(const struct cli *cli, const struct xb_request *request)
{
	char command[256];

	if (cli->json || cli->quiet)
		return EXIT_DONE;
	xb_request_command(request, command, sizeof(command));
	printf("`%s` is kept\n", command);
	return cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_commit commit;
	int error, code;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "commit takes no arguments");
	/* What the trial cut off may be the connection through which this came. */
	signal(SIGHUP, SIG_IGN);
	error = xb_trial_commit_begin(&cli->paths, &commit);
	if (error == 1) {
		xb_input_error("nothing to commit: no trial is running; it may have expired");
		return cli_fail(), EXIT_ABSENT;
	}
	if (error)
		return cli_fail();
	sign(&commit.trial.request);
	code = make(cli, &commit.trial);
	if (!code)
		code = tell(cli, &commit.trial.request);
	xb_trial_commit_end(&commit);
	return code;
}

const struct verb verb_commit = {
	.group = "trials, copies, the filter",
	.name = "commit",
	.summary = "keep the change that is on trial (--rollback SECONDS)",
	.run = run,
	.examples = {"commit", "-j commit"},
};

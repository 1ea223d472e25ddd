/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl commit: what is on trial is done once more, to last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "bloomctl/cli.h"
#include "bloomctl/rollback.h"
#include "bloomctl/tried.h"
#include "engine/trial.h"

/* Time for the commit itself. Should it be killed, the next command takes it back. */
#define COMMIT_SECONDS 600

static int repeat(struct cli *cli, const struct xb_trial *trial)
{
	char **argv = calloc(trial->word_bytes + 1, sizeof(*argv));
	const struct verb *verb;
	int argc = 0, code;

	if (!argv)
		return xb_out_of_memory(), cli_fail();
	for (char *word = trial->words; word < trial->words + trial->word_bytes;
	     word += strlen(word) + 1)
		argv[argc++] = word;
	verb = argc ? verb_find(cli->verbs, argv[0]) : NULL;
	if (verb && rollback_takes(verb)) {
		cli->verb = verb;
		cli->commits = true;
		optind = 0;
		code = verb->run(cli, argc, argv);
	} else {
		xb_system_error(0, "the trial is of another version of this program");
		code = cli_fail();
	}
	free(argv);
	return code;
}

static int tell(const struct cli *cli, const struct xb_trial *trial)
{
	char command[256];

	if (cli->json || cli->quiet)
		return EXIT_DONE;
	xb_trial_command(trial, command, sizeof(command));
	printf("`%s` is kept\n", command);
	return cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_trial trial;
	int error, code, lock;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "commit takes no arguments");
	error = xb_rollback_extend(&cli->paths, COMMIT_SECONDS, &trial, &lock);
	if (error)
		xb_unlock(lock);
	if (error == 1) {
		xb_input_error("nothing to commit: no trial is running; it may have expired");
		return cli_fail(), EXIT_ABSENT;
	}
	if (error)
		return cli_fail();
	code = repeat(cli, &trial);
	if (code)
		xb_rollback_unextend(&cli->paths);
	else
		code = tell(cli, &trial);
	xb_trial_free(&trial);
	xb_unlock(lock);
	return code;
}

const struct verb verb_commit = {
	.name = "commit",
	.summary = "keep the change that is on trial (--rollback SECONDS)",
	.run = run,
	.examples = {"commit", "-j commit"},
};

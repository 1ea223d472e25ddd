/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that can be tried share. */
#include "bloomctl/rollback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writeall.h"
#include "engine/control.h"
#include "engine/trial.h"
#include "store/trialtext.h"

#define NAME	    "rollback"
#define OPTION	    "--" NAME
#define SECONDS_MAX 86400

bool rollback_takes(const struct verb *verb)
{
	return option_known(verb->options, NAME);
}

int rollback_take(struct cli *cli, int *argc, char **argv)
{
	uint64_t seconds = 0;
	int kept = 0;

	for (int i = 0; i < *argc; i++) {
		const char *value;
		bool joined = !strncmp(argv[i], OPTION "=", strlen(OPTION "="));

		if (!joined && strcmp(argv[i], OPTION)) {
			argv[kept++] = argv[i];
			continue;
		}
		if (!joined && i + 1 == *argc)
			return cli_usage(cli, "option '" OPTION "' needs a value");
		value = joined ? argv[i] + strlen(OPTION "=") : argv[++i];
		if (!cli_seconds(cli, OPTION, value, 1, SECONDS_MAX, &seconds))
			return EXIT_USAGE;
		if (!option_give(cli->verb->options, NAME, value))
			return cli_clash();
	}
	argv[kept] = NULL;
	*argc = kept;
	cli->wish->seconds = (uint32_t)seconds;
	return 0;
}

static int copy(int from, int to, const char *name)
{
	static char buffer[65536];
	ssize_t size;

	while ((size = read(from, buffer, sizeof(buffer))) > 0)
		if (!xb_write_all(to, buffer, (size_t)size))
			return xb_system_error(errno, "cannot keep a copy of %s", name);
	return size < 0 ? xb_system_error(errno, "cannot read %s", name) : 0;
}

static char copy_name[XB_TRIAL_COPY];

static int keep_input(struct cli *cli, const char *file)
{
	bool standard = !strcmp(file, "-");
	int from = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC), to, error;

	if (from < 0)
		return xb_input_error("%s: %s", file, strerror(errno));
	to = xb_trialtext_create(cli->paths.state, copy_name);
	error = to < 0 ? to : copy(from, to, standard ? "stdin" : file);
	if (to >= 0) {
		cli->wish->input = copy_name;
		cli->wish->input_fd = to;
	}
	if (!error && lseek(to, 0, SEEK_SET) < 0)
		error = xb_system_error(errno, "cannot read the copy of %s", file);
	if (!standard)
		close(from);
	return error;
}

int rollback_input(struct cli *cli, const char *file, int *fd)
{
	int error = 0;

	*fd = -1;
	if (cli->wish->commits) {
		*fd = xb_trialtext_open(cli->paths.state);
		return *fd < 0 ? *fd : 0;
	}
	if (cli->wish->seconds)
		error = keep_input(cli, file);
	if (cli->wish->input)
		*fd = cli->wish->input_fd;
	return error;
}

void rollback_forget_copy(const struct cli *cli)
{
	if (cli->wish->input)
		xb_trialtext_forget(cli->paths.state, cli->wish->input);
}

void rollback_tell(const struct cli *cli)
{
	const char *afterwards = "";

	if (!cli->wish->seconds)
		return;
	if (!strcmp(cli->verb->name, "attach"))
		afterwards = xb_control_is_there(&cli->paths)
				     ? "; otherwise all packets pass then, and bloomd takes the "
				       "filter off"
				     : "; otherwise all packets pass then, and the filter stays on "
				       "the interface until the next command, or the timer "
				       "xdp-bloom-expire, takes it off";
	xb_notice("on trial; `bloomctl commit` within %u seconds keeps it%s", cli->wish->seconds,
		  afterwards);
}

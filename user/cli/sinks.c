/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/sinks.h"

#include <stdio.h>
#include <unistd.h>

static void warning(enum xb_notice_kind kind, const char *message)
{
	if (kind == XB_WARNING)
		cli_notice(kind, message);
}

static void progress(const char *what, unsigned long long done, unsigned long long total)
{
	if (done == total)
		fputs("\r\033[K", stderr);
	else if (total)
		fprintf(stderr, "\r%s: %llu %%\033[K", what, done * 100 / total);
	else
		fprintf(stderr, "\r%s: %llu\033[K", what, done);
}

void sinks_open(const struct cli *cli)
{
	xb_notice_sink(cli->quiet ? warning : cli_notice);
	if (isatty(STDERR_FILENO) && !cli->quiet)
		xb_progress_sink(progress);
}

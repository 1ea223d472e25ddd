/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl metrics: for Prometheus, through the textfile directory of its node_exporter. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloomctl/cli.h"
#include "engine/metrics.h"
#include "engine/tallies.h"

/* Whoever collects it is another user. */
static FILE *create(char *path)
{
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file && !fchmod(fd, 0644))
		return file;
	xb_system_error(errno, "cannot make %s", path);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	if (fd >= 0)
		unlink(path);
	return NULL;
}

/* Readers find the former text or this one, whole. */
static int write_file(const struct cli *cli, const struct xb_figures *figures, const char *path)
{
	char made[XB_PATH_MAX];
	FILE *file;
	int error;

	if (snprintf(made, sizeof(made), "%s.XXXXXX", path) >= (int)sizeof(made))
		return xb_input_error("%.64s...: path too long", path);
	file = create(made);
	if (!file)
		return -EIO;
	xb_metrics_write(&cli->paths, figures, file);
	error = ferror(file);
	if (fclose(file) || error)
		error = xb_system_error(errno, "cannot write %s", made);
	else if (rename(made, path) < 0)
		error = xb_system_error(errno, "cannot replace %s", path);
	if (error)
		unlink(made);
	return error;
}

/* The first who looks makes the file that keeps counters of interfaces from going back. */
static int read_figures(const struct cli *cli, struct xb_figures *figures)
{
	int error = xb_figures_read(&cli->paths, figures);

	if (error || !figures->anchored || !xb_tallies_make(&cli->paths))
		return error;
	xb_figures_free(figures);
	return xb_figures_read(&cli->paths, figures);
}

static int answer(const struct cli *cli, const char *path)
{
	static struct xb_figures figures; /* too large for a stack */
	int error = read_figures(cli, &figures);

	if (!error && path)
		error = write_file(cli, &figures, path);
	else if (!error)
		xb_metrics_write(&cli->paths, &figures, stdout);
	xb_figures_free(&figures);
	return error ? cli_fail() : cli_done(EXIT_DONE);
}

static const struct option_spec options[] = {
	{"output", "FILE", 'o', .help = "write to this file, and replace it at once",
	 .offers = OFFER_FILES},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	const char *path = NULL;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option != 'o')
			return EXIT_USAGE;
		path = optarg;
	}
	if (optind != argc)
		return cli_usage(cli, "metrics takes no operands");
	return answer(cli, path);
}

const struct verb verb_metrics = {
	.name = "metrics",
	.summary = "write metrics as text for Prometheus",
	.options = options,
	.run = run,
	.examples = {"metrics",
		     "metrics --output /var/lib/prometheus/node-exporter/xdp-bloom.prom"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl detach: the interfaces become what they were; with the last, everything leaves the
 * kernel. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/attach.h"
#include "core/enforce.h"
#include "core/error.h"
#include "core/ifname.h"
#include "core/rollback.h"
#include "core/takeoff.h"

struct request {
	char **names;
	int count;
	bool all;
	bool on_trial; /* what was named was on trial, and is no more */
};

static int take_all(struct xb_writer *writer)
{
	struct xb_wanted *wanted;
	size_t count;
	int error = xb_wanted_all(writer->txn, &wanted, &count);

	if (error)
		return error;
	for (size_t i = 0; !error && i < count; i++) {
		bool found;

		error = xb_wanted_remove(writer->txn, wanted[i].name, &found);
	}
	free(wanted);
	return error;
}

/* By the name it is wanted under, or the one it has now. */
static int take_one(struct xb_writer *writer, const char *name, bool *found)
{
	struct xb_enrolled *all;
	uint32_t ifindex;
	size_t count;
	int error = xb_ifindex(name, &ifindex);

	if (!error)
		error = xb_wanted_remove(writer->txn, name, found);
	if (error || *found || !writer->linked || !ifindex)
		return error;
	error = xb_link_enrolled(&writer->link, &all, &count);
	for (size_t i = 0; !error && i < count; i++)
		if (all[i].ifindex == ifindex)
			error = xb_wanted_remove(writer->txn, all[i].name, found);
	free(all);
	return error;
}

static int body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;
	int error = 0;

	if (request->all && writer->foreign)
		return xb_enforce_end(writer, writer->txn->meta.identity);
	if (request->all)
		error = take_all(writer);
	for (int i = 0; !error && i < request->count; i++) {
		bool found;

		error = take_one(writer, request->names[i], &found);
		if (error)
			return error;
		if (!found && !request->on_trial) {
			xb_input_error("%s is not attached", request->names[i]);
			return 1;
		}
	}
	return error || !writer->linked ? error : xb_detach_allowed(&writer->link);
}

/* Detaching is what people do in need: it does not wait for the end of a trial. */
static int abandon_trial(const struct cli *cli, struct request *request)
{
	bool was_tried;
	int error = 0;

	if (request->all)
		return xb_rollback_abandon(&cli->paths, NULL, &was_tried);
	for (int i = 0; !error && i < request->count; i++) {
		error = xb_rollback_abandon(&cli->paths, request->names[i], &was_tried);
		request->on_trial |= was_tried;
	}
	return error;
}

/* The store cannot be written, or something else keeps the usual way from its end. recorded: the
 * store no longer wants them. */
static int detach_anyway(const struct cli *cli, const struct request *request, bool recorded)
{
	char why[1024];
	int taken, error;

	snprintf(why, sizeof(why), "%s", xb_error_message());
	error = xb_take_off(&cli->paths, request->all ? NULL : request->names, request->count,
			    &taken);
	if (!error && recorded)
		return xb_system_error(0, "detached, but not all that follows from it was done: %s",
				       why);
	if (error || !taken)
		return xb_system_error(0, "%s", why);
	return xb_system_error(
		0,
		"detached, but the store could not record it (%s): the next command that changes "
		"something, also `up` at boot, attaches again what is recorded; cure that and "
		"detach once more",
		why);
}

static int detach(const struct cli *cli, struct request *request)
{
	int error = abandon_trial(cli, request);
	bool recorded;

	/* The wish first: then every command that follows works towards it. */
	if (!error)
		error = xb_write(&cli->paths, XB_WRITE_HEAVY, body, request);
	recorded = !error || error == XB_UNMET;
	if (recorded)
		error = xb_write(&cli->paths, XB_WRITE_HEAVY | XB_WRITE_SURVEY, NULL, NULL);
	if (error == XB_UNMET)
		return xb_error_prefix(error, "detached, but for the other interfaces");
	return error < 0 && xb_error_class() == XB_ERROR_SYSTEM
		       ? detach_anyway(cli, request, recorded)
		       : error;
}

int verb_detach(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"all", no_argument, NULL, 'a'}, {0}};
	struct request request = {0};
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'a')
			return EXIT_USAGE;
		else
			request.all = true;
	request.names = argv + optind;
	request.count = argc - optind;
	if (request.all == (request.count > 0))
		return cli_usage(cli, "detach takes interfaces, or --all");
	error = detach(cli, &request);
	if (error == 1)
		return cli_fail(), EXIT_ABSENT;
	if (error)
		return cli_fail();
	return cli->json ? cli_json(cli, json_pack("{s:b}", "detached", 1)) : EXIT_DONE;
}

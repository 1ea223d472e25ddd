/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl detach: the interfaces become what they were; with the last, everything leaves the
 * kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/interfaces.h"
#include "engine/repair.h"
#include "engine/takeoff.h"
#include "engine/trial.h"
#include "engine/writepath.h"
#include "store/wanted.h"

struct request {
	char **names;
	uint32_t *ifindexes;	  /* of each that is filtered */
	char (*now)[IF_NAMESIZE]; /* what the kernel calls each, or called it at the last look */
	char **left;		  /* under both names */
	int count;
	bool all;
	bool on_trial; /* what was named was on trial, and is no more */
	bool filtered; /* what was named is, though nobody wants it, as after a killed detach */
};

#define HOW (XB_WRITE_HEAVY | XB_WRITE_LEAVE)

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

static const struct xb_interface *find(const struct xb_interfaces *all, const char *name,
				       uint32_t ifindex)
{
	const struct xb_interface *item = xb_interfaces_find(all, name);

	for (size_t i = 0; !item && ifindex && i < all->count; i++)
		if (all->item[i].now.ifindex == ifindex)
			item = &all->item[i];
	return item;
}

/* Under each name by which the interface is wanted; it may be given by any other it has, or had
 * when the command began. */
static int take_one(struct xb_writer *writer, const char *name, uint32_t ifindex, bool *found)
{
	const struct xb_interfaces *all = &writer->interfaces;
	const struct xb_interface *item = find(all, name, ifindex);
	int error = xb_wanted_remove(writer->txn, name, found);

	for (size_t i = 0; !error && item && item->now.ifindex && i < all->count; i++) {
		bool removed = false;

		if (all->item[i].wanted[0] && all->item[i].now.ifindex == item->now.ifindex)
			error = xb_wanted_remove(writer->txn, all->item[i].wanted, &removed);
		*found |= removed;
	}
	return error;
}

static int absent(const char *name)
{
	xb_input_error("%s is not attached", name);
	return 1;
}

static int body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;
	int error = 0;

	if (request->all && writer->foreign)
		return xb_repair_end(writer, writer->txn->meta.identity);
	if (request->all)
		error = take_all(writer);
	for (int i = 0; !error && i < request->count; i++) {
		bool found;

		error = take_one(writer, request->names[i], request->ifindexes[i], &found);
		if (error)
			return error;
		if (!found && !request->on_trial && !request->filtered)
			return absent(request->names[i]);
	}
	return error || !writer->anchored ? error : xb_detach_allowed(&writer->anchor);
}

static int left_body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;

	writer->left = request->left;
	writer->left_count = request->all ? 0 : 2 * (size_t)request->count;
	return 0;
}

/* Whether an operand before this one means the same interface. */
static bool is_twin(const struct request *request, int i)
{
	for (int j = 0; j < i; j++)
		if (!strcmp(request->names[j], request->names[i]) ||
		    (request->ifindexes[i] && request->ifindexes[j] == request->ifindexes[i]))
			return true;
	return false;
}

static const char *last_name(const struct xb_interface *item)
{
	return item->now.ifindex	? item->now.name
	       : item->enrolled.ifindex ? item->enrolled.name
					: item->wanted;
}

/* Each of the names must be that of an interface that is wanted, filtered or on trial. */
static int match(const struct xb_interfaces *all, struct request *request)
{
	for (int i = 0; i < request->count; i++) {
		const struct xb_interface *item = xb_interfaces_find(all, request->names[i]);

		if (!item || item->difference == XB_IFACE_STALE)
			return absent(request->names[i]);
		request->ifindexes[i] = item->now.ifindex;
		snprintf(request->now[i], sizeof(request->now[i]), "%s", last_name(item));
		request->left[2 * i] = request->names[i];
		request->left[2 * i + 1] = request->now[i];
		request->filtered |= !item->wanted[0];
		if (is_twin(request, i))
			request->names[i--] = request->names[--request->count];
	}
	return 0;
}

/* What is wanted, and what is on trial. */
static int read_wanted(const struct cli *cli, struct xb_wanted **wanted, size_t *count,
		       struct xb_trial *trial)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_wanted_all(txn, wanted, count);
	if (!error && xb_trial_get(txn, trial) == -EIO)
		error = -EIO;
	xb_store_end_reading(store, txn);
	return error;
}

/* A name that means nothing is refused before a trial is ended for it. */
static int check(const struct cli *cli, struct request *request)
{
	struct xb_interfaces all = {0};
	struct xb_wanted *wanted = NULL;
	struct xb_trial trial = {0};
	struct xb_anchor anchor;
	size_t count = 0;
	bool anchored;
	int error = read_wanted(cli, &wanted, &count, &trial);

	if (error)
		return error;
	error = xb_anchor_open(cli->paths.pins, &anchor);
	anchored = !error;
	if (error == -ENOENT || error == -ESTALE)
		error = 0;
	if (anchored)
		error = xb_anchor_at_home(&anchor);
	if (!error)
		error = xb_interfaces_look(anchored ? &anchor : NULL, wanted, count, &trial, &all);
	if (!error)
		error = match(&all, request);
	xb_interfaces_free(&all);
	if (anchored)
		xb_anchor_close(&anchor);
	xb_trial_free(&trial);
	free(wanted);
	return error;
}

/* Detaching is what people do in need: it does not wait for the end of a trial. */
static int abandon_trial(const struct cli *cli, struct request *request)
{
	bool was_tried;
	int error = 0;

	if (request->all)
		return xb_trial_abandon(&cli->paths, NULL, &was_tried);
	for (int i = 0; !error && i < request->count; i++) {
		error = xb_trial_abandon(&cli->paths, request->names[i], &was_tried);
		request->on_trial |= was_tried;
	}
	return error;
}

/* The store cannot be written, or something else keeps the usual way from its end. recorded: the
 * store no longer wants them. */
static int detach_anyway(const struct cli *cli, const struct request *request, bool recorded,
			 bool held)
{
	char why[1024];
	int taken, error;

	snprintf(why, sizeof(why), "%s", xb_error_message());
	error = xb_take_off(&cli->paths, request->all ? NULL : request->names, request->count,
			    &taken);
	if (!error && recorded)
		return xb_system_error(0, "detached, but a later step failed: %s", why);
	if (error || !taken)
		return xb_system_error(0, "%s", why);
	if (held)
		return xb_system_error(
			0,
			"detached, but the store could not record it (%s): that process, "
			"or the next command that writes, will attach again; end the "
			"process (kill -9) and detach again",
			why);
	return xb_system_error(
		0,
		"detached, but the store could not record it (%s): the next command that writes, "
		"such as `up` at boot, will attach again; fix that and detach again",
		why);
}

static int detach_in_steps(const struct cli *cli, struct request *request)
{
	int error = request->all ? 0 : check(cli, request);
	bool recorded;

	if (!error)
		error = abandon_trial(cli, request);
	/* The wish first: then every command that follows works towards it. */
	if (!error)
		error = xb_write(&cli->paths, HOW | XB_WRITE_FIRST, body, request, cli->written);
	recorded = !error || error == XB_UNMET;
	if (recorded)
		error = xb_write(&cli->paths, HOW | XB_WRITE_SURVEY, left_body, request,
				 cli->written);
	if (error == XB_UNMET)
		return xb_error_prefix(error, "detached, but for the other interfaces");
	return error < 0 && xb_error_class() == XB_ERROR_SYSTEM
		       ? detach_anyway(cli, request, recorded, error == -EBUSY)
		       : error;
}

static int detach(const struct cli *cli, struct request *request)
{
	int error = detach_in_steps(cli, request);

	xb_write_last();
	return error;
}

static int make_room(struct request *request)
{
	size_t count = (size_t)request->count;

	request->ifindexes = calloc(count + 1, sizeof(*request->ifindexes));
	request->now = calloc(count + 1, sizeof(*request->now));
	request->left = calloc(2 * count + 1, sizeof(*request->left));
	return request->ifindexes && request->now && request->left ? 0 : xb_out_of_memory();
}

static const struct option_spec options[] = {
	{"all", NULL, 'a', .help = "all interfaces", .instead = true},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
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
	error = make_room(&request);
	if (!error)
		error = detach(cli, &request);
	free(request.ifindexes);
	free(request.now);
	free(request.left);
	if (error == 1)
		return cli_fail(), EXIT_ABSENT;
	if (error)
		return cli_fail();
	return cli->json ? cli_json(cli, json_pack("{s:b}", "detached", 1)) : EXIT_DONE;
}

const struct verb verb_detach = {
	.name = "detach",
	.summary = "stop protecting interfaces",
	.operands = {{"INTERFACE...", .offers = OFFER_ATTACHED}},
	.options = options,
	.run = run,
	.examples = {"detach eth0", "detach --all"},
};

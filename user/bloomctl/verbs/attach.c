/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl attach: all the interfaces or none. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/medium.h"
#include "base/capability.h"
#include "base/error.h"
#include "bloomctl/answers.h"
#include "bloomctl/cli.h"
#include "bloomctl/rollback.h"
#include "engine/repair.h"
#include "engine/trial.h"
#include "machine/lifelines.h"
#include "store/wanted.h"

struct request {
	char **names; /* as they were given; resolve() makes them the primary ones */
	int count;
	unsigned int refuse; /* kinds of lifelines */
	enum xb_mode wanted;
	struct xb_netdev device[256];
	enum xb_mode got[256], had[256];
	bool had_any[256];  /* our filter, in mode `had` */
	uint64_t open[256]; /* microseconds that a change of mode left it unfiltered */
	bool renamed;	    /* one was wanted by another name, and is so no more */
};

static void forget_twin(struct request *request, int i)
{
	for (int j = 0; j < i; j++) {
		if (request->device[j].ifindex != request->device[i].ifindex)
			continue;
		request->names[i] = request->names[--request->count];
		return;
	}
}

static int find_device(struct request *request, int i)
{
	struct xb_netdev now;
	int error = xb_netdev_by_name(request->names[i], &now);

	if (error)
		return error;
	if (!now.ifindex)
		return xb_input_error("%s: no such interface", request->names[i]);
	request->device[i] = now;
	return 0;
}

/* What the kernel calls them, each once. */
static int resolve(struct request *request)
{
	for (int i = 0; i < request->count; i++) {
		int count = request->count, error = find_device(request, i);

		if (error)
			return error;
		if (xb_wanted_check(request->device[i].name) ||
		    xb_medium_check(&request->device[i]))
			return -EINVAL;
		request->names[i] = request->device[i].name;
		forget_twin(request, i);
		i -= request->count < count;
	}
	return 0;
}

/* As it was: the former mode, or no filter. */
static void undo_one(struct xb_writer *writer, struct request *request, int i)
{
	struct xb_netdev now;
	uint64_t open;

	if (!request->had_any[i])
		xb_detach(&writer->link, request->device[i].ifindex);
	else if (request->had[i] != request->got[i] &&
		 !xb_netdev_by_index(request->device[i].ifindex, &now) && now.program)
		xb_change_mode(&writer->link, &now, request->had[i], &open);
}

static void undo(struct xb_writer *writer, struct request *request, int done)
{
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	while (done > 0)
		undo_one(writer, request, --done);
	xb_system_error(0, "%s", message);
}

static int attach_one(struct xb_writer *writer, struct request *request, int i)
{
	struct xb_netdev *device = &request->device[i];
	const struct xb_interface *item;
	int error = find_device(request, i);

	if (error)
		return error;
	item = xb_interfaces_find(&writer->interfaces, device->name);
	request->had_any[i] = item && item->now.ifindex == device->ifindex &&
			      item->hold == XB_HOLD_OURS && device->program;
	request->got[i] = request->had[i] = device->mode;
	if (!request->had_any[i] || request->wanted == XB_MODE_AUTO ||
	    request->wanted == device->mode)
		return xb_attach(&writer->link, device, request->wanted, &request->got[i]);
	request->got[i] = request->wanted;
	return xb_change_mode(&writer->link, device, request->wanted, &request->open[i]);
}

static int attach_all(struct xb_writer *writer, struct request *request)
{
	for (int i = 0; i < request->count; i++) {
		int error = attach_one(writer, request, i);

		if (error) {
			undo(writer, request, i);
			return error;
		}
	}
	return 0;
}

/* Before anything is filtered: what must not be. */
static int allow_body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	uint32_t ifindexes[256];
	int error = resolve(request);

	if (error)
		return error;
	for (int i = 0; i < request->count; i++)
		ifindexes[i] = request->device[i].ifindex;
	writer->adopts = true;
	return xb_enforce_allow(writer, ifindexes, (size_t)request->count, true);
}

/* By its own name, and by no alternative one. */
static int want(struct xb_writer *writer, struct request *request, int i)
{
	const struct xb_interfaces *all = &writer->interfaces;
	struct xb_wanted wanted = {.mode = request->wanted};
	int error = 0;

	for (size_t j = 0; !error && j < all->count; j++) {
		bool found;

		if (!all->item[j].wanted[0] ||
		    all->item[j].now.ifindex != request->device[i].ifindex)
			continue;
		request->renamed |= strcmp(all->item[j].wanted, request->names[i]) != 0;
		error = xb_wanted_remove(writer->txn, all->item[j].wanted, &found);
	}
	snprintf(wanted.name, sizeof(wanted.name), "%s", request->names[i]);
	return error ? error : xb_wanted_put(writer->txn, &wanted);
}

static int body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	bool fresh = !writer->linked;
	int error;

	for (int i = 0; i < request->count && !(writer->how & XB_WRITE_COMMIT); i++)
		if (xb_trial_names(&writer->trial, request->names[i]))
			return xb_input_error("%s is on trial; `bloomctl commit` keeps it",
					      request->names[i]);
	writer->adopts = true;
	error = xb_enforce_begin(writer, writer->txn);
	writer->away = false;
	if (!error)
		error = attach_all(writer, request);
	for (int i = 0; !error && i < request->count; i++)
		error = want(writer, request, i);
	/* Only now: a trial, or an attach that fails, refuses nothing. */
	writer->txn->meta.refused |= request->refuse;
	if (error && fresh)
		xb_enforce_end(writer, writer->txn->meta.identity);
	return error;
}

/* Only a filter; the guard is put in front of it when this has returned. */
static int prepare_body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;

	for (int i = 0; i < request->count; i++) {
		const struct xb_interface *item =
			xb_interfaces_find(&writer->interfaces, request->names[i]);

		if (item && item->hold == XB_HOLD_OURS)
			return xb_input_error("%s is attached already: there is nothing to try",
					      request->names[i]);
	}
	writer->adopts = true;
	return xb_enforce_begin(writer, writer->txn);
}

static int attach_body(struct xb_writer *writer, void *context)
{
	struct request *request = context;

	for (int i = 0; i < request->count; i++)
		if (!xb_trial_names(&writer->trial, request->names[i]))
			return xb_system_error(0, "the trial ended before %s was attached",
					       request->names[i]);
	return attach_all(writer, request);
}

#define HOW (XB_WRITE_HEAVY | XB_WRITE_ADOPT)

/* Interfaces are attached behind the guard only: killed at any moment, none stays filtered. */
static int attach_on_trial(const struct cli *cli, struct request *request)
{
	struct xb_wish wish = cli->wish;
	char message[1024];
	bool was_tried;
	int error;

	wish.names = request->names;
	wish.name_count = (size_t)request->count;
	error = xb_write_try(&cli->paths, HOW, &wish, prepare_body, request);
	if (error)
		return error;
	error = xb_write(&cli->paths, HOW, attach_body, request);
	if (!error)
		return 0;
	snprintf(message, sizeof(message), "%s", xb_error_message());
	xb_rollback_abandon(&cli->paths, NULL, &was_tried);
	return xb_system_error(0, "%s", message);
}

static int left_body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;

	writer->left = request->names;
	writer->left_count = (size_t)request->count;
	return 0;
}

/* What was allowed for interfaces that could not be attached is so no more. */
static int forget_allowed(const struct cli *cli, struct request *request, int error)
{
	enum xb_error_class class = xb_error_class();
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	xb_write(&cli->paths, HOW | XB_WRITE_SURVEY, left_body, request);
	if (class == XB_ERROR_INPUT)
		xb_input_error("%s", message);
	else
		xb_system_error(0, "%s", message);
	return error;
}

/* An interface that is in another network namespace was wanted by the former name, and is so by
 * none now. */
static void let_go(const struct cli *cli)
{
	if (xb_write(&cli->paths, HOW, NULL, NULL))
		xb_warning("attached, but not all that follows from it was done: %s",
			   xb_error_message());
}

static int attach_in_steps(const struct cli *cli, struct request *request)
{
	int error = xb_capabilities_need();

	if (!error)
		error = xb_write(&cli->paths, HOW | XB_WRITE_FIRST, allow_body, request);
	if (error)
		return error;
	if (cli->wish.seconds)
		error = attach_on_trial(cli, request);
	else
		error = rollback_write(cli, HOW | XB_WRITE_SURVEY, body, request);
	if (error)
		return forget_allowed(cli, request, error);
	if (request->renamed)
		let_go(cli);
	return 0;
}

static int attach(const struct cli *cli, struct request *request)
{
	int error = attach_in_steps(cli, request);

	xb_write_last();
	return error;
}

static int answer(const struct cli *cli, const struct request *request)
{
	json_t *interfaces = json_array();

	for (int i = 0; i < request->count; i++) {
		const char *mode = xb_mode_name(request->got[i]);
		json_t *one = json_pack("{s:s,s:s}", "name", request->names[i], "mode", mode);

		if (request->open[i])
			json_object_set_new(one, "unfiltered_microseconds",
					    json_integer((json_int_t)request->open[i]));
		json_array_append_new(interfaces, one);
		if (cli->json || cli->quiet)
			continue;
		printf("%s attached in %s mode", request->names[i], mode);
		if (request->open[i])
			printf(", before in %s; unfiltered for %.1f ms between them",
			       xb_mode_name(request->had[i]), (double)request->open[i] / 1000);
		putchar('\n');
	}
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "interfaces", interfaces));
	json_decref(interfaces);
	return cli_done(EXIT_DONE);
}

/* KIND,KIND,... or all */
static int parse_kinds(char *text, unsigned int *kinds)
{
	char *rest = text, *name;

	while ((name = strsep(&rest, ","))) {
		enum xb_lifeline_kind kind;

		if (!strcmp(name, "all"))
			*kinds = XB_LIFELINE_ALL;
		else if (xb_lifeline_parse(name, &kind))
			return -EINVAL;
		else
			*kinds |= 1U << kind;
	}
	return 0;
}

static const struct option_spec options[] = {
	{"mode", "auto|native|skb", 'm',
	 .help = "where XDP runs; auto (the default): native if possible, else skb"},
	{"refuse", "KIND,...", 'r', .help = "kinds that are not to be allowed automatically",
	 .offers = OFFER_KINDS},
	ROLLBACK_OPTION,
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static struct request request = {.wanted = XB_MODE_AUTO}; /* too large for the stack */
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'm' && option != 'r')
			return EXIT_USAGE;
		else if (option == 'm' ? xb_mode_parse(optarg, &request.wanted)
				       : parse_kinds(optarg, &request.refuse))
			return cli_fail();
	request.names = argv + optind;
	request.count = argc - optind;
	if (!request.count)
		return cli_usage(cli, "attach needs an interface");
	if (request.count > 255)
		return cli_usage(cli, "at most 255 interfaces");
	if (attach(cli, &request))
		return cli_fail();
	if (answers_wanted(cli))
		answers_note(cli, request.names, request.count);
	return answer(cli, &request);
}

const struct verb verb_attach = {
	.name = "attach",
	.summary = "protect interfaces",
	.operands = {{"INTERFACE...", .offers = OFFER_INTERFACES}},
	.options = options,
	.run = run,
	.examples = {"attach eth0", "attach eth0 eth1 --mode native --rollback 60"},
};

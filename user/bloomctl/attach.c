/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl attach: all the interfaces or none. */
#include "core/attach.h"
#include "core/capability.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "cli.h"
#include "core/autoallow.h"
#include "core/enforce.h"
#include "core/error.h"
#include "core/ifname.h"
#include "core/lifeline.h"
#include "core/medium.h"
#include "core/rollback.h"
#include "rollback.h"

struct request {
	char **names;
	int count;
	unsigned int refuse; /* kinds of lifelines */
	enum xb_mode wanted;
	enum xb_mode got[256];
};

static void undo(struct xb_writer *writer, const struct request *request, int done, const bool *had)
{
	char message[1024];

	snprintf(message, sizeof(message), "%s", xb_error_message());
	for (int i = 0; i < done; i++)
		if (!had[i])
			xb_detach(&writer->link, request->names[i]);
	xb_system_error(0, "%s", message);
}

static int attach_all(struct xb_writer *writer, struct request *request)
{
	bool had[256];

	for (int i = 0; i < request->count; i++) {
		struct xb_attachment now;
		int error = xb_attachment_of(&writer->link, request->names[i], &now);

		had[i] = now.ours;
		if (!error && now.ours && request->wanted != XB_MODE_AUTO &&
		    request->wanted != now.mode) {
			error = xb_detach(&writer->link, request->names[i]);
			had[i] = false;
		}
		if (!error)
			error = xb_attach(&writer->link, request->names[i], request->wanted,
					  &request->got[i]);
		if (error) {
			undo(writer, request, i, had);
			return error;
		}
	}
	return 0;
}

/* Before anything is filtered: what must not be. */
static int allow_body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;
	uint32_t ifindexes[256];

	for (int i = 0; i < request->count; i++) {
		int error = xb_ifindex(request->names[i], &ifindexes[i]);

		if (error)
			return error;
		if (!ifindexes[i])
			return xb_input_error("%s: no such interface", request->names[i]);
		if (xb_wanted_check(request->names[i]))
			return -EINVAL;
		error = xb_medium_check(ifindexes[i], request->names[i]);
		if (error)
			return error;
	}
	writer->adopts = true;
	return xb_autoallow(writer->txn, writer->linked ? &writer->link : NULL, ifindexes,
			    (size_t)request->count, true);
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
	if (!error)
		error = attach_all(writer, request);
	for (int i = 0; !error && i < request->count; i++) {
		struct xb_wanted wanted = {.mode = request->wanted};

		strcpy(wanted.name, request->names[i]);
		error = xb_wanted_put(writer->txn, &wanted);
	}
	/* Only now: a trial, or an attach that fails, refuses nothing. */
	writer->txn->meta.refused |= request->refuse;
	if (error && fresh)
		xb_enforce_end(writer, writer->txn->meta.identity);
	return error;
}

/* Only a filter; the guard is put in front of it when this has returned. */
static int prepare_body(struct xb_writer *writer, void *context)
{
	struct request *request = context;

	for (int i = 0; i < request->count; i++) {
		struct xb_attachment now = {0};
		int error = writer->linked
				    ? xb_attachment_of(&writer->link, request->names[i], &now)
				    : 0;

		if (error)
			return error;
		if (now.ours)
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

/* Interfaces are attached behind the guard only: killed at any moment, none stays filtered. */
static int attach_on_trial(const struct cli *cli, struct request *request)
{
	struct xb_wish wish = cli->wish;
	char message[1024];
	bool was_tried;
	int error;

	wish.names = request->names;
	wish.name_count = (size_t)request->count;
	error = xb_write_try(&cli->paths, XB_WRITE_HEAVY, &wish, prepare_body, request);
	if (error)
		return error;
	error = xb_write(&cli->paths, XB_WRITE_HEAVY, attach_body, request);
	if (!error)
		return 0;
	snprintf(message, sizeof(message), "%s", xb_error_message());
	xb_rollback_abandon(&cli->paths, NULL, &was_tried);
	xb_write(&cli->paths, XB_WRITE_HEAVY, NULL, NULL);
	return xb_system_error(0, "%s", message);
}

static int attach(const struct cli *cli, struct request *request)
{
	int error = xb_capabilities_need();

	if (!error)
		error = xb_write(&cli->paths, XB_WRITE_HEAVY, allow_body, request);
	if (error)
		return error;
	if (cli->wish.seconds)
		return attach_on_trial(cli, request);
	return rollback_write(cli, XB_WRITE_HEAVY | XB_WRITE_SURVEY, body, request);
}

static int answer(const struct cli *cli, const struct request *request)
{
	json_t *interfaces = json_array();

	for (int i = 0; i < request->count; i++) {
		const char *mode = xb_mode_name(request->got[i]);

		json_array_append_new(interfaces, json_pack("{s:s,s:s}", "name", request->names[i],
							    "mode", mode));
		if (!cli->json && !cli->quiet)
			printf("%s attached in %s mode\n", request->names[i], mode);
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

int verb_attach(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"mode", required_argument, NULL, 'm'},
						{"refuse", required_argument, NULL, 'r'},
						{0}};
	struct request request = {.wanted = XB_MODE_AUTO};
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

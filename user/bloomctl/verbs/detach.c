/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl detach: the interfaces become what they were; with the last, everything leaves the
 * kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "attach/linkaway.h"
#include "attach/pin.h"
#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/forceoff.h"
#include "bloomctl/linkwords.h"
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
	bool force;
	bool on_trial; /* what was named was on trial, and is no more */
	bool filtered; /* what was named is, though nobody wants it, as after a killed detach */
	bool was_left; /* the same, and everything passes */
	struct xb_interfaces before; /* with --all: those there were */
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
	struct request *request = context;
	int error = 0;

	request->was_left |= writer->anchored && xb_guard_any_left(&writer->anchor.guard);
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
		request->was_left |= item->left;
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

static bool has_program(const char *name)
{
	struct xb_netdev now;

	return !xb_netdev_by_name(name, &now) && now.ifindex && now.program;
}

/* Where no pin can be seen, nobody can say that a program on an interface is not ours. */
static int check_sight(const struct cli *cli, const struct request *request)
{
	struct xb_wanted *wanted = NULL;
	struct xb_trial trial = {0};
	size_t count = 0;
	bool any = false;
	int error;

	if (!xb_pin_check_place(cli->paths.pins))
		return 0;
	error = read_wanted(cli, &wanted, &count, &trial);
	for (int i = 0; !error && i < request->count; i++)
		any |= has_program(request->names[i]);
	for (size_t i = 0; !error && request->all && i < count; i++)
		any |= has_program(wanted[i].name);
	xb_trial_free(&trial);
	free(wanted);
	return error || !any ? error : xb_pin_check_place(cli->paths.pins);
}

/* What the kernel shows, beside what the store wants. The caller frees the table in either case. */
static int look(const struct cli *cli, struct xb_interfaces *all)
{
	struct xb_wanted *wanted = NULL;
	struct xb_trial trial = {0};
	struct xb_anchor anchor;
	size_t count = 0;
	bool anchored;
	int error = read_wanted(cli, &wanted, &count, &trial);

	*all = (struct xb_interfaces){0};
	if (error)
		return error;
	error = xb_anchor_open(cli->paths.pins, &anchor);
	anchored = !error;
	if (error == -ENOENT || error == -ESTALE)
		error = 0;
	if (anchored)
		error = xb_anchor_at_home(&anchor);
	if (!error)
		error = xb_interfaces_look(anchored ? &anchor : NULL, wanted, count, &trial, all);
	if (anchored)
		xb_anchor_close(&anchor);
	xb_trial_free(&trial);
	free(wanted);
	return error;
}

/* A name that means nothing is refused before a trial is ended for it. */
static int check(const struct cli *cli, struct request *request)
{
	struct xb_interfaces all;
	int error = look(cli, &all);

	if (!error)
		error = match(&all, request);
	xb_interfaces_free(&all);
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
	int error = check_sight(cli, request);
	bool recorded;

	if (!error && !request->all)
		error = check(cli, request);
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

static bool is_asked(const struct xb_interface *item, const void *context)
{
	const struct request *request = context;

	for (int i = 0; i < request->count; i++)
		if (request->ifindexes[i] == item->now.ifindex)
			return true;
	return request->all;
}

/* Sets name to that of an interface on which the kernel shows a filter that drops, though the store
 * does not want it; "": there is none. */
static int find_kept(const struct cli *cli, const struct request *request, char name[IF_NAMESIZE])
{
	struct xb_interfaces all;
	int error = look(cli, &all);

	name[0] = '\0';
	for (size_t i = 0; !error && i < all.count; i++) {
		const struct xb_interface *item = &all.item[i];

		if (item->now.ifindex && item->hold == XB_HOLD_OURS && !item->left &&
		    !item->wanted[0] && is_asked(item, request))
			snprintf(name, IF_NAMESIZE, "%s", item->now.name);
	}
	xb_interfaces_free(&all);
	return error;
}

/* A filter of another store is none of this store's, but whoever detaches means the interface. */
static int take_off_rest(const struct cli *cli, const struct request *request)
{
	char name[IF_NAMESIZE];
	int taken, error = find_kept(cli, request, name);

	if (error || !name[0])
		return error;
	error = xb_take_off(&cli->paths, request->all ? NULL : request->names, request->count,
			    &taken);
	if (!error)
		error = find_kept(cli, request, name);
	if (!error && name[0])
		error = xb_system_error(0, "%s still has the filter", name);
	if (!error)
		xb_warning("detached, though the filter is that of another store than %s (was that "
			   "directory lost?), whose next command attaches it again",
			   cli->paths.state);
	return error;
}

static int try_again(const struct cli *cli)
{
	return xb_write(&cli->paths, HOW, NULL, NULL, cli->written);
}

/* What is known already is told again to who asks for it again. */
static void tell_left(const struct cli *cli, const struct request *request)
{
	const struct xb_interfaces *all = &cli->written->interfaces;

	for (size_t i = 0; request->was_left && i < all->count; i++)
		if (all->item[i].left && is_asked(&all->item[i], request))
			xb_warning("%s still has the program, which lets everything pass; `ip link "
				   "set dev %s mtu 1500 && bloomctl detach %s` takes it off",
				   all->item[i].now.name, all->item[i].now.name,
				   all->item[i].now.name);
}

static int detach(const struct cli *cli, struct request *request)
{
	int error = detach_in_steps(cli, request);

	if (!error)
		error = take_off_rest(cli, request);
	xb_write_last();
	if (!error && request->force)
		error = forceoff(cli, is_asked, request, try_again);
	request->was_left |= request->force;
	if (!error)
		tell_left(cli, request);
	return error;
}

static json_t *left_json(const struct xb_interfaces *all)
{
	json_t *names = json_array();

	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].left)
			json_array_append_new(names, json_string(all->item[i].now.name));
	return names;
}

static int make_room(struct request *request)
{
	size_t count = (size_t)request->count;

	request->ifindexes = calloc(count + 1, sizeof(*request->ifindexes));
	request->now = calloc(count + 1, sizeof(*request->now));
	request->left = calloc(2 * count + 1, sizeof(*request->left));
	return request->ifindexes && request->now && request->left ? 0 : xb_out_of_memory();
}

/* Of a link that was away: the name of the interface now. */
static bool find_away(const struct xb_link *link, struct xb_netdev *now)
{
	return link->away && !xb_netdev_by_index(link->ifindex, now) && now->ifindex;
}

static int answer(const struct cli *cli, const struct xb_links *links)
{
	json_t *said =
		json_pack("{s:b,s:o}", "detached", 1, "left", left_json(&cli->written->interfaces));
	json_t *interfaces = json_array();
	struct xb_netdev now;

	for (size_t i = 0; i < links->count; i++)
		if (find_away(&links->item[i], &now))
			json_array_append_new(interfaces,
					      json_pack("{s:s,s:I}", "name", now.name,
							"link_away_microseconds",
							(json_int_t)links->item[i].away));
	if (json_array_size(interfaces))
		json_object_set(said, "interfaces", interfaces);
	json_decref(interfaces);
	return cli_json(cli, said);
}

static void print_one(const char *name, uint32_t ifindex, const struct xb_links *links)
{
	const struct xb_link *link = ifindex ? xb_links_of(links, ifindex) : NULL;
	char text[LINK_TEXT];

	printf("%s detached", name);
	if (link && link->away)
		printf("; %s", link_words(link, text));
	putchar('\n');
}

static int tell(const struct cli *cli, const struct request *request, const struct xb_links *links)
{
	for (int i = 0; i < request->count && !cli->quiet; i++)
		print_one(request->now[i], request->ifindexes[i], links);
	for (size_t i = 0; i < request->before.count && !cli->quiet; i++) {
		const struct xb_interface *item = &request->before.item[i];

		if (item->wanted[0] || item->hold == XB_HOLD_OURS)
			print_one(last_name(item), item->now.ifindex, links);
	}
	return cli_done(EXIT_DONE);
}

static int finish(const struct cli *cli, const struct request *request, struct xb_links *links)
{
	xb_links_wait(links, XB_LINKS_LIMIT);
	return cli->json ? answer(cli, links) : tell(cli, request, links);
}

static void free_request(struct request *request)
{
	free(request->ifindexes);
	free(request->now);
	free(request->left);
	xb_interfaces_free(&request->before);
}

static const struct option_spec options[] = {
	{"all", NULL, 'a', .help = "all interfaces", .instead = true},
	{"force", NULL, 'f', .help = "lower the MTU for the moment where the kernel refuses"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	static struct xb_links links;
	struct request request = {0};
	int option, error, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option == 'a')
			request.all = true;
		else if (option == 'f')
			request.force = true;
		else
			return EXIT_USAGE;
	request.names = argv + optind;
	request.count = argc - optind;
	if (request.all == (request.count > 0))
		return cli_usage(cli, "detach takes interfaces, or --all");
	xb_links_collect(&links);
	error = make_room(&request);
	/* For the answer alone: what cannot be told is detached all the same. */
	if (!error && request.all && look(cli, &request.before))
		xb_error_clear();
	if (!error)
		error = detach(cli, &request);
	code = error ? cli_fail() : finish(cli, &request, &links);
	free_request(&request);
	return error == 1 ? EXIT_ABSENT : code;
}

const struct verb verb_detach = {
	.name = "detach",
	.summary = "stop protecting interfaces",
	.operands = {{"INTERFACE...", .offers = OFFER_ATTACHED}},
	.options = options,
	.run = run,
	.examples = {"detach eth0", "detach --all"},
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl attach */
#include "engine/attachment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/driver.h"
#include "attach/linkaway.h"
#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/linkwords.h"
#include "bloomctl/rollback.h"
#include "bloomctl/vethtx.h"
#include "machine/lifelines.h"

static json_t *as_json(const struct xb_attachment *attachment, int i, const struct xb_link *link)
{
	json_t *one = json_pack("{s:s,s:s}", "name", attachment->names[i], "mode",
				xb_mode_name(attachment->got[i]));

	if (attachment->open[i])
		json_object_set_new(one, "unfiltered_microseconds",
				    json_integer((json_int_t)attachment->open[i]));
	if (link && link->away)
		json_object_set_new(one, "link_away_microseconds",
				    json_integer((json_int_t)link->away));
	return one;
}

static void print(const struct xb_attachment *attachment, int i, const struct xb_link *link)
{
	char text[LINK_TEXT];

	printf("%s attached in %s mode", attachment->names[i], xb_mode_name(attachment->got[i]));
	if (attachment->open[i])
		printf(", before in %s; unfiltered for %.1f ms between them",
		       xb_mode_name(attachment->had[i]), (double)attachment->open[i] / 1000);
	if (link && link->away)
		printf("; %s", link_words(link, text));
	putchar('\n');
}

static int answer(const struct cli *cli, const struct xb_attachment *attachment,
		  const struct xb_links *links)
{
	json_t *interfaces = json_array();

	for (int i = 0; i < attachment->count; i++) {
		const struct xb_link *link = xb_links_of(links, attachment->device[i].ifindex);

		json_array_append_new(interfaces, as_json(attachment, i, link));
		if (!cli->json && !cli->quiet)
			print(attachment, i, link);
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
	 .offers = OFFER_KINDS, .repeats = true},
	ROLLBACK_OPTION,
	{0},
};

/* What is attached keeps its mode: a change would let packets pass in between. */
static void tell_kept(const struct xb_attachment *attachment)
{
	for (int i = 0; i < attachment->count; i++) {
		const char *name = attachment->names[i];

		if (attachment->asked->mode == XB_MODE_AUTO && attachment->had_any[i] &&
		    attachment->had[i] == XB_MODE_SKB &&
		    !xb_driver_check(&attachment->device[i], XB_MODE_NATIVE))
			xb_notice("%s was attached in skb mode before, and stays so; `bloomctl "
				  "attach %s --mode native` tries native mode",
				  name, name);
	}
}

/* As in a recipe, after another one. */
static void tell_untried(struct cli *cli)
{
	cli->wish->seconds = 0;
	xb_notice("attached already, so nothing is on trial, and there is nothing to commit");
}

static int make(struct cli *cli)
{
	static struct xb_attachment attachment;
	static struct xb_links links;

	xb_links_collect(&links);
	if (xb_attach_wish(&cli->paths, cli->wish, &attachment, cli->written))
		return cli_fail();
	xb_links_wait(&links, XB_LINKS_LIMIT);
	if (attachment.untried)
		tell_untried(cli);
	tell_kept(&attachment);
	if (vethtx_wanted(cli))
		vethtx_note(cli, attachment.names, attachment.count);
	return answer(cli, &attachment, &links);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_ATTACH};
	struct xb_attach_request *attach = &request.attach;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'm' && option != 'r')
			return EXIT_USAGE;
		else if (option == 'm' ? xb_mode_parse(optarg, &attach->mode)
				       : parse_kinds(optarg, &attach->refuse))
			return cli_fail();
	attach->names = argv + optind;
	attach->count = (uint32_t)(argc - optind);
	if (!attach->count)
		return cli_usage(cli, "attach needs an interface");
	if (attach->count > XB_ATTACHMENT_MAX)
		return cli_usage(cli, "at most %d interfaces", XB_ATTACHMENT_MAX);
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_attach = {
	.group = "interfaces",
	.name = "attach",
	.summary = "protect interfaces",
	.operands = {{"INTERFACE...", .offers = OFFER_INTERFACES}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"attach eth0", "attach eth0 eth1 --mode native --rollback 60"},
};

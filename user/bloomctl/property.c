/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/property.h"

#include <stdio.h>

#include "base/error.h"
#include "store/membership.h"

/* A list and the words for its property. */
struct answer {
	const char *list, *stored; /* stored: NULL if there is no such list yet */
	const char *ontrial;	   /* NULL: nothing is on trial */
	char room[2][PROPERTY_WORD];
};

static void find(struct answer *answer, const struct property *property, const char *name,
		 const struct xb_list *list, const struct ontrial *ontrial)
{
	answer->list = name;
	answer->stored = list ? property->stored(list, answer->room[0]) : NULL;
	answer->ontrial = property->ontrial(ontrial, name, answer->room[1]);
}

static json_t *answer_json(const struct property *property, const struct answer *answer,
			   const struct ontrial *ontrial)
{
	json_t *trial =
		answer->ontrial ? ontrial_json(ontrial, property->name, answer->ontrial) : NULL;

	return json_pack("{s:s,s:s?,s:o*}", "list", answer->list, property->name, answer->stored,
			 "trial", trial);
}

static void print_answer(const struct answer *answer, const struct ontrial *ontrial)
{
	fputs(answer->ontrial ? answer->ontrial : answer->stored, stdout);
	if (answer->ontrial)
		ontrial_print(stdout, ontrial->left,
			      answer->stored ? answer->stored : "no such list");
	putchar('\n');
}

static int show_all(const struct cli *cli, const struct property *property,
		    const struct xb_txn *txn, const struct ontrial *ontrial)
{
	json_t *all = json_array();
	struct answer answer;

	for (size_t i = 0; txn && i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];

		if (!xb_list_has_verdict(list))
			continue;
		find(&answer, property, list->name, list, ontrial);
		if (cli->json) {
			json_array_append_new(all, answer_json(property, &answer, ontrial));
		} else {
			printf("%s ", list->name);
			print_answer(&answer, ontrial);
		}
	}
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", property->plural, all));
	json_decref(all);
	return cli_done(EXIT_DONE);
}

static int show_one(const struct cli *cli, const struct property *property, struct xb_txn *txn,
		    const char *name, const struct ontrial *ontrial)
{
	const struct xb_list *list = txn ? xb_list_find(txn, name) : NULL;
	struct answer answer;

	if (list && !xb_list_has_verdict(list)) {
		xb_input_error("list %s has no %s: what it allows passes", name, property->name);
		return cli_fail();
	}
	find(&answer, property, name, list, ontrial);
	if (!answer.stored && !answer.ontrial) {
		cli_no_list(name);
		return cli_fail();
	}
	if (cli->json)
		return cli_json(cli, answer_json(property, &answer, ontrial));
	print_answer(&answer, ontrial);
	return cli_done(EXIT_DONE);
}

struct asked {
	const struct property *property;
	const char *list; /* NULL: all */
};

static int show(const struct cli *cli, struct xb_txn *txn, const struct ontrial *ontrial,
		void *context)
{
	const struct asked *asked = context;

	return asked->list ? show_one(cli, asked->property, txn, asked->list, ontrial)
			   : show_all(cli, asked->property, txn, ontrial);
}

int property_begin(struct cli *cli, int argc, char **argv, const struct option_spec *options,
		   const struct property *property)
{
	const char *list = NULL;
	int words;

	if (cli_option(cli, argc, argv, options) != -1)
		return EXIT_USAGE;
	words = argc - optind;
	if (words > 2)
		return cli_usage(cli, "%s takes %s", property->name, property->operands);
	if (words)
		list = argv[optind];
	if (list && !cli_list_name(cli, list))
		return EXIT_USAGE;
	if (words < 2 && cli->wish->seconds)
		return cli_usage(cli, "without %s there is nothing to roll back", property->value);
	if (words < 2)
		return ontrial_show(cli, show, &(struct asked){property, list});
	return cli_list_to_fill(cli, list) ? -1 : EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* add and del: parse, apply, answer. */
#include "bloomctl/edit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/absent.h"
#include "bloomctl/addnotes.h"
#include "bloomctl/exempted.h"
#include "engine/writepath.h"
#include "model/comment.h"
#include "model/range.h"

#define ADD_OPTIONS                                                                                \
	{"comment", "TEXT", 'c', .help = "a text to show with the entries"},                       \
		{"timeout", "SECONDS", 't', .help = "take the entries out after this time"},       \
		{"exist", NULL, 'e', .help = "ignore entries that are in the list already"},       \
	{                                                                                          \
		"force", NULL, 'f', .help = "take very short prefixes and single labels too"       \
	}

const struct option_spec edit_add_options[] = {
	{"list", "NAME", 'l', .help = "the list to add to (default: default)",
	 .offers = OFFER_LISTS_TO_FILL},
	ADD_OPTIONS,
	{0},
};

const struct option_spec edit_allow_options[] = {
	{"list", "NAME", 'l', .help = "the list to add to (default: allow)", .offers = OFFER_LISTS},
	ADD_OPTIONS,
	{0},
};

const struct option_spec edit_del_options[] = {
	{"within", "ENTRY", 'w', .help = "all that lies in this prefix or domain", .instead = true},
	{"list", "NAME", 'l', .help = "the list to take them out of (default: all)",
	 .offers = OFFER_LISTS},
	{"exist", NULL, 'e', .help = "ignore entries and lists that are not there"},
	{0},
};

/* What else a label of this kind can be meant for: another command lists that. Returns hint. */
static const char *other_meaning(const char *label, char hint[96])
{
	size_t size = strlen(label), digits = strspn(label + (size > 2 ? 2 : size), "0123456789");

	*hint = '\0';
	if (size == 2)
		snprintf(hint, 96, " or a country, for which there is `import FILE --country %c%c`",
			 toupper(label[0]), toupper(label[1]));
	else if (!strncmp(label, "as", 2) && digits && digits + 2 == size && digits <= 10)
		snprintf(hint, 96, " or a network, for which there is `import FILE --asn %.10s`",
			 label + 2);
	return hint;
}

static int too_wide(const struct xb_edit_refusal *refusal)
{
	char text[XB_ENTRY_TEXT], hint[96];

	xb_entry_format(&refusal->entry, text);
	if (!xb_entry_is_name(&refusal->entry))
		return xb_input_error("%s is a prefix %s; use --force if it is meant", text,
				      refusal->reason);
	return xb_input_error("%s has no dot and may be a whole top-level domain%s; use --force if "
			      "it is meant",
			      text, other_meaning(text, hint));
}

static int make_message(const struct xb_edit_refusal *refusal)
{
	char text[XB_ENTRY_TEXT];

	switch (refusal->why) {
	case XB_EDIT_TOO_WIDE:
		return too_wide(refusal);
	case XB_EDIT_REPEATED:
		return xb_input_error("%s is named twice", xb_entry_format(&refusal->entry, text));
	case XB_EDIT_NO_LIST:
		return cli_no_list(refusal->list);
	case XB_EDIT_LISTED:
		return xb_input_error("%s is already in list %s; --exist ignores this",
				      xb_entry_format(&refusal->entry, text), refusal->list);
	case XB_EDIT_AUTOMATIC:
		return xb_input_error("%s is allowed automatically (%.*s); `bloomctl allow "
				      "refuse %s` ends that",
				      xb_entry_format(&refusal->entry, text),
				      (int)refusal->reason_size, refusal->reason, refusal->kind);
	case XB_EDIT_VOID:
		xb_input_error("nothing lies within %s%s%s", xb_entry_format(&refusal->entry, text),
			       refusal->list ? " in list " : "",
			       refusal->list ? refusal->list : "");
		break;
	case XB_EDIT_ABSENT:
		absent_error(&refusal->absence, &refusal->entry, refusal->list);
	}
	return 1;
}

int edit_refused(struct xb_edit_refusal *refusal)
{
	int error = make_message(refusal);

	xb_edit_refusal_free(refusal);
	return error;
}

static int take(struct xb_edit *edit, const struct xb_entry *entry)
{
	struct xb_edit_refusal refusal = {0};
	int error = xb_edit_take(edit, entry, &refusal);

	return error == XB_EDIT_REFUSED ? edit_refused(&refusal) : error;
}

static int take_span(struct xb_edit *edit, struct xb_span span)
{
	struct xb_entry prefix;
	int error = 0;

	for (bool more = true; more && !error;) {
		more = xb_span_next(&span, &prefix);
		error = take(edit, &prefix);
	}
	return error;
}

static int parse_entry(const char *word, struct xb_edit *edit)
{
	uint8_t form[XB_NAME_BYTES];
	char text[XB_ENTRY_TEXT];
	struct xb_entry entry;
	struct xb_span span;
	bool host_bits = false;
	int error = edit->terms.within ? -ENOENT : xb_span_parse(word, strlen(word), &span);

	if (error != -ENOENT)
		return error ? error : take_span(edit, span);
	error = (edit->terms.allow ? xb_entry_parse : xb_entry_parse_listed)(
		word, strlen(word), form, &entry, &host_bits);
	if (!error)
		error = take(edit, &entry);
	if (!error && host_bits)
		xb_notice("%s has host bits set; taken as %s", word, xb_entry_format(&entry, text));
	return error;
}

static int parse_entries(int argc, char **argv, struct xb_edit *edit)
{
	struct xb_edit_refusal refusal = {0};
	int error = 0;

	/* That an entry is taken in other words is said only if it is taken. */
	xb_notices_hold();
	for (int i = 0; !error && i < argc; i++)
		error = parse_entry(argv[i], edit);
	xb_notices_resume();
	if (!error)
		error = xb_edit_check(edit, &refusal);
	if (error == XB_EDIT_REFUSED)
		error = edit_refused(&refusal);
	return error ? cli_fail() : 0;
}

static bool has_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (*argv[i] == '-')
			return true;
	return false;
}

/* *within: the value of that option. */
static int take_options(const struct cli *cli, int argc, char **argv, struct xb_edit_terms *terms,
			char **within)
{
	const struct option_spec *options = !terms->add	   ? edit_del_options
					    : terms->allow ? edit_allow_options
							   : edit_add_options;
	int option;
	uint64_t number;

	optind = 0;
	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		switch (option) {
		case 'l':
			terms->list = optarg;
			break;
		case 'w':
			terms->within = true;
			*within = optarg;
			break;
		case 'c':
			terms->comment = optarg;
			if (xb_comment_check(optarg, strlen(optarg)))
				return cli_fail();
			break;
		case 't':
			if (!cli_seconds(cli, "--timeout", optarg, 1, 2000000000, &number))
				return EXIT_USAGE;
			terms->timeout = (uint32_t)number;
			break;
		case 'e':
			terms->exist = true;
			break;
		case 'f':
			terms->force = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (!terms->list)
		return 0;
	if (terms->add && !terms->allow)
		return cli_list_to_fill(cli, terms->list) ? 0 : EXIT_USAGE;
	return cli_list_name(cli, terms->list) ? 0 : EXIT_USAGE;
}

int edit_parse(const struct cli *cli, int argc, char **argv, struct xb_edit *edit)
{
	struct xb_edit_terms *terms = &edit->terms;
	char *within;
	int code = 0;

	*edit = (struct xb_edit){.terms.allow = !strcmp(argv[0], "allow")};
	argv += terms->allow;
	argc -= terms->allow;
	terms->add = !strcmp(argv[0], "add");
	/* Most lines of a long batch have none. */
	if (has_options(argc, argv))
		code = take_options(cli, argc, argv, terms, &within);
	else
		optind = 1;
	if (code)
		return code;
	if (terms->within ? optind < argc : optind == argc)
		return cli_usage(cli,
				 terms->within ? "--within stands for the entries of %s"
					       : "%s needs at least one entry",
				 argv[0]);
	code = terms->within ? parse_entries(1, &within, edit)
			     : parse_entries(argc - optind, argv + optind, edit);
	if (code)
		xb_edit_free(edit);
	return code;
}

struct run {
	struct xb_edit *edit;
	struct xb_edit_result result;
};

static int body(struct xb_writer *writer, void *context)
{
	struct run *run = context;
	struct xb_edit_refusal refusal = {0};
	int error = xb_edit_all(writer, run->edit, &run->result, &refusal);

	return error == XB_EDIT_REFUSED ? edit_refused(&refusal) : error;
}

static int tell_added(const struct cli *cli, const struct xb_edit *edit,
		      const struct xb_edit_result *result)
{
	exempted_note(&result->exempt);
	addnotes_tell(cli, edit);
	if (!cli->json)
		return EXIT_DONE;
	return cli_json(cli, json_pack("{s:I,s:I,s:I,s:I}", "added", (json_int_t)result->added,
				       "renewed", (json_int_t)result->renewed, "unchanged",
				       (json_int_t)result->unchanged, "exempt",
				       (json_int_t)result->exempt.count));
}

static json_t *names_json(const struct xb_list_names *lists)
{
	json_t *names = json_array();

	for (size_t i = 0; i < lists->count; i++)
		json_array_append_new(names, json_string(lists->item[i].text));
	return names;
}

static json_t *removed_json(const struct xb_edit_result *result)
{
	json_t *lists = json_object(), *covered = json_object();
	char text[XB_ENTRY_TEXT], how[ABSENT_HOW];

	for (size_t i = 0; i < result->count; i++) {
		const struct xb_edit_removed *item = &result->item[i];

		xb_entry_format(item->entry, text);
		json_object_set_new(lists, text, names_json(&item->lists));
		if (item->cover.found)
			json_object_set_new(
				covered, text,
				json_string(absent_cover(&item->cover, item->entry, how)));
	}
	return json_pack("{s:I,s:I,s:o,s:o}", "removed", (json_int_t)result->removed, "absent",
			 (json_int_t)result->absent, "lists", lists, "covered", covered);
}

static void print_removed(const struct xb_edit_removed *item)
{
	char text[XB_ENTRY_TEXT];

	printf("%s taken out of", xb_entry_format(item->entry, text));
	for (size_t i = 0; i < item->lists.count; i++)
		printf(" %s", item->lists.item[i].text);
	putchar('\n');
}

static int tell_removed(const struct cli *cli, const struct xb_edit_result *result)
{
	char text[XB_ENTRY_TEXT], how[ABSENT_HOW];

	for (size_t i = 0; i < result->count; i++) {
		const struct xb_edit_removed *item = &result->item[i];

		if (item->cover.found)
			xb_notice("%s has no entry of its own any more, but %s",
				  xb_entry_format(item->entry, text),
				  absent_cover(&item->cover, item->entry, how));
	}
	if (cli->json)
		return cli_json(cli, removed_json(result));
	if (cli->quiet)
		return EXIT_DONE;
	for (size_t i = 0; i < result->count; i++)
		print_removed(&result->item[i]);
	return cli_done(EXIT_DONE);
}

int edit_run(struct cli *cli, int argc, char **argv)
{
	struct xb_edit edit;
	struct run run = {.edit = &edit};
	int code = edit_parse(cli, argc, argv, &edit), error;

	if (code) {
		xb_notices_settle(false);
		return code;
	}
	run.result.itemizes = !edit.terms.add;
	error = xb_write(&cli->paths, 0, body, &run, cli->written);
	xb_notices_settle(!error);
	if (error)
		code = cli_fail();
	else
		code = edit.terms.add ? tell_added(cli, &edit, &run.result)
				      : tell_removed(cli, &run.result);
	xb_edit_result_free(&run.result);
	xb_edit_free(&edit);
	return error == 1 ? EXIT_ABSENT : code;
}

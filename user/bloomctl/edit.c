/* SPDX-License-Identifier: GPL-2.0-or-later */
/* add and del: parse, apply, answer. */
#include "bloomctl/edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomctl/absent.h"
#include "bloomctl/exempted.h"
#include "model/bogon.h"
#include "store/membership.h"

#define ADD_OPTIONS                                                                                \
	{"comment", "TEXT", 'c', .help = "what is to be told with the entries"},                   \
		{"timeout", "SECONDS", 't', .help = "take them out then"},                         \
		{"exist", NULL, 'e', .help = "what is in the list already is no error"},           \
	{                                                                                          \
		"force", NULL, 'f', .help = "also a very short prefix or a single label"           \
	}

const struct option_spec edit_add_options[] = {
	{"list", "NAME", 'l', .help = "the list; default if none is named",
	 .offers = OFFER_LISTS_TO_FILL},
	ADD_OPTIONS,
	{0},
};

const struct option_spec edit_allow_options[] = {
	{"list", "NAME", 'l', .help = "the list; allow if none is named", .offers = OFFER_LISTS},
	ADD_OPTIONS,
	{0},
};

const struct option_spec edit_del_options[] = {
	{"list", "NAME", 'l', .help = "every list if none is named", .offers = OFFER_LISTS},
	{"exist", NULL, 'e', .help = "what is not there is no error"},
	{0},
};

void edit_free(struct edit *edit)
{
	free(edit->entries);
	xb_arena_free(&edit->names);
	edit->entries = NULL;
}

/* What import leaves out is not to be typed by accident either. */
static int check_width(const struct edit_terms *terms, const struct xb_entry *entry)
{
	const char *why = terms->add && !terms->force ? xb_too_wide(entry) : NULL;
	char text[XB_ENTRY_TEXT];

	if (!why)
		return 0;
	if (xb_entry_is_name(entry))
		why = "has no dot and may be a whole top-level domain";
	return xb_input_error("%s %s%s; use --force if it is meant", xb_entry_format(entry, text),
			      xb_entry_is_name(entry) ? "" : "is a prefix ", why);
}

static int parse_entry(struct edit *edit, const char *text, bool *host_bits)
{
	struct xb_entry *entry = &edit->entries[edit->count];
	uint8_t form[XB_NAME_BYTES];
	int error = xb_entry_parse(text, strlen(text), form, entry, host_bits);

	if (!error)
		error = check_width(&edit->terms, entry);
	if (!error && xb_entry_is_name(entry)) {
		entry->name = xb_arena_copy(&edit->names, form, entry->length);
		error = entry->name ? 0 : -ENOMEM;
	}
	edit->count += !error;
	return error;
}

static int parse_entries(const struct cli *cli, int argc, char **argv, struct edit *edit)
{
	edit->entries = calloc((size_t)argc, sizeof(*edit->entries));
	if (!edit->entries)
		return xb_out_of_memory(), cli_fail();
	for (int i = 0; i < argc; i++) {
		char text[XB_ENTRY_TEXT];
		bool host_bits;

		if (parse_entry(edit, argv[i], &host_bits))
			return cli_fail();
		if (host_bits)
			cli_note(cli, "bloomctl: %s has host bits set; taken as %s", argv[i],
				 xb_entry_format(&edit->entries[i], text));
		if (edit->terms.allow)
			edit->entries[i] = xb_entry_allow(&edit->entries[i]);
	}
	return 0;
}

/* Else the second of the two would be told as already listed, or as absent. */
static int refuse_repeats(const struct edit *edit)
{
	struct xb_entry *sorted = NULL;
	char text[XB_ENTRY_TEXT];
	int error;

	if (edit->count < 2 || edit->terms.exist)
		return 0;
	sorted = xb_array_alloc(edit->count, sizeof(*sorted));
	if (!sorted)
		return xb_out_of_memory();
	memcpy(sorted, edit->entries, edit->count * sizeof(*sorted));
	error = xb_entry_sort(&sorted, edit->count, sizeof(*sorted));
	for (size_t i = 1; !error && i < edit->count; i++)
		if (!xb_entry_compare(&sorted[i - 1], &sorted[i]))
			error = xb_input_error("%s is named twice",
					       xb_entry_format(&sorted[i], text));
	free(sorted);
	return error;
}

static bool has_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (*argv[i] == '-')
			return true;
	return false;
}

static int take_options(const struct cli *cli, int argc, char **argv, struct edit_terms *terms)
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

int edit_parse(const struct cli *cli, int argc, char **argv, struct edit *edit)
{
	struct edit_terms *terms = &edit->terms;
	int code = 0;

	*edit = (struct edit){.terms.allow = !strcmp(argv[0], "allow")};
	argv += terms->allow;
	argc -= terms->allow;
	terms->add = !strcmp(argv[0], "add");
	/* Most lines of a long batch have none. */
	if (has_options(argc, argv))
		code = take_options(cli, argc, argv, terms);
	else
		optind = 1;
	if (code)
		return code;
	if (optind == argc)
		return cli_usage(cli, "%s needs at least one entry", argv[0]);
	code = parse_entries(cli, argc - optind, argv + optind, edit);
	if (!code && refuse_repeats(edit))
		code = cli_fail();
	if (code)
		edit_free(edit);
	return code;
}

static const char *list_of(const struct edit_terms *terms)
{
	return terms->list ? terms->list : terms->allow ? "allow" : "default";
}

static int apply_add(struct xb_writer *writer, const struct edit_terms *terms,
		     const struct xb_entry *entry, struct edit_result *result)
{
	struct xb_membership member = {
		.list = terms->id,
		.added = writer->now,
		.comment = terms->comment,
		.comment_size = terms->comment ? (uint32_t)strlen(terms->comment) : 0,
	};
	unsigned int given =
		(terms->timeout ? XB_RENEW_EXPIRY : 0) | (terms->comment ? XB_RENEW_COMMENT : 0);
	char text[XB_ENTRY_TEXT];
	enum xb_put put;
	int error = xb_expiry(writer->now, terms->timeout, &member.expires);

	if (!error)
		error = xb_member_put(writer->txn, entry, &member, terms->exist ? given : 0, &put);
	if (error)
		return error;
	if (put == XB_PUT_SAME && !terms->exist)
		return xb_input_error("%s is already in list %s; --exist ignores this",
				      xb_entry_format(entry, text), list_of(terms));
	result->added += put == XB_PUT_LISTED || put == XB_PUT_JOINED;
	result->renewed += put == XB_PUT_RENEWED;
	result->unchanged += put == XB_PUT_SAME;
	return 0;
}

/* The names of the lists that have the entry, of which only `only` counts if given. */
static json_t *lists_of(struct xb_txn *txn, const struct xb_entry *entry, uint32_t only)
{
	struct xb_members members;
	struct xb_membership member;
	json_t *names = json_array();

	if (xb_members_of(txn, entry, &members))
		return names;
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && (only == XB_ANY_LIST || only == list->id))
			json_array_append_new(names, json_string(list->name));
	}
	return names;
}

/* What is allowed by itself would come back; it can only be refused as a kind. */
static int check_auto(struct xb_txn *txn, const struct edit_terms *terms,
		      const struct xb_entry *entry)
{
	struct xb_membership member;
	struct xb_members members;
	char text[XB_ENTRY_TEXT];

	if (!terms->allow || terms->list || xb_members_of(txn, entry, &members))
		return 0;
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && xb_list_is_auto(list))
			return xb_input_error("%s is allowed by itself (%.*s); `bloomctl allow "
					      "refuse %s` ends that",
					      xb_entry_format(entry, text),
					      (int)member.comment_size, member.comment,
					      list->name + strlen(XB_LIST_AUTO));
	}
	return 0;
}

static int apply_del(struct xb_writer *writer, const struct edit_terms *terms,
		     const struct xb_entry *entry, struct edit_result *result)
{
	json_t *names = result->lists_left ? lists_of(writer->txn, entry, terms->id) : NULL;
	enum xb_removal removal;
	char text[XB_ENTRY_TEXT];
	int error = check_auto(writer->txn, terms, entry);

	if (!error)
		error = xb_member_remove(writer->txn, entry, terms->id, &removal);
	xb_entry_format(entry, text);
	if (names && !error && removal != XB_REMOVAL_ABSENT) {
		json_object_set(result->lists_left, text, names);
		json_object_set_new(result->covered, text, absent_cover(writer->txn, entry));
	}
	json_decref(names);
	if (error)
		return error;
	if (removal == XB_REMOVAL_ABSENT && !terms->exist)
		return absent_error(writer->txn, entry, terms->list);
	result->absent += removal == XB_REMOVAL_ABSENT;
	result->removed += removal != XB_REMOVAL_ABSENT;
	return 0;
}

int edit_begin(struct xb_writer *writer, struct edit_terms *terms)
{
	struct xb_list *list = NULL;
	int error = 0;

	terms->id = XB_ANY_LIST;
	if (terms->add)
		error = xb_list_need(writer->txn, list_of(terms), &list);
	else if (terms->list)
		list = xb_list_by_name(writer->txn, terms->list);
	if (error)
		return error;
	if (!list && terms->list && !terms->exist)
		return cli_no_list(terms->list);
	if (list)
		terms->id = list->id;
	else if (terms->list)
		terms->id = XB_NO_LIST;
	return 0;
}

int edit_apply(struct xb_writer *writer, const struct edit_terms *terms,
	       const struct xb_entry *entry, struct edit_result *result)
{
	return terms->add ? apply_add(writer, terms, entry, result)
			  : apply_del(writer, terms, entry, result);
}

struct run {
	struct edit *edit;
	struct edit_result result;
};

static int body(struct xb_writer *writer, void *context)
{
	struct run *run = context;
	json_t *lists = run->result.lists_left, *covered = run->result.covered;
	int error;

	json_object_clear(lists);
	json_object_clear(covered);
	run->result = (struct edit_result){.lists_left = lists, .covered = covered};
	error = edit_begin(writer, &run->edit->terms);
	for (size_t i = 0; !error && i < run->edit->count; i++)
		error = edit_apply(writer, &run->edit->terms, &run->edit->entries[i], &run->result);
	for (size_t i = 0; !error && run->edit->terms.add && i < run->edit->count; i++)
		if (!xb_entry_is_allow(&run->edit->entries[i]))
			error = xb_exempt_entry(writer->txn, &run->edit->entries[i],
						&run->result.exempt);
	return error;
}

static int tell_added(const struct cli *cli, const struct edit_result *result)
{
	exempted_note(cli, &result->exempt);
	if (!cli->json)
		return EXIT_DONE;
	return cli_json(cli, json_pack("{s:I,s:I,s:I,s:I}", "added", (json_int_t)result->added,
				       "renewed", (json_int_t)result->renewed, "unchanged",
				       (json_int_t)result->unchanged, "exempt",
				       (json_int_t)result->exempt.count));
}

static int tell_removed(const struct cli *cli, const struct edit_result *result)
{
	const char *entry;
	json_t *names, *name;
	size_t i;

	json_object_foreach(result->covered, entry, name)
		cli_note(cli, "bloomctl: %s has no entry of its own any more, but %s", entry,
			 json_string_value(name));
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:I,s:O,s:O}", "removed",
					       (json_int_t)result->removed, "absent",
					       (json_int_t)result->absent, "lists",
					       result->lists_left, "covered", result->covered));
	if (cli->quiet)
		return EXIT_DONE;
	json_object_foreach(result->lists_left, entry, names)
	{
		printf("%s taken out of", entry);
		json_array_foreach(names, i, name) printf(" %s", json_string_value(name));
		putchar('\n');
	}
	return cli_done(EXIT_DONE);
}

int edit_run(struct cli *cli, int argc, char **argv)
{
	struct edit edit;
	struct run run = {.edit = &edit};
	struct edit_result *result = &run.result;
	int code = edit_parse(cli, argc, argv, &edit), error;

	if (code)
		return code;
	if (!edit.terms.add) {
		result->lists_left = json_object();
		result->covered = json_object();
	}
	error = xb_write(&cli->paths, 0, body, &run);
	if (error)
		code = cli_fail();
	else
		code = edit.terms.add ? tell_added(cli, result) : tell_removed(cli, result);
	json_decref(result->lists_left);
	json_decref(result->covered);
	edit_free(&edit);
	return error == 1 ? EXIT_ABSENT : code;
}

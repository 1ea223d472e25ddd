/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl import: one file, one list, one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/lock.h"
#include "bloomctl/answers.h"
#include "bloomctl/cli.h"
#include "bloomctl/exempted.h"
#include "bloomctl/rollback.h"
#include "engine/import.h"
#include "engine/write.h"
#include "lists/reader.h"
#include "model/bogon.h"
#include "model/verdict.h"
#include "store/listverdict.h"
#include "store/membership.h"

struct request {
	const struct xb_listfile *file;
	const char *list, *format, *end;
	bool replace, include_bogons, force, dry_run;
	bool judges;	  /* --verdict */
	uint32_t verdict; /* after: of the list */
	uint64_t least_entries, least_bytes;
	double factor;	    /* the list may grow or shrink by, 0: not given */
	const char *source; /* the file, for messages */
	uint64_t bogons;    /* left out of the file */
	struct xb_item first_bogon;
	struct xb_exemptions exempt; /* of the list */
	struct xb_merge merge;
};

/* A file without entries is an error, unless it is meant to empty a list. */
static int read_file(struct cli *cli, const char *path, struct request *request,
		     struct xb_listfile *file)
{
	int fd, error = rollback_input(cli, path, &fd);

	if (error)
		return error;
	request->source = strcmp(path, "-") ? path : "stdin";
	error = xb_listfile_read_as(fd, path,
				    &(struct xb_listfile_terms){.name = request->source,
								.format = request->format,
								.end = request->end},
				    file);
	if (error != -ENODATA || !request->replace)
		return error;
	if (!request->force)
		return xb_input_error("%s: no entries; emptying list %s by it needs --force", path,
				      request->list);
	xb_error_clear();
	file->format = "empty";
	return 0;
}

static void leave_out_bogons(struct xb_listfile *file, struct request *request)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		const struct xb_item *item = &file->items[i];

		if (!xb_bogon(&item->entry)) {
			file->items[kept++] = *item;
			continue;
		}
		file->allowed -= xb_entry_is_allow(&item->entry);
		if (!request->bogons++ || item->entry.line < request->first_bogon.entry.line)
			request->first_bogon = *item;
	}
	file->count = kept;
}

/* What is asked of the file whatever the list has. */
static int check_size(const struct request *request)
{
	const struct xb_listfile *file = request->file;

	if (file->bytes < request->least_bytes)
		return xb_input_error("%s has %" PRIu64 " bytes, and --min-bytes asks for %" PRIu64
				      ": it may have been cut off",
				      request->source, file->bytes, request->least_bytes);
	if (file->count < request->least_entries)
		return xb_input_error(
			"%s has %zu entries to take, and --min-entries asks for %" PRIu64
			": it may have been cut off",
			request->source, file->count, request->least_entries);
	return 0;
}

/* What a list may become without --force: anything but empty within this factor, or within so many
 * entries. A factor that is given holds for any number. */
#define GUARD_FACTOR  2.0
#define GUARD_ENTRIES 1000

static double factor_of(const struct request *request)
{
	return request->factor > 0 ? request->factor : GUARD_FACTOR;
}

static bool is_near(const struct request *request, uint64_t before, uint64_t after)
{
	uint64_t difference = after > before ? after - before : before - after;
	double factor = factor_of(request);

	return (request->factor <= 0 && difference < GUARD_ENTRIES) ||
	       ((double)after * factor >= (double)before &&
		(double)after <= (double)before * factor);
}

static int refuse_replacement(const struct request *request, const char *what, uint64_t before,
			      uint64_t after)
{
	return xb_input_error("list %s would %s from %" PRIu64 " to %" PRIu64 " %s (%" PRIu64
			      " left out as bogons), more than %g-fold; --max-change FACTOR allows "
			      "more, --force anything",
			      request->list, after < before ? "shrink" : "grow", before, after,
			      what, request->bogons, factor_of(request));
}

/* What of the list is on the allowlist. */
static int count_on_allowlist(struct xb_txn *txn, uint32_t list, uint64_t *count)
{
	struct xb_membership member;
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	*count = 0;
	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0)
		*count += xb_members_have(walk.members, list, &member);
	xb_walk_end(&walk);
	return more;
}

/* Each side by itself: many exceptions do not make up for what is no longer listed. */
static int check_replacement(struct xb_txn *txn, const struct request *request,
			     const struct xb_list *list)
{
	uint64_t allowed, listed, left = request->file->count - request->file->allowed;
	int error = count_on_allowlist(txn, list->id, &allowed);

	if (error)
		return error;
	listed = list->members - allowed;
	if ((listed && !left) || !is_near(request, listed, left))
		return refuse_replacement(request, "entries", listed, left);
	if (!request->file->count || !is_near(request, allowed, request->file->allowed))
		return refuse_replacement(request, "allowed entries", allowed,
					  request->file->allowed);
	return 0;
}

static int body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	struct xb_txn *txn = writer->txn;
	struct xb_list *list;
	bool replaces;
	int error = xb_list_need(txn, request->list, &list);

	if (error)
		return error;
	request->merge =
		(struct xb_merge){.file = request->file, .list = list->id, .now = writer->now};
	replaces = request->replace && list->members;
	if (replaces && !request->force)
		error = check_replacement(txn, request, list);
	if (error)
		return error;
	error = replaces ? xb_merge_replace(txn, &request->merge)
			 : xb_merge_add(txn, &request->merge);
	if (!error && request->judges)
		error = xb_domain_verdict_set(txn, xb_list_by_name(txn, request->list),
					      request->verdict);
	if (!error)
		request->verdict = xb_list_by_name(txn, request->list)->verdict;
	request->exempt = (struct xb_exemptions){0};
	return error ? error : xb_exempt_list(txn, request->merge.list, &request->exempt);
}

static int count_as_added(struct request *request, uint32_t now)
{
	request->merge =
		(struct xb_merge){.file = request->file, .now = now, .added = request->file->count};
	return xb_merge_check(&request->merge);
}

/* The same change in a transaction that is given up; without a store there is nothing to change. */
static int try_out(const struct xb_paths *paths, struct request *request)
{
	struct xb_writer writer = {
		.paths = paths, .builder_lock = -1, .writer_lock = -1, .now = (uint32_t)time(NULL)};
	int error = xb_store_open(paths->state, XB_STORE_WRITE, &writer.store);

	if (error == -ENOENT)
		return count_as_added(request, writer.now);
	/* Whoever writes waits for this lock, where it is told for whom. */
	if (!error)
		error = xb_writer_lock(&writer);
	if (!error)
		error = xb_store_write(writer.store, &writer.txn);
	if (!error)
		error = xb_member_sweep(writer.txn, writer.now, NULL);
	if (!error)
		error = body(&writer, request);
	xb_txn_abort(writer.txn);
	xb_store_close(writer.store);
	xb_unlock(writer.writer_lock);
	return error;
}

/* How many of the lines that were not understood are told one by one. */
static size_t unknown_told(const struct cli *cli, const struct xb_listfile *file)
{
	return cli->verbose || file->unknown < XB_UNKNOWN_KEPT ? file->unknown : XB_UNKNOWN_KEPT;
}

static json_t *unknown_json(const struct cli *cli, const struct xb_listfile *file)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < unknown_told(cli, file); i++)
		json_array_append_new(lines, json_pack("{s:I,s:s}", "line",
						       (json_int_t)file->first_unknown[i].line,
						       "text", file->first_unknown[i].text));
	return lines;
}

static json_t *answer_json(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;

	return json_pack(
		"{s:s,s:s,s:s,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I}", "list",
		request->list, "verdict", xb_domain_verdict_name(request->verdict), "format",
		file->format, "dry_run", request->dry_run, "lines", (json_int_t)file->lines,
		"bytes", (json_int_t)file->bytes, "entries", (json_int_t)file->count, "allowed",
		(json_int_t)request->file->allowed, "repeats", (json_int_t)file->repeats,
		"host_bits", (json_int_t)file->host_bits, "bogons", (json_int_t)request->bogons,
		"unknown_lines", (json_int_t)file->unknown, "first_unknown_lines",
		unknown_json(cli, file), "added", (json_int_t)request->merge.added, "renewed",
		(json_int_t)request->merge.renewed, "unchanged",
		(json_int_t)request->merge.unchanged, "removed", (json_int_t)request->merge.removed,
		"exempt", (json_int_t)request->exempt.count);
}

static void tell_every_unknown(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;

	for (size_t i = 0; i < file->unknown; i++)
		cli_note(cli, "bloomctl: %s:%" PRIu64 ": %s", request->source,
			 file->first_unknown[i].line, file->first_unknown[i].text);
	cli_note(cli, "bloomctl: %s: %zu lines were not understood and left out", request->source,
		 file->unknown);
}

/* One line, however long the list of lines is. */
static void tell_first_unknown(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;
	char first[XB_UNKNOWN_KEPT * (XB_UNKNOWN_TEXT + 24)];
	size_t used = 0;

	for (size_t i = 0; i < unknown_told(cli, file); i++)
		used += (size_t)snprintf(first + used, sizeof(first) - used, "%s%" PRIu64 ": %s",
					 i ? ", " : "", file->first_unknown[i].line,
					 file->first_unknown[i].text);
	cli_note(cli, "bloomctl: %s: %zu lines were not understood and left out (first: %s%s)",
		 request->source, file->unknown, first,
		 file->unknown > XB_UNKNOWN_KEPT ? ", ..." : "");
}

static void tell_what_differs(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;

	if (file->host_bits)
		cli_note(cli,
			 "bloomctl: %s: %" PRIu64 " prefixes have host bits set and are taken as "
			 "their networks (first: %s, %s:%" PRIu64 ")",
			 request->source, file->host_bits, file->first_host_bits, request->source,
			 file->first_host_bits_line);
	if (request->bogons) {
		const struct xb_item *first = &request->first_bogon;
		char text[XB_ENTRY_TEXT];

		cli_note(cli,
			 "bloomctl: %" PRIu64 " entries left out as bogons or too wide (first: %s, "
			 "%s, %s:%" PRIu64 "); --include-bogons takes them",
			 request->bogons, xb_entry_format(&first->entry, text),
			 xb_bogon(&first->entry), request->source, (uint64_t)first->entry.line);
	}
	if (file->unknown && cli->verbose)
		tell_every_unknown(cli, request);
	else if (file->unknown)
		tell_first_unknown(cli, request);
}

static bool has_domains(const struct xb_listfile *file)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->items[i].entry.kind == XB_NAME)
			return true;
	return false;
}

static void print_verdict(const struct request *request)
{
	printf("; verdict %s", xb_domain_verdict_name(request->verdict));
	/* Nobody expects of a list of domains that clients wait. */
	if (!request->judges && request->verdict == XB_DOMAIN_DROP)
		printf(" (clients wait; to answer them: bloomctl verdict %s nxdomain)",
		       request->list);
}

static int answer(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;
	bool domains = has_domains(file);

	tell_what_differs(cli, request);
	if (domains && request->judges && answers_by(request->verdict))
		answers_note(cli, NULL, 0);
	exempted_note(cli, &request->exempt);
	if (cli->json)
		return cli_json(cli, answer_json(cli, request));
	if (cli->quiet)
		return cli_done(EXIT_DONE);
	printf("%zu entries (%s", file->count, file->format);
	if (request->file->allowed)
		printf(", %" PRIu64 " of them to be allowed", request->file->allowed);
	printf(") %s list %s: %" PRIu64 " added, %" PRIu64 " renewed, %" PRIu64
	       " unchanged, %" PRIu64 " removed; %" PRIu64 " repeated in the file",
	       request->dry_run ? "would go into" : "into", request->list, request->merge.added,
	       request->merge.renewed, request->merge.unchanged, request->merge.removed,
	       file->repeats);
	if (domains)
		print_verdict(request);
	putchar('\n');
	return cli_done(EXIT_DONE);
}

static bool take_factor(const struct cli *cli, const char *text, double *factor)
{
	char *end;

	*factor = strtod(text, &end);
	if (end != text && !*end && *factor >= 1 && *factor <= 1e9)
		return true;
	cli_usage(cli, "--max-change takes a factor of 1 or more, such as 1.5, not '%s'", text);
	return false;
}

static bool take_option(const struct cli *cli, int option, struct request *request)
{
	switch (option) {
	case 'l':
		request->list = optarg;
		return true;
	case 'f':
		request->format = optarg;
		return true;
	case 'v':
		request->judges = true;
		return !xb_domain_verdict_parse(optarg, &request->verdict) || (cli_fail(), false);
	case 'e':
		request->end = optarg;
		return true;
	case 'm':
		return cli_number(cli, "--min-entries", optarg, 1, UINT32_MAX,
				  &request->least_entries);
	case 'y':
		return cli_number(cli, "--min-bytes", optarg, 1, INT64_MAX, &request->least_bytes);
	case 'c':
		return take_factor(cli, optarg, &request->factor);
	case 'r':
		return request->replace = true;
	case 'b':
		return request->include_bogons = true;
	case 'F':
		return request->force = true;
	case 'n':
		return request->dry_run = true;
	default:
		return false;
	}
}

static const struct option_spec options[] = {
	{"list", "NAME", 'l', .help = "the list to fill; default if none is named",
	 .offers = OFFER_LISTS_TO_FILL},
	{"verdict", "VERDICT", 'v', .help = "what becomes of queries for its domains",
	 .offers = OFFER_VERDICTS},
	{"format", "FORMAT", 'f',
	 .help = "the format of the file; without it, its first line tells",
	 .offers = OFFER_FORMATS},
	{"replace", NULL, 'r', .help = "take out what the file does not have"},
	{"max-change", "FACTOR", 'c',
	 .help = "by how much --replace may change the size of the list"},
	{"min-entries", "NUMBER", 'm', .help = "refuse a file with fewer entries to take"},
	{"min-bytes", "NUMBER", 'y', .help = "refuse a file with fewer bytes"},
	{"expect-end", "LINE", 'e', .help = "refuse a file that ends with another line"},
	{"include-bogons", NULL, 'b',
	 .help = "special ranges, very short prefixes, single labels too"},
	{"force", NULL, 'F', .help = "empty the list or change its size, however much"},
	{"dry-run", NULL, 'n', .help = "say what would change, change nothing"},
	ROLLBACK_OPTION,
	{0},
};

static bool take_options(const struct cli *cli, int argc, char **argv, struct request *request)
{
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, option, request))
			return false;
	if (request->factor > 0 && !request->replace)
		return cli_usage(cli, "--max-change is for --replace"), false;
	if (request->factor > 0 && request->force)
		return cli_usage(cli, "--force allows any change: leave out --max-change"), false;
	return true;
}

/* From so many entries on, a new generation is likely. */
#define HEAVY 50000

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_listfile file = {0};
	struct request request = {.file = &file, .list = "default"};
	int code, error;

	if (!take_options(cli, argc, argv, &request))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "import takes one file, or -");
	if (!cli_list_to_fill(cli, request.list))
		return EXIT_USAGE;
	if (request.dry_run && cli->wish.seconds)
		return cli_usage(cli, "a dry run changes nothing to roll back");
	if (read_file(cli, argv[optind], &request, &file))
		return cli_fail();
	if (!request.include_bogons)
		leave_out_bogons(&file, &request);
	if (check_size(&request)) {
		xb_listfile_free(&file);
		return cli_fail();
	}
	error = request.dry_run
			? try_out(&cli->paths, &request)
			: rollback_write(
				  cli, (file.count > HEAVY ? XB_WRITE_HEAVY : 0) | XB_WRITE_SURVEY,
				  body, &request);
	code = error ? cli_fail() : answer(cli, &request);
	xb_listfile_free(&file);
	return code;
}

const struct verb verb_import = {
	.name = "import",
	.summary = "list what a file lists",
	.operands = {{"FILE|-", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"import firehol_level1.netset --list level1 --replace",
		     "import hosts.txt --list ads --verdict nxdomain"},
};

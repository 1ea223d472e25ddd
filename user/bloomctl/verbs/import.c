/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl import: one file, one list, one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomctl/cli.h"
#include "bloomctl/exempted.h"
#include "bloomctl/rollback.h"
#include "bloomctl/vethtx.h"
#include "engine/import.h"
#include "model/bogon.h"
#include "model/comment.h"
#include "model/verdict.h"

struct request {
	struct xb_import import;
	struct xb_listfile file;
	bool dry_run;
	const char *source; /* the file, as messages call it */
};

static int refuse_replacement(const struct request *request,
			      const struct xb_import_refusal *refusal, const char *what)
{
	return xb_input_error("list %s would %s from %" PRIu64 " to %" PRIu64 " %s (%" PRIu64
			      " left out as bogons), more than %s-fold; --max-change FACTOR allows "
			      "more, --force anything",
			      request->import.asked.list,
			      refusal->after < refusal->before ? "shrink" : "grow", refusal->before,
			      refusal->after, what, request->import.bogons,
			      XB_NUMBER(refusal->factor));
}

/* Makes the message of what the engine refused. */
static int refused(const struct request *request, const struct xb_import_refusal *refusal)
{
	switch (refusal->why) {
	case XB_IMPORT_EMPTIES:
		return xb_input_error("%s: no entries; emptying list %s by it needs --force",
				      request->import.asked.file, request->import.asked.list);
	case XB_IMPORT_FEW_BYTES:
		return xb_input_error("%s has %" PRIu64 " bytes, and --min-bytes asks for %" PRIu64
				      ": it may have been cut off",
				      request->source, refusal->has, refusal->least);
	case XB_IMPORT_FEW_ENTRIES:
		return xb_input_error("%s has %" PRIu64
				      " entries to take, and --min-entries asks for %" PRIu64
				      ": it may have been cut off",
				      request->source, refusal->has, refusal->least);
	case XB_IMPORT_LISTED:
		return refuse_replacement(request, refusal, "entries");
	case XB_IMPORT_EXCEPTED:
		return refuse_replacement(request, refusal, "exceptions");
	case XB_IMPORT_ALLOWED:
		return refuse_replacement(request, refusal, "allowed entries");
	}
	return -EINVAL;
}

static struct xb_listfile_terms terms_of(const struct request *request)
{
	const struct xb_import_request *asked = &request->import.asked;

	return (struct xb_listfile_terms){.name = request->source,
					  .format = asked->format,
					  .zone = asked->zone,
					  .choice = asked->choice,
					  .allows = asked->allows,
					  .end = asked->end};
}

static int read_file(struct cli *cli, struct request *request)
{
	const struct xb_listfile_terms terms = terms_of(request);
	const char *path = request->import.asked.file;
	struct xb_import_refusal refusal;
	int fd, error = rollback_input(cli, path, &fd);

	if (error)
		return error;
	error = xb_import_read(fd, path, &terms, &request->import, &refusal);
	return error == XB_IMPORT_REFUSED ? refused(request, &refusal) : error;
}

static int change(const struct cli *cli, struct request *request)
{
	struct xb_import_refusal refusal;
	int error = request->dry_run ? xb_import_rehearse(&cli->paths, &request->import, &refusal)
				     : xb_import_wish(&cli->paths, cli->wish, &request->import,
						      &refusal, cli->written);

	return error == XB_IMPORT_REFUSED ? refused(request, &refusal) : error;
}

/* *done: the list is what the file says already, and its entries were not read. */
static int repeat(const struct cli *cli, struct request *request, bool *done)
{
	const struct xb_listfile_terms terms = terms_of(request);
	const struct xb_import_request *asked = &request->import.asked;
	bool lasts = !request->dry_run && !cli->wish->seconds && !cli->wish->commits, changed;
	struct xb_import_refusal refusal;
	int error;

	*done = false;
	request->import.imprints = asked->replace;
	if (!lasts || !asked->replace || asked->force ||
	    !xb_import_is_repeated(cli->paths.state, asked->file, &terms, &request->import))
		return 0;
	error = xb_import_repeat(&cli->paths, &request->import, &refusal, cli->written, &changed);
	*done = !changed;
	return error == XB_IMPORT_REFUSED ? refused(request, &refusal) : error;
}

/* How many of the lines that were not understood are told one by one. */
static size_t unknown_told(const struct cli *cli, const struct xb_listfile *file)
{
	return cli->verbose || file->unknown < XB_UNKNOWN_KEPT ? file->unknown : XB_UNKNOWN_KEPT;
}

static json_t *lines_json(const struct xb_unknown_line *lines, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array,
				      json_pack("{s:I,s:s}", "line", (json_int_t)lines[i].line,
						"text", lines[i].text));
	return array;
}

static json_t *answer_json(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = &request->file;
	char scope[XB_SCOPE_TEXT];

	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:I,s:I,"
			 "s:I,s:I,s:I}",
			 "list", request->import.asked.list, "verdict",
			 xb_domain_verdict_name(request->import.verdict), "scope",
			 xb_scope_format(&request->import.scope, scope), "format", file->format,
			 "dry_run", request->dry_run, "lines", (json_int_t)file->lines, "bytes",
			 (json_int_t)file->bytes, "entries", (json_int_t)file->count, "exceptions",
			 (json_int_t)file->exceptions, "allowed", (json_int_t)file->allowed,
			 "repeats", (json_int_t)file->repeats, "host_bits",
			 (json_int_t)file->host_bits, "bogons", (json_int_t)request->import.bogons,
			 "unknown_lines", (json_int_t)file->unknown, "first_unknown_lines",
			 lines_json(file->first_unknown, unknown_told(cli, file)), "notes",
			 lines_json(file->notes, file->noted), "added",
			 (json_int_t)request->import.merge.added, "renewed",
			 (json_int_t)request->import.merge.renewed, "unchanged",
			 (json_int_t)request->import.merge.unchanged, "removed",
			 (json_int_t)request->import.merge.removed, "exempt",
			 (json_int_t)request->import.exempt.count);
}

static void tell_every_unknown(const struct request *request)
{
	const struct xb_listfile *file = &request->file;

	for (size_t i = 0; i < file->unknown; i++)
		xb_notice("%s:%" PRIu64 ": %s", request->source, file->first_unknown[i].line,
			  file->first_unknown[i].text);
	xb_notice("%s: %zu line%s left out", request->source, file->unknown,
		  file->unknown == 1 ? " was" : "s were");
}

/* One line, however long the list of lines is. */
static void tell_first_unknown(const struct request *request)
{
	const struct xb_listfile *file = &request->file;
	char first[XB_UNKNOWN_KEPT * (XB_UNKNOWN_TEXT + 24)];

	xb_unknown_lines_show(file->first_unknown, file->unknown, XB_UNKNOWN_KEPT, first,
			      sizeof(first));
	xb_notice("%s: %zu line%s left out (first: %s)", request->source, file->unknown,
		  file->unknown == 1 ? " was" : "s were", first);
}

static void tell_notes(const struct request *request)
{
	const struct xb_listfile *file = &request->file;

	for (size_t i = 0; i < file->noted; i++) {
		const struct xb_unknown_line *note = &file->notes[i];

		if (note->line)
			xb_notice("%s:%" PRIu64 ": %s", request->source, note->line, note->text);
		else
			xb_notice("%s: %s", request->source, note->text);
	}
}

static void tell_what_differs(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = &request->file;

	tell_notes(request);
	if (request->import.bogons) {
		const struct xb_item *first = &request->import.first_bogon;
		char text[XB_ENTRY_TEXT];

		xb_notice("%" PRIu64 " entries left out as bogons or too wide (first: %s, "
			  "%s, %s:%" PRIu64 "); --include-bogons takes them",
			  request->import.bogons, xb_entry_format(&first->entry, text),
			  xb_bogon(&first->entry), request->source, (uint64_t)first->entry.line);
	}
	if (file->unknown && cli->verbose)
		tell_every_unknown(request);
	else if (file->unknown)
		tell_first_unknown(request);
}

static void print_verdict(const struct request *request, bool domains)
{
	printf("; verdict %s", xb_domain_verdict_name(request->import.verdict));
	/* Nobody expects of a list of domains that clients wait. */
	if (domains && !request->import.asked.judges && request->import.verdict == XB_DOMAIN_DROP)
		printf(" (clients wait; to answer them: bloomctl verdict %s nxdomain)",
		       request->import.asked.list);
}

static int answer(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = &request->file;
	bool domains = request->import.has_names;
	char scope[XB_SCOPE_TEXT];

	tell_what_differs(cli, request);
	if (domains && request->import.asked.judges &&
	    xb_domain_verdict_answers(request->import.verdict))
		vethtx_note(cli, NULL, 0);
	exempted_note(&request->import.exempt);
	if (cli->json)
		return cli_json(cli, answer_json(cli, request));
	if (cli->quiet)
		return cli_done(EXIT_DONE);
	printf("%zu entries (%s", file->count, file->format);
	if (file->exceptions)
		printf(", %" PRIu64 " of them exceptions", file->exceptions);
	if (file->allowed)
		printf(", %" PRIu64 " of them to be allowed", file->allowed);
	printf(") %s list %s: %" PRIu64 " added, %" PRIu64 " renewed, %" PRIu64
	       " unchanged, %" PRIu64 " removed; %" PRIu64 " repeated in the file",
	       request->dry_run ? "would go into" : "into", request->import.asked.list,
	       request->import.merge.added, request->import.merge.renewed,
	       request->import.merge.unchanged, request->import.merge.removed, file->repeats);
	if (domains || request->import.verdict == XB_DOMAIN_COUNT)
		print_verdict(request, domains);
	if (!xb_scope_is_all(&request->import.scope))
		printf("; scope %s", xb_scope_format(&request->import.scope, scope));
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

static bool is_zone(const struct cli *cli, const char *text)
{
	uint8_t form[XB_NAME_BYTES], used;

	if (*text != '=' && !xb_name_parse(text, strlen(text), form, &used))
		return true;
	xb_error_clear();
	cli_usage(cli, "--zone takes a domain, not '%s'", text);
	return false;
}

static bool take_exceptions(const struct cli *cli, const char *text, bool *allows)
{
	*allows = !strcmp(text, "allowlist");
	if (*allows || !strcmp(text, "own"))
		return true;
	return cli_usage(cli, "--exceptions takes own or allowlist, not '%s'", text), false;
}

static bool take_option(const struct cli *cli, int option, struct xb_import_request *request,
			bool *dry_run)
{
	switch (option) {
	case 'l':
		request->list = optarg;
		return true;
	case 'f':
		request->format = optarg;
		return true;
	case 'z':
		request->zone = optarg;
		return is_zone(cli, optarg);
	case 'C':
		request->choice.column = optarg;
		return true;
	case 'w':
		request->choice.where = optarg;
		return true;
	case 'j':
		request->choice.json = optarg;
		return true;
	case 'S':
		request->choice.set = optarg;
		return true;
	case 'o':
		request->choice.country = optarg;
		return true;
	case 'x':
		request->choice.not_country = optarg;
		return true;
	case 't':
		request->choice.continent = optarg;
		return true;
	case 'a':
		request->choice.asn = optarg;
		return true;
	case 'p':
		request->choice.mmdb = optarg;
		return true;
	case 'T':
		request->choice.comment = optarg;
		return !xb_comment_check(optarg, strlen(optarg)) || (cli_fail(), false);
	case 'k':
		request->choice.bounded = true;
		return cli_number(cli, "--skip-bad", optarg, 0, UINT32_MAX,
				  &request->choice.most_wrong);
	case 'B':
		return request->choice.below = true;
	case 'v':
		request->judges = true;
		return !xb_domain_verdict_parse(optarg, &request->verdict) || (cli_fail(), false);
	case 's':
		request->scopes = true;
		return !xb_scope_parse(optarg, &request->scope) || (cli_fail(), false);
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
	case 'E':
		return take_exceptions(cli, optarg, &request->allows);
	case 'r':
		return request->replace = true;
	case 'b':
		return request->include_bogons = true;
	case 'F':
		return request->force = true;
	case 'n':
		return *dry_run = true;
	default:
		return false;
	}
}

static const struct option_spec options[] = {
	{"list", "NAME", 'l', .help = "the list to fill (default: default)",
	 .offers = OFFER_LISTS_TO_FILL},
	{"verdict", "VERDICT", 'v', .help = "set the verdict of the list",
	 .offers = OFFER_VERDICTS},
	{"scope", "SERVICE,...|all", 's', .help = "set for which services its addresses count"},
	{"format", "FORMAT", 'f',
	 .help = "the format of the file; without it, the first line decides",
	 .offers = OFFER_FORMATS},
	{"zone", "DOMAIN", 'z',
	 .help = "the domain of the zone, if a file of records (rpz) does not name it"},
	{"column", "COLUMN", 'C', .help = "the column with the addresses, by its number or name"},
	{"where", "COLUMN=VALUE,...", 'w', .help = "take only lines with these values"},
	{"json-path", "PATH", 'j',
	 .help = "where JSON has the addresses, such as prefixes[].ip_prefix"},
	{"set", "NAME", 'S', .help = "the set to read, of a file with several"},
	{"country", "CODE,...", 'o',
	 .help = "take only networks in these countries, such as DE,AT"},
	{"not-country", "CODE,...", 'x', .help = "take only networks in other countries"},
	{"continent", "CODE,...", 't',
	 .help = "take only networks on these continents, such as EU"},
	{"asn", "NUMBER,...", 'a', .help = "take only networks of these AS"},
	{"mmdb-path", "PATH=VALUE,...", 'p',
	 .help = "take only networks of which an MMDB database says this"},
	{"comment", "TEXT", 'T', .help = "a text to show with entries that have none in the file"},
	{"skip-bad", "NUMBER", 'k', .help = "leave out up to NUMBER wrong lines"},
	{"below", NULL, 'B', .help = "of a hosts file, list all names below its names, too"},
	{"exceptions", "own|allowlist", 'E',
	 .help = "what the file lets pass: for its own list (default), or for all lists"},
	{"replace", NULL, 'r', .help = "take out entries that the file does not have"},
	{"max-change", "FACTOR", 'c',
	 .help = "the factor by which --replace may change the size of the list"},
	{"min-entries", "NUMBER", 'm', .help = "refuse a file with fewer entries to take"},
	{"min-bytes", "NUMBER", 'y', .help = "refuse a file with fewer bytes"},
	{"expect-end", "LINE", 'e', .help = "refuse a file that ends with another line"},
	{"include-bogons", NULL, 'b',
	 .help = "take special ranges, very short prefixes and single labels too"},
	{"force", NULL, 'F',
	 .help = "let --replace empty the list or change its size by any factor"},
	{"dry-run", NULL, 'n', .help = "say what would change, but change nothing"},
	ROLLBACK_OPTION,
	{0},
};

static bool take_options(const struct cli *cli, int argc, char **argv,
			 struct xb_import_request *request, bool *dry_run)
{
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, option, request, dry_run))
			return false;
	if (request->factor > 0 && !request->replace)
		return cli_usage(cli, "--max-change is for --replace"), false;
	if (request->factor > 0 && request->force)
		return cli_usage(cli, "--force allows any change: leave out --max-change"), false;
	return true;
}

static int make_or_try(struct cli *cli, bool dry_run)
{
	struct request request = {
		.import = {.file = &request.file, .asked = cli->wish->request->import},
		.dry_run = dry_run,
	};
	bool done;
	int error, code;

	request.source =
		strcmp(request.import.asked.file, "-") ? request.import.asked.file : "stdin";
	error = repeat(cli, &request, &done);
	if (!error && !done)
		error = read_file(cli, &request);
	if (!error && !done)
		error = change(cli, &request);
	code = error ? cli_fail() : answer(cli, &request);
	xb_listfile_free(&request.file);
	return code;
}

static int make(struct cli *cli)
{
	return make_or_try(cli, false);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_IMPORT, .import.list = XB_DEFAULT_LIST};
	bool dry_run = false;

	if (!take_options(cli, argc, argv, &request.import, &dry_run))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "import takes one file, or -");
	if (!cli_list_to_fill(cli, request.import.list))
		return EXIT_USAGE;
	if (dry_run && cli->wish->seconds)
		return cli_usage(cli, "a dry run changes nothing to roll back");
	request.import.file = argv[optind];
	cli->wish->request = &request;
	return make_or_try(cli, dry_run);
}

const struct verb verb_import = {
	.name = "import",
	.summary = "add the entries of a file to a list",
	.operands = {{"FILE|-", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"import firehol_level1.netset --list level1 --replace",
		     "import hosts.txt --list ads --verdict nxdomain"},
};

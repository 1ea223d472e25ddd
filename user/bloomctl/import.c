/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl import: one file, one list, one transaction. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/error.h"
#include "core/listfile.h"
#include "core/membership.h"
#include "core/writer.h"

struct request {
	const struct xb_listfile *file;
	const char *list;
	bool replace;
	uint64_t added, renewed, unchanged, removed;
};

static int put_one(struct xb_writer *writer, struct request *request, const struct xb_item *item,
		   uint32_t list)
{
	const char *comment = xb_listfile_comment(request->file, item);
	struct xb_membership member = {
		.list = list,
		.added = writer->now,
		.expires = item->timeout ? writer->now + item->timeout : 0,
		.comment = comment,
		.comment_size = (uint32_t)strlen(comment),
	};
	unsigned int renew = 0;
	enum xb_put put;
	int error;

	if (item->timeout > UINT32_MAX - writer->now)
		return xb_input_error("a timeout of %" PRIu32 " seconds ends after 2106",
				      item->timeout);
	if (request->replace || member.expires)
		renew |= XB_RENEW_EXPIRY;
	if (request->replace || member.comment_size)
		renew |= XB_RENEW_COMMENT;
	error = xb_member_put(writer->txn, &item->entry, &member, renew, &put);
	request->added += put == XB_PUT_LISTED || put == XB_PUT_JOINED;
	request->renewed += put == XB_PUT_RENEWED;
	request->unchanged += put == XB_PUT_SAME;
	return error;
}

static int put_all(struct xb_writer *writer, struct request *request, uint32_t list)
{
	const struct xb_listfile *file = request->file;

	for (size_t i = 0; i < file->count; i++) {
		int error = put_one(writer, request, &file->items[i], list);
		char text[XB_ENTRY_TEXT];

		if (error)
			return xb_error_prefix(error, "%s",
					       xb_entry_format(&file->items[i].entry, text));
		if (i % 65536 == 0)
			xb_progress("storing", i, file->count);
	}
	xb_progress("storing", file->count, file->count);
	return 0;
}

/* File and store are in the same order: one walk over both finds what the file does not have. */
static int remove_others(struct xb_writer *writer, struct request *request, uint32_t list)
{
	const struct xb_entry first = {.kind = XB_PREFIX4};
	const struct xb_listfile *file = request->file;
	struct xb_membership member;
	struct xb_walk walk;
	size_t at = 0;
	int more, error = xb_walk_begin(&walk, writer->txn, &first);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		enum xb_removal removal;

		while (at < file->count &&
		       xb_entry_compare(&file->items[at].entry, &walk.entry) < 0)
			at++;
		if (at < file->count && !xb_entry_compare(&file->items[at].entry, &walk.entry))
			continue;
		if (!xb_members_have(walk.members, list, &member))
			continue;
		error = xb_member_remove(writer->txn, &walk.entry, list, &removal);
		if (error)
			break;
		request->removed++;
	}
	xb_walk_end(&walk);
	return error ? error : more;
}

static int body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	struct xb_list *list;
	uint32_t id;
	int error = xb_list_need(writer->txn, request->list, &list);

	request->added = request->renewed = request->unchanged = request->removed = 0;
	if (error)
		return error;
	id = list->id;
	if (request->replace && list->members)
		error = remove_others(writer, request, id);
	return error ? error : put_all(writer, request, id);
}

static int answer(const struct cli *cli, const struct request *request)
{
	const struct xb_listfile *file = request->file;

	if (cli->json)
		return cli_json(cli, json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "list",
					       request->list, "format", file->format, "lines",
					       (json_int_t)file->lines, "entries",
					       (json_int_t)file->count, "repeats",
					       (json_int_t)file->repeats, "host_bits",
					       (json_int_t)file->host_bits, "added",
					       (json_int_t)request->added, "renewed",
					       (json_int_t)request->renewed, "unchanged",
					       (json_int_t)request->unchanged, "removed",
					       (json_int_t)request->removed));
	if (!cli->quiet)
		printf("%zu entries (%s) into list %s: %" PRIu64 " added, %" PRIu64
		       " renewed, %" PRIu64 " unchanged, %" PRIu64 " removed; %" PRIu64
		       " repeated in the file\n",
		       file->count, file->format, request->list, request->added, request->renewed,
		       request->unchanged, request->removed, file->repeats);
	return cli_done(EXIT_DONE);
}

/* From so many entries on, a new generation is likely. */
#define HEAVY 50000

int verb_import(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"list", required_argument, NULL, 'l'},
						{"format", required_argument, NULL, 'f'},
						{"replace", no_argument, NULL, 'r'},
						{0}};
	struct xb_listfile file = {0};
	struct request request = {.file = &file, .list = "default"};
	const char *format = NULL;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'l')
			request.list = optarg;
		else if (option == 'f')
			format = optarg;
		else if (option == 'r')
			request.replace = true;
		else
			return EXIT_USAGE;
	}
	if (argc - optind != 1)
		return cli_usage(cli, "import takes one file, or -");
	if (!xb_list_name_ok(request.list))
		return cli_usage(cli, "'%s' is no list name", request.list);
	if (xb_listfile_read(argv[optind], format, &file))
		return cli_fail();
	if (file.host_bits)
		cli_note(cli,
			 "bloomctl: %" PRIu64 " prefixes have host bits set and are taken as their "
			 "networks (first: %s, line %" PRIu64 ")",
			 file.host_bits, file.first_host_bits, file.first_host_bits_line);
	code = xb_write(&cli->paths, file.count > HEAVY, body, &request) ? cli_fail()
									 : answer(cli, &request);
	xb_listfile_free(&file);
	return code;
}

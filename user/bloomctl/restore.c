/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl restore: the store becomes what was saved, then the kernel follows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/error.h"
#include "core/lifeline.h"
#include "core/membership.h"
#include "core/policy.h"
#include "core/ports.h"
#include "core/sizing.h"
#include "core/verdict.h"
#include "core/wanted.h"
#include "rollback.h"

struct request {
	const char *name;
	FILE *file;
	unsigned long line;
	uint64_t entries, expired;
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int integer_of(const json_t *object, const char *key, json_int_t most, json_int_t *value)
{
	const json_t *found = json_object_get(object, key);

	*value = json_integer_value(found);
	if (found && (!json_is_integer(found) || *value < 0 || *value > most))
		return xb_input_error("\"%s\" is out of range", key);
	return 0;
}

static int restore_refused(struct xb_txn *txn, const json_t *names)
{
	json_t *name;
	size_t i;

	txn->meta.refused = 0;
	json_array_foreach(names, i, name)
	{
		enum xb_lifeline_kind kind;

		if (!json_is_string(name))
			return xb_input_error("\"refused\" holds names of kinds");
		if (xb_lifeline_parse(json_string_value(name), &kind))
			return -EINVAL;
		txn->meta.refused |= 1U << kind;
	}
	return 0;
}

static int restore_ports_of(const json_t *numbers, uint16_t ports[XB_NAME_PORTS])
{
	json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number)
	{
		json_int_t port = json_integer_value(number);

		if (xb_ports_add(ports, port < 0 ? 0 : (uint64_t)port))
			return -EINVAL;
	}
	return 0;
}

/* Without any, it was saved by a version that knew no names. */
static int restore_ports(struct xb_txn *txn, const json_t *saved)
{
	struct xb_name_ports *ports = &txn->meta.ports;

	*ports = (struct xb_name_ports){0};
	if (!saved)
		ports->dns[0] = XB_DNS_PORT;
	for (enum xb_carrier carrier = 0; saved && carrier < XB_CARRIERS; carrier++) {
		const json_t *numbers = json_object_get(saved, xb_carrier_name(carrier));

		if (!json_is_array(numbers))
			return xb_input_error("\"ports\" lacks an array \"%s\"",
					      xb_carrier_name(carrier));
		if (restore_ports_of(numbers, xb_ports_of(ports, carrier)))
			return -EINVAL;
	}
	xb_ports_yield(ports, XB_CARRIER_TLS);
	xb_ports_yield(ports, XB_CARRIER_HTTP);
	return xb_ports_check(ports, XB_CARRIER_TLS);
}

static int restore_verdict(struct xb_txn *txn, const json_t *line)
{
	const char *name = text_of(line, "list"), *verdict = text_of(line, "verdict");
	struct xb_list *list;

	if (!name || !verdict)
		return xb_input_error("a verdict and its list are texts");
	if (xb_list_need(txn, name, &list))
		return -EINVAL;
	return xb_domain_verdict_parse(verdict, &list->verdict);
}

static int restore_head(struct xb_txn *txn, const json_t *line)
{
	double rate = json_number_value(json_object_get(line, "fpr"));
	const char *saved = text_of(line, "saved"), *policy = text_of(line, "policy");
	json_int_t capacity;

	if (!saved || strcmp(saved, "xdp-bloom") ||
	    json_integer_value(json_object_get(line, "schema")) != 1)
		return xb_input_error(
			"this was not written by `bloomctl save`, or by a later version of it");
	/* 0: the default */
	if (rate < 0 || (rate > 0 && !(rate >= XB_RATE_MIN && rate <= XB_RATE_MAX)))
		return xb_input_error("\"fpr\" is out of range");
	if (integer_of(line, "capacity", UINT32_MAX * 16LL, &capacity))
		return -EINVAL;
	if (policy && xb_policy_parse(policy, &txn->meta.policy))
		return -EINVAL;
	if (restore_refused(txn, json_object_get(line, "refused")) ||
	    restore_ports(txn, json_object_get(line, "ports")))
		return -EINVAL;
	txn->meta.unconfirmed = json_is_false(json_object_get(line, "confirm"));
	txn->meta.rate = rate;
	txn->meta.capacity = (uint64_t)capacity;
	return 0;
}

/* What the kernel takes for one, without control characters. */
static bool is_interface_name(const char *name)
{
	size_t size = strlen(name);

	if (!size || size >= IF_NAMESIZE || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)name[i] <= ' ' || strchr("/:\x7f", name[i]))
			return false;
	return true;
}

static int restore_interface(struct xb_txn *txn, const json_t *line)
{
	const char *name = text_of(line, "interface"), *mode = text_of(line, "mode");
	struct xb_wanted wanted = {.mode = XB_MODE_AUTO};

	if (!name || !is_interface_name(name))
		return xb_input_error("\"interface\" is no interface name");
	if (mode && xb_mode_parse(mode, &wanted.mode))
		return -EINVAL;
	strcpy(wanted.name, name);
	return xb_wanted_put(txn, &wanted);
}

static int restore_entry(struct xb_writer *writer, const json_t *line, struct request *request)
{
	const char *allow = text_of(line, "allow"), *text = allow ? allow : text_of(line, "entry"),
		   *name = text_of(line, "list"), *comment = text_of(line, "comment");
	struct xb_membership member = {.comment = comment,
				       .comment_size = comment ? (uint32_t)strlen(comment) : 0};
	json_int_t added, expires;
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put put;
	int error;

	if (!text || !name)
		return xb_input_error(
			"a line needs \"entry\" or \"allow\" and \"list\", or \"interface\"");
	error = xb_entry_parse(text, strlen(text), form, &entry, NULL);
	if (!error && allow)
		entry = xb_entry_allow(&entry);
	if (!error && comment)
		error = xb_comment_check(comment, member.comment_size);
	if (!error)
		error = integer_of(line, "added", UINT32_MAX, &added);
	if (!error)
		error = integer_of(line, "expires", UINT32_MAX, &expires);
	if (!error)
		error = xb_list_need(writer->txn, name, &list);
	if (error)
		return error;
	if (expires && expires <= writer->now) {
		request->expired++;
		return 0;
	}
	member.list = list->id;
	member.added = (uint32_t)added;
	member.expires = (uint32_t)expires;
	request->entries++;
	return xb_member_put(writer->txn, &entry, &member, XB_RENEW_EXPIRY | XB_RENEW_COMMENT,
			     &put);
}

static int restore_line(struct xb_writer *writer, const char *text, size_t size,
			struct request *request)
{
	json_error_t why;
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	int error;

	if (!json_is_object(line))
		error = xb_input_error("not a JSON object: %s", line ? "another value" : why.text);
	else if (request->line == 1)
		error = restore_head(writer->txn, line);
	else if (json_object_get(line, "interface"))
		error = restore_interface(writer->txn, line);
	else if (json_object_get(line, "verdict"))
		error = restore_verdict(writer->txn, line);
	else
		error = restore_entry(writer, line, request);
	json_decref(line);
	return error;
}

static int remove_interfaces(struct xb_txn *txn)
{
	struct xb_wanted *wanted;
	size_t count;
	int error = xb_wanted_all(txn, &wanted, &count);

	if (error)
		return error;
	for (size_t i = 0; !error && i < count; i++) {
		bool found;

		error = xb_wanted_remove(txn, wanted[i].name, &found);
	}
	free(wanted);
	return error;
}

static void forget_verdicts(struct xb_txn *txn)
{
	for (size_t i = 0; i < txn->list_count; i++)
		txn->lists[i].verdict = XB_DOMAIN_DROP;
}

static int body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	char *text = NULL;
	size_t room = 0;
	ssize_t size;
	int error;

	request->line = request->entries = request->expired = 0;
	writer->adopts = true;
	rewind(request->file);
	error = xb_member_remove_all(writer->txn);
	if (!error)
		error = remove_interfaces(writer->txn);
	forget_verdicts(writer->txn);
	while (!error && (size = getline(&text, &room, request->file)) > 0) {
		request->line++;
		error = restore_line(writer, text, (size_t)size, request);
		if (error)
			xb_error_prefix(error, "%s:%lu", request->name, request->line);
	}
	free(text);
	if (!error && ferror(request->file))
		error = xb_system_error(errno, "cannot read %s", request->name);
	if (!error && !request->line)
		error = xb_input_error("%s: empty", request->name);
	return error;
}

/* The transaction may have to read the text twice. */
static FILE *copy_of(FILE *from)
{
	FILE *copy = tmpfile();
	char buffer[65536];
	size_t size;

	while (copy && (size = fread(buffer, 1, sizeof(buffer), from)))
		fwrite(buffer, 1, size, copy);
	if (!copy || ferror(from) || fflush(copy)) {
		xb_system_error(errno, "cannot keep a copy of standard input");
		return NULL;
	}
	return copy;
}

int verb_restore(struct cli *cli, int argc, char **argv)
{
	struct request request = {0};
	const char *source;
	int error;

	if (argc != 2)
		return cli_usage(cli, "restore takes one file, or -");
	if (rollback_keep_input(cli, &argv[1]))
		return cli_fail();
	request.name = strcmp(argv[1], "-") ? argv[1] : "stdin";
	source = rollback_source(cli, argv[1]);
	request.file = strcmp(source, "-") ? fopen(source, "re") : copy_of(stdin);
	if (!request.file) {
		if (errno == ENOENT)
			xb_input_error("%s: no such file", argv[1]);
		else
			xb_system_error(errno, "cannot read %s", argv[1]);
		return cli_fail();
	}
	rollback_use_copy(cli, &argv[1]);
	error = rollback_write(cli, XB_WRITE_HEAVY | XB_WRITE_SURVEY, body, &request);
	/* Now the interfaces it names. */
	if (!error && !cli->wish.seconds)
		error = xb_write(&cli->paths, XB_WRITE_HEAVY | XB_WRITE_SURVEY, NULL, NULL);
	fclose(request.file);
	if (error)
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:I}", "entries", (json_int_t)request.entries,
					       "expired", (json_int_t)request.expired));
	return EXIT_DONE;
}

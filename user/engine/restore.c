/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/restore.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloom/sizing.h"
#include "engine/autoallow.h"
#include "engine/jsontext.h"
#include "engine/limitlines.h"
#include "engine/listterms.h"
#include "machine/lifelines.h"
#include "model/bogon.h"
#include "model/comment.h"
#include "model/policy.h"
#include "model/nameports.h"
#include "store/home.h"
#include "store/knownwish.h"
#include "store/membership.h"
#include "store/wanted.h"

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
	if (names && !json_is_array(names))
		return xb_input_error("\"refused\" is not an array");
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

/* Without any, that of DNS. */
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
	return xb_ports_check(ports, XB_CARRIER_TLS) ?: xb_ports_check(ports, XB_CARRIER_HTTP);
}

/* Without the key, the text was not written by `save`. */
static int restore_memberships(const json_t *line, struct xb_restore *restore)
{
	json_int_t count;
	int error = integer_of(line, "memberships", INT64_MAX, &count);

	restore->counted = json_object_get(line, "memberships");
	restore->memberships = (uint64_t)count;
	return error;
}

static bool is_rate(const json_t *number)
{
	double rate = json_number_value(number);

	return json_is_number(number) && rate >= XB_RATE_MIN && rate <= XB_RATE_MAX;
}

/* Without the key nobody is to be remembered. */
static int restore_known(struct xb_txn *txn, const json_t *line)
{
	const json_t *known = json_object_get(line, "known"),
		     *admits = json_object_get(line, "admits_known"),
		     *rate = json_object_get(known, "fpr");
	struct xb_known_wish wish, former;
	json_int_t remember, capacity;
	int error = xb_known_wish_get(txn, &former);

	if (error)
		return error;
	wish = former;
	wish.on = known;
	txn->meta.admits_known = json_is_true(admits);
	if (admits && (!json_is_boolean(admits) || (json_is_true(admits) && !known)))
		return xb_input_error("\"admits_known\" is neither true nor false, or \"known\" is "
				      "missing");
	if (!known)
		return former.on ? xb_known_wish_put(txn, &wish) : 0;
	if (integer_of(known, "remember", XB_KNOWN_REMEMBER_MAX, &remember) ||
	    integer_of(known, "capacity", XB_KNOWN_CAPACITY_MAX, &capacity))
		return -EINVAL;
	if (!json_is_object(known) || remember < XB_KNOWN_REMEMBER_MIN || !capacity ||
	    !is_rate(rate))
		return xb_input_error(
			"\"known\" needs \"remember\", \"capacity\" and \"fpr\", within "
			"their ranges");
	wish.remember = (uint32_t)remember;
	wish.capacity = (uint64_t)capacity;
	wish.rate = json_number_value(rate);
	return xb_known_wish_put(txn, &wish);
}

static int restore_head(struct xb_txn *txn, const json_t *line, struct xb_restore *restore)
{
	const json_t *fpr = json_object_get(line, "fpr"),
		     *confirm = json_object_get(line, "confirm");
	const char *by = json_string_value(json_object_get(line, "saved")), *policy;
	double rate = json_number_value(fpr);
	json_int_t capacity, limit;

	if (!by || strcmp(by, "xdp-bloom") ||
	    json_integer_value(json_object_get(line, "schema")) != 1)
		return xb_input_error("this was not written by %s, or by a later version of it",
				      restore->maker);
	/* 0: the default */
	if ((fpr && !json_is_number(fpr)) || rate < 0 ||
	    (rate > 0 && !(rate >= XB_RATE_MIN && rate <= XB_RATE_MAX)))
		return xb_input_error("\"fpr\" is out of range");
	if (confirm && !json_is_boolean(confirm))
		return xb_input_error("\"confirm\" is neither true nor false");
	if (integer_of(line, "capacity", UINT32_MAX * 16LL, &capacity) ||
	    xb_json_text(line, "policy", &policy))
		return -EINVAL;
	/* Without it, it was saved by a version that had none to set. */
	if (integer_of(line, "answer_limit", XB_ANSWER_LIMIT_MAX, &limit))
		return -EINVAL;
	if (policy && xb_policy_parse(policy, &txn->meta.policy))
		return -EINVAL;
	if (restore_refused(txn, json_object_get(line, "refused")) ||
	    restore_ports(txn, json_object_get(line, "ports")) || restore_known(txn, line) ||
	    restore_memberships(line, restore))
		return -EINVAL;
	txn->meta.unconfirmed = json_is_false(confirm);
	txn->meta.rate = rate;
	txn->meta.answer_limit =
		json_object_get(line, "answer_limit") ? (uint32_t)limit : XB_ANSWER_LIMIT;
	txn->meta.capacity = (uint64_t)capacity;
	return 0;
}

static int restore_interface(struct xb_txn *txn, const json_t *line)
{
	struct xb_wanted wanted = {.mode = XB_MODE_AUTO};
	const char *name, *mode;
	bool found;
	int error;

	if (xb_json_text(line, "interface", &name) || xb_json_text(line, "mode", &mode))
		return -EINVAL;
	if (xb_wanted_check(name) || (mode && xb_mode_parse(mode, &wanted.mode)))
		return -EINVAL;
	error = xb_wanted_has(txn, name, &found);
	if (error || found)
		return error;
	strcpy(wanted.name, name);
	return xb_wanted_put(txn, &wanted);
}

/* *entry: its form is in `form`. */
static int restore_terms(struct xb_txn *txn, const json_t *line, uint8_t form[XB_NAME_BYTES],
			 struct xb_entry *entry, struct xb_membership *member)
{
	const char *allow, *text, *name, *comment;
	json_int_t added, expires;
	struct xb_list *list;

	if (xb_json_text(line, "allow", &allow) || xb_json_text(line, "entry", &text) ||
	    xb_json_text(line, "list", &name) || xb_json_text(line, "comment", &comment) ||
	    integer_of(line, "added", UINT32_MAX, &added) ||
	    integer_of(line, "expires", UINT32_MAX, &expires))
		return -EINVAL;
	if (!name || !allow == !text)
		return xb_input_error(
			"a line needs \"entry\" or \"allow\" and \"list\", or \"interface\"");
	if (allow)
		text = allow;
	if ((allow ? xb_entry_parse : xb_entry_parse_listed)(text, strlen(text), form, entry,
							     NULL) ||
	    (comment && xb_comment_check(comment, strlen(comment))))
		return -EINVAL;
	/* Written so it may be meant for no packet at all. */
	if (xb_entry_is_ipv4(entry) && strchr(text, ':') && xb_too_wide(entry))
		return xb_input_error("'%s' means an IPv4 prefix %s", text, xb_too_wide(entry));
	if (allow)
		*entry = xb_entry_allow(entry);
	*member = (struct xb_membership){.added = (uint32_t)added,
					 .expires = (uint32_t)expires,
					 .comment = comment,
					 .comment_size = comment ? (uint32_t)strlen(comment) : 0};
	if (xb_list_need(txn, name, &list))
		return -EINVAL;
	member->list = list->id;
	return 0;
}

static int restore_entry(struct xb_writer *writer, const json_t *line, struct xb_restore *restore)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_membership member = {0};
	struct xb_entry entry = {0};
	enum xb_put put;
	int error = restore_terms(writer->txn, line, form, &entry, &member);

	if (error)
		return error;
	if (!xb_entry_is_allow(&entry) && xb_list_by_id(writer->txn, member.list)->share) {
		restore->shared++;
		return 0;
	}
	if (member.expires && member.expires <= writer->now) {
		restore->expired++;
		return 0;
	}
	restore->entries++;
	return xb_member_put(writer->txn, &entry, &member, XB_RENEW_EXPIRY | XB_RENEW_COMMENT,
			     &put);
}

/* Lines by the key that only they have; the first line of a text is the head, any other without
 * such a key an entry. */
enum line_kind { LINE_HEAD, LINE_INTERFACE, LINE_LIST, LINE_LIMIT, LINE_ENTRY };

static const char *const keys_of[] = {
	[LINE_HEAD] = ("schema saved fpr capacity confirm policy refused ports answer_limit known "
		       "admits_known memberships"),
	[LINE_INTERFACE] = "interface mode",
	[LINE_LIST] = "list verdict scope origins",
	[LINE_LIMIT] = ("limit to rate burst of per per4 per6 over capacity known list timeout "
			"longest forgeable"),
	[LINE_ENTRY] = "entry allow list added expires comment",
};

static bool is_among(const char *key, const char *words)
{
	size_t size = strlen(key);

	for (; *words; words += strcspn(words, " ") + (words[strcspn(words, " ")] == ' '))
		if (strcspn(words, " ") == size && !strncmp(words, key, size))
			return true;
	return false;
}

/* A key that is misspelt must not be one that is not there. What later versions add comes with
 * another schema. */
static int check_keys(const json_t *line, enum line_kind kind)
{
	const char *key;
	json_t *value;

	json_object_foreach(
		(json_t *)line, key,
		value) if (!is_among(key,
				     keys_of[kind])) return xb_input_error("unknown key \"%.64s\"; "
									   "here are known: %s",
									   key, keys_of[kind]);
	return 0;
}

static enum line_kind kind_of(const json_t *line, const struct xb_restore *restore)
{
	if (restore->line == 1)
		return LINE_HEAD;
	if (json_object_get(line, "interface"))
		return LINE_INTERFACE;
	if (json_object_get(line, "limit"))
		return LINE_LIMIT;
	return json_object_get(line, "verdict") || json_object_get(line, "scope") ||
			       json_object_get(line, "origins")
		       ? LINE_LIST
		       : LINE_ENTRY;
}

static int restore_object(struct xb_writer *writer, const json_t *line, struct xb_restore *restore)
{
	enum line_kind kind = kind_of(line, restore);
	/* Of a head the schema is looked at first: keys are unknown because it is another. */
	int error = kind == LINE_HEAD ? restore_head(writer->txn, line, restore) : 0;

	if (!error)
		error = check_keys(line, kind);
	if (error || kind == LINE_HEAD)
		return error;
	if (kind == LINE_INTERFACE)
		return restore_interface(writer->txn, line);
	if (kind == LINE_LIMIT)
		return xb_limit_line(&restore->limits, line);
	return kind == LINE_LIST ? xb_list_terms_line(writer->txn, line)
				 : restore_entry(writer, line, restore);
}

static int restore_line(struct xb_writer *writer, const char *text, size_t size,
			struct xb_restore *restore)
{
	json_error_t why;
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	int error;

	if (!json_is_object(line))
		error = xb_input_error("not a JSON object: %s", line ? "another value" : why.text);
	else
		error = restore_object(writer, line, restore);
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

/* A text may be cut off at the end of a line, which no line shows. */
static int check_count(const struct xb_restore *restore)
{
	uint64_t found = restore->entries + restore->expired + restore->shared;

	if (!restore->line)
		return xb_input_error("%s: empty", restore->name);
	if (!restore->counted || found == restore->memberships)
		return 0;
	return xb_input_error("%s: has %llu entries, but its first line says %llu; is it cut off? "
			      "(if it was edited, take \"memberships\" out of that line)",
			      restore->name, (unsigned long long)found,
			      (unsigned long long)restore->memberships);
}

static int restore_lines(struct xb_writer *writer, struct xb_restore *restore)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t size;
	int error = 0;

	while (!error && (size = getline(&text, &room, restore->file)) > 0) {
		restore->line++;
		error = restore_line(writer, text, (size_t)size, restore);
		if (error)
			xb_error_prefix(error, "%s:%lu", restore->name, restore->line);
	}
	free(text);
	if (!error && ferror(restore->file))
		error = xb_system_error(errno, "cannot read %s", restore->name);
	return error;
}

static int restore_all(struct xb_writer *writer, struct xb_restore *restore)
{
	struct xb_list_terms terms;
	int error = xb_list_terms_begin(&terms, writer->txn);

	if (!error)
		error = restore_lines(writer, restore);
	if (!error) {
		error = xb_list_terms_end(&terms, writer->txn);
		if (!error)
			error = xb_limit_lines_end(writer->txn, &restore->limits);
		if (error)
			xb_error_prefix(error, "%s", restore->name);
	}
	xb_list_terms_free(&terms);
	return error;
}

int xb_restore(struct xb_writer *writer, void *context)
{
	struct xb_restore *restore = context;
	int error;

	restore->line = restore->entries = restore->expired = restore->shared = 0;
	restore->counted = false;
	restore->limits = (struct xb_limits_wanted){0};
	writer->adopts = true;
	rewind(restore->file);
	error = xb_autoallow_keep_only(writer->txn);
	if (!error && restore->interfaces)
		error = remove_interfaces(writer->txn);
	if (!error)
		error = restore_all(writer, restore);
	if (!error && writer->away)
		error = xb_home_put(writer->txn);
	return error ? error : check_count(restore);
}

int xb_restore_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		    struct xb_restore *restore, struct xb_written *written)
{
	unsigned int how = XB_WRITE_HEAVY | XB_WRITE_SURVEY | XB_WRITE_ADOPT;
	int error = xb_write_wish(paths, how, wish, xb_restore, restore, written);

	if (error || wish->seconds)
		return error;
	error = xb_write(paths, how, NULL, NULL, written);
	return error ? xb_error_prefix(error,
				       "restored, but its interfaces wait for the next command")
		     : 0;
}

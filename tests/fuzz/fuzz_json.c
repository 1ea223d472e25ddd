/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words for `add`: what of them is accepted is in the JSON of list, test and save, which jansson
 * reads back to the same values. Words end in zero bytes: entry ('+' in front: to be allowed),
 * list, comment, and so on.
 */
#include <errno.h>

#include "bloomctl/edit.h"
#include "bloomctl/program.h"
#include "bloomctl/display.h"
#include "fuzz.h"
#include "store/flush.h"
#include "store/walk.h"

#define ADDS 8

struct words {
	char *text, *list, *comment; /* the last two may be empty: not given */
	bool allow;
};

struct added {
	struct words words;
	char entry[XB_ENTRY_TEXT]; /* as it is printed */
};

/* Refused: one line on stderr. */
static bool parse(const struct words *words, struct xb_edit *edit)
{
	static char allow[] = "allow", add[] = "add", exist[] = "--exist", force[] = "--force",
		    list[] = "--list", comment[] = "--comment", end[] = "--";
	const struct cli cli = {.program = &bloomctl_program, .verb = &verb_add, .quiet = true};
	char *argv[12], *line;
	int argc = 0;
	struct heard heard;
	bool refused;

	if (words->allow)
		argv[argc++] = allow;
	argv[argc++] = add;
	argv[argc++] = exist;
	argv[argc++] = force;
	if (*words->list)
		argv[argc++] = list, argv[argc++] = words->list;
	if (*words->comment)
		argv[argc++] = comment, argv[argc++] = words->comment;
	argv[argc++] = end;
	argv[argc++] = words->text;
	argv[argc] = NULL;
	hear(&heard, &stderr);
	refused = edit_parse(&cli, argc, argv, edit);
	hear_end(&heard);
	line = heard.text;
	if (refused) {
		must(heard.size && line[heard.size - 1] == '\n');
		line[heard.size - 1] = '\0';
		must_be_clear(line);
	}
	must(refused || !heard.size);
	free(heard.text);
	return !refused;
}

static bool add(struct xb_writer *writer, const struct words *words, struct added *added)
{
	struct xb_edit_result result = {0};
	struct xb_edit_refusal refusal;
	struct xb_edit edit;

	if (!parse(words, &edit))
		return false;
	must(edit.count == 1);
	must(!xb_edit_begin(writer, &edit.terms, &refusal));
	must(!xb_edit_apply(writer, &edit.terms, &edit.entries[0], &result, &refusal));
	added->words = *words;
	xb_entry_format(&edit.entries[0], added->entry);
	xb_edit_free(&edit);
	return true;
}

static struct words next_words(char **at, const char *end)
{
	struct words words = {0};
	char **each[] = {&words.text, &words.list, &words.comment};

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		*each[i] = *at;
		*at += strlen(*at);
		*at += *at < end;
	}
	words.allow = *words.text == '+';
	words.text += words.allow;
	return words;
}

/* What a verb prints that ends with this code. */
static char *answer_of(int (*verb)(struct cli *, int, char **), struct cli *cli, char **argv,
		       int code, size_t *size)
{
	struct heard heard;
	int argc = 0;

	while (argv[argc])
		argc++;
	hear(&heard, &stdout);
	optind = 0;
	must(verb(cli, argc, argv) == code);
	hear_end(&heard);
	*size = heard.size;
	return heard.text;
}

static json_t *json_of(int (*verb)(struct cli *, int, char **), struct cli *cli, char **argv,
		       int code)
{
	size_t size;
	char *text = answer_of(verb, cli, argv, code, &size);
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

	must(json_is_object(json));
	must(json_integer_value(json_object_get(json, "schema")) == 1);
	free(text);
	return json;
}

static bool is(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static const char *list_of(const struct words *words)
{
	return *words->list ? words->list : words->allow ? "allow" : "default";
}

/* Whether one of the entries is this one, in this list, with this comment. */
static bool has(const json_t *entries, const struct added *added)
{
	const char *comment = added->words.comment;
	json_t *entry, *list;
	size_t i, j;

	json_array_foreach(entries, i, entry)
	{
		if (!is(entry, "entry", added->entry))
			continue;
		json_array_foreach(json_object_get(entry, "lists"), j, list)
		{
			if (is(list, "name", list_of(&added->words)) &&
			    (!*comment || is(list, "comment", comment)))
				return true;
		}
	}
	return false;
}

/* A later one may have renewed the comment. */
static bool is_last(const struct added *added, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (added[i].words.allow == added->words.allow &&
		    !strcmp(added[i].entry, added->entry) &&
		    !strcmp(list_of(&added[i].words), list_of(&added->words)))
			return false;
	return true;
}

static int list(struct cli *cli, int argc, char **argv)
{
	return display_list(cli, argc, argv, &XB_WALK_LISTED);
}

static int allow_list(struct cli *cli, int argc, char **argv)
{
	return display_list(cli, argc, argv, &XB_WALK_ALLOW);
}

static void check_list(struct cli *cli, const struct added *added, size_t count, bool allow)
{
	static char word[] = "list";
	char *argv[] = {word, NULL};
	json_t *json = json_of(allow ? allow_list : list, cli, argv, EXIT_DONE);
	const json_t *entries = json_object_get(json, "entries");

	for (size_t i = 0; i < count; i++)
		if (added[i].words.allow == allow && is_last(&added[i], count - i))
			must(has(entries, &added[i]));
	json_decref(json);
}

/* A domain asks for its name, which is listed alone, too. */
static bool covers(const struct xb_entry *outer, const struct xb_entry *asked)
{
	struct xb_entry whole = *outer;

	if (xb_entry_is_name(outer) && xb_entry_is_name(asked) &&
	    xb_name_is_exact(outer->name, outer->length) && asked->length == outer->length - 1)
		whole.length--;
	return xb_entry_inside(&whole, asked);
}

/* An exception asks for the name that it lets pass. */
static char *asked_text(struct added *added)
{
	return added->entry + (*added->entry == '!');
}

/* form: stays that of the entry. */
static struct xb_entry listed_entry(const struct added *added, uint8_t form[XB_NAME_BYTES])
{
	struct xb_entry entry;

	must(!xb_entry_parse_listed(added->entry, strlen(added->entry), form, &entry, NULL));
	return entry;
}

/* Which of its list decides about a name: the most specific entry that covers it, of two for the
 * same name the exception. Returns its number; count: none does. */
static size_t deciding(const struct added *added, size_t count, const char *list,
		       const struct xb_entry *asked)
{
	size_t decides = count, longest = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t form[XB_NAME_BYTES];
		struct xb_entry entry, as_name;

		if (added[i].words.allow || strcmp(list_of(&added[i].words), list) != 0)
			continue;
		entry = listed_entry(&added[i], form);
		as_name = xb_entry_is_name(&entry) ? xb_entry_as(&entry, XB_NAME) : entry;
		if (!covers(&as_name, asked) || entry.length < longest ||
		    (decides < count && entry.length == longest && entry.kind != XB_EXCEPT_NAME))
			continue;
		decides = i;
		longest = entry.length;
	}
	return decides;
}

/* Whether its list has the entry asked for as one that counts: each address that covers it does,
 * and of names the one that decides. */
static bool counts(const struct added *added, size_t count, size_t number,
		   const struct xb_entry *asked)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry = listed_entry(&added[number], form);
	size_t decides;

	if (added[number].words.allow || entry.kind == XB_EXCEPT_NAME)
		return false;
	if (!xb_entry_is_name(&entry))
		return covers(&entry, asked);
	decides = deciding(added, count, list_of(&added[number].words), asked);
	return decides < count && !strcmp(added[decides].entry, added[number].entry);
}

static struct xb_entry asked_entry(struct added *added, uint8_t form[XB_NAME_BYTES])
{
	const char *text = asked_text(added);
	struct xb_entry entry;

	must(!xb_entry_parse(text, strlen(text), form, &entry, NULL));
	return entry;
}

static void check_test(struct cli *cli, struct added *added, size_t count)
{
	static char word[] = "test", end[] = "--";
	char *argv[ADDS + 3] = {word, end};
	uint8_t form[ADDS][XB_NAME_BYTES];
	struct xb_entry asked[ADDS];
	bool listed[ADDS] = {false}, all = true;
	json_t *json;

	for (size_t i = 0; i < count; i++) {
		argv[i + 2] = asked_text(&added[i]);
		asked[i] = asked_entry(&added[i], form[i]);
		for (size_t j = 0; j < count; j++)
			listed[i] |= counts(added, count, j, &asked[i]);
		all &= listed[i];
	}
	if (!count)
		return;
	json = json_of(verb_test.run, cli, argv, all ? EXIT_DONE : EXIT_ABSENT);
	for (size_t i = 0; i < count; i++) {
		const char *by = added[i].words.allow ? "allowed_by" : "by";
		const json_t *answer = json_array_get(json_object_get(json, "entries"), i);

		must(is(answer, "entry", asked_text(&added[i])));
		must(json_is_true(json_object_get(answer, "listed")) == listed[i]);
		if (is_last(&added[i], count - i) &&
		    (added[i].words.allow || counts(added, count, i, &asked[i])))
			must(has(json_object_get(answer, by), &added[i]));
	}
	json_decref(json);
}

static bool is_saved(const json_t *line, const struct added *added)
{
	const struct words *words = &added->words;

	return is(line, words->allow ? "allow" : "entry", added->entry) &&
	       is(line, "list", list_of(words)) &&
	       (!*words->comment || is(line, "comment", words->comment));
}

/* Each line is an object, and one of them is this one. */
static void check_save(struct cli *cli, const struct added *added, size_t count)
{
	static char word[] = "save";
	char *argv[] = {word, NULL}, *text, *line, *rest;
	size_t size, found = 0, wanted = 0;

	text = answer_of(verb_save.run, cli, argv, EXIT_DONE, &size);
	must(strlen(text) == size && size && text[size - 1] == '\n');
	for (rest = text; (line = strsep(&rest, "\n")) && rest;) {
		json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		must(json_is_object(object));
		for (size_t i = 0; i < count; i++)
			found += is_last(&added[i], count - i) && is_saved(object, &added[i]);
		json_decref(object);
	}
	for (size_t i = 0; i < count; i++)
		wanted += is_last(&added[i], count - i);
	must(found == wanted);
	free(text);
}

/* What is in the store then. */
static size_t add_all(struct xb_writer *writer, char *text, size_t size, struct added *added)
{
	char *at = text, *end = text + size;
	size_t count = 0;

	while (at < end && count < ADDS) {
		struct words words = next_words(&at, end);

		count += add(writer, &words, &added[count]);
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cli cli = {
		.program = &bloomctl_program,
		.paths = {.state = fuzz_directory(), .pins = "/nowhere", .run = "/nowhere"},
		.verb = &verb_add,
		.json = true,
		.pretty = size & 1};
	struct xb_writer writer = {.builder_lock = -1, .writer_lock = -1, .now = FUZZ_NOW};
	struct added added[ADDS];
	char *text = malloc(size + 1);
	size_t count;

	xb_notice_sink(note_must_be_clear);
	must(text);
	memcpy(text, data, size);
	text[size] = '\0';
	must(!xb_store_open(cli.paths.state, XB_STORE_CREATE, &writer.store));
	must(!xb_store_write(writer.store, &writer.txn));
	must(!xb_flush_all(writer.txn));
	count = add_all(&writer, text, size, added);
	must(!xb_txn_commit(writer.txn));
	xb_store_close(writer.store);
	check_list(&cli, added, count, false);
	check_list(&cli, added, count, true);
	check_test(&cli, added, count);
	check_save(&cli, added, count);
	free(text);
	return 0;
}

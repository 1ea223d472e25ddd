/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft, as text: what `nft list set` writes, and commands for `nft -f`: the addresses of a set. What
 * has rules is read from JSON (nftrules.c), where nft has resolved everything.
 */
#include "lists/nft.h"

#include <errno.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/line.h"

/* With the words of XB_ADVICE_PIPE. */
#define READABLE "`nft -j list ruleset%s` gives what nft has loaded"

/* --- tokens --- */

enum token {
	WORD,
	STRING,	 /* in double quotes, which are not part of it */
	MARK,	 /* one of { } , = */
	NEWLINE, /* ends a statement, unless it is within elements */
	SEMICOLON,
	END,
	OPEN_QUOTE,
};

struct timed {
	char path[XB_NFT_PATH];
	uint32_t timeout;
};

struct nft_text {
	struct xb_reading *reading;
	const char *at; /* behind the token */
	enum token token;
	const char *start; /* of the token */
	size_t size;
	bool looks; /* for rules only: no element is taken */
	struct xb_nft_chosen chosen;
	struct timed *timed; /* the sets whose elements have a timeout unless they say another */
	size_t timed_count, timed_room;
};

static const char *skip_blanks(struct xb_listfile *file, const char *at)
{
	for (;;) {
		at += strspn(at, XB_BLANKS);
		if (*at == '#')
			at += strcspn(at, "\n");
		if (*at != '\\' || at[1 + strspn(at + 1, "\r")] != '\n')
			return at;
		at = strchr(at, '\n') + 1;
		file->lines++;
	}
}

static void take_string(struct nft_text *text)
{
	const char *end = text->start + strcspn(text->start, "\"\n");

	text->token = *end == '"' ? STRING : OPEN_QUOTE;
	text->size = (size_t)(end - text->start);
	text->at = end + (*end == '"');
}

/* Goes on to the next token, whose line is file->lines; but a line end is in the line before. */
static void advance(struct nft_text *text)
{
	struct xb_listfile *file = text->reading->file;
	const char *at = skip_blanks(file, text->at);

	file->lines += text->token == NEWLINE && *at;
	text->start = at;
	text->size = 1;
	text->at = at + 1;
	switch (*at) {
	case '\0':
		text->token = END;
		text->at = at;
		break;
	case '\n':
		text->token = NEWLINE;
		break;
	case ';':
		text->token = SEMICOLON;
		break;
	case '{':
	case '}':
	case ',':
	case '=':
		text->token = MARK;
		break;
	case '"':
		text->start++;
		take_string(text);
		break;
	default:
		text->token = WORD;
		text->size = strcspn(at, XB_BLANKS "\n;{},=\"#\\");
		text->size += !text->size;
		text->at = at + text->size;
	}
}

static void advance_over_newlines(struct nft_text *text)
{
	do
		advance(text);
	while (text->token == NEWLINE);
}

static bool is_mark(const struct nft_text *text, char mark)
{
	return text->token == MARK && *text->start == mark;
}

static bool is_word(const struct nft_text *text, const char *word)
{
	return text->token == WORD && text->size == strlen(word) &&
	       !memcmp(text->start, word, text->size);
}

static bool is_one_of(const struct nft_text *text, const char *const words[])
{
	while (*words && !is_word(text, *words))
		words++;
	return *words;
}

#define IS_ONE_OF(text, ...) is_one_of(text, (const char *const[]){__VA_ARGS__, NULL})

/* At a line end, a semicolon or the brace that ends what is around. */
static bool is_at_end(const struct nft_text *text)
{
	return text->token >= NEWLINE || is_mark(text, '}');
}

static int refuse(const struct nft_text *text)
{
	char shown[XB_SHOWN + 1];

	text->reading->hopeless = true;
	if (text->token == END)
		return xb_input_error("the file ends within a set");
	if (text->token == OPEN_QUOTE)
		return xb_input_error("an open quote");
	if (text->token == NEWLINE)
		return xb_input_error("a line that ends too early; " READABLE,
				      xb_advice(XB_ADVICE_PIPE));
	return xb_input_error("'%s' is not what a listing of sets has; " READABLE,
			      xb_utf8_show(text->start,
					   text->size < XB_SHOWN ? text->size : XB_SHOWN, shown,
					   sizeof(shown)),
			      xb_advice(XB_ADVICE_PIPE));
}

/* Rules, and what only nft can resolve. */
static int refuse_rules(const struct nft_text *text, const char *what)
{
	text->reading->hopeless = true;
	return xb_input_error("%s; " READABLE ", and `nft list set FAMILY TABLE SET` one set", what,
			      xb_advice(XB_ADVICE_PIPE));
}

/* --- values --- */

/* "1d2h3m4s5ms" in whole seconds, at least one: what has not ended yet must not stay for ever. */
static int read_time(const char *text, uint32_t *seconds)
{
	static const struct {
		const char *unit;
		uint64_t milliseconds;
	} units[] = {{"ms", 1}, {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}};
	uint64_t sum = 0;
	const char *at = text;

	*seconds = 0;
	if (!strcmp(text, "never"))
		return 0;
	while (*at) {
		char *end;
		unsigned long long number = strtoull(at, &end, 10);
		size_t unit = 0;

		while (unit < 5 && strncmp(end, units[unit].unit, strlen(units[unit].unit)) != 0)
			unit++;
		if (end == at || unit == 5 || number > UINT32_MAX || !strchr(XB_DIGITS, *at))
			break;
		sum += number * units[unit].milliseconds;
		at = end + strlen(units[unit].unit);
	}
	if (*at || at == text || sum / 1000 >= UINT32_MAX)
		return xb_input_error("'%s' is not a time such as 1d2h3m4s", XB_SHOW(text));
	*seconds = (uint32_t)((sum + 999) / 1000);
	*seconds += !*seconds;
	return 0;
}

#define TEXT_BYTES (2 * XB_ENTRY_TEXT)

/* A copy of the token; one that is too long is wrong wherever it stands. */
static const char *copy_token(const struct nft_text *text, char room[TEXT_BYTES])
{
	snprintf(room, TEXT_BYTES, "%.*s", (int)(text->size < TEXT_BYTES ? text->size : TEXT_BYTES),
		 text->start);
	return room;
}

/* The time behind a word. */
static int take_time(struct nft_text *text, uint32_t *seconds)
{
	char room[TEXT_BYTES];

	advance(text);
	return read_time(text->token == WORD ? copy_token(text, room) : "", seconds);
}

int xb_nft_address(struct xb_listfile *file, const char *text, struct xb_span *span, bool *mapped)
{
	int error = xb_addresses_span(file, text, span);

	*mapped = !error && !span->ipv6 && strchr(text, ':');
	return error;
}

/* --- which set --- */

int xb_nft_counts(struct xb_reading *reading, struct xb_nft_chosen *chosen, const char *path,
		  bool *counts)
{
	const char *asked = reading->choice ? reading->choice->set : NULL;
	const char *name = strrchr(path, ' ');
	bool by_name = asked && name && !strcmp(asked, name + 1);
	int error = xb_sets_take(reading, by_name ? name + 1 : path, counts);

	if (error || !*counts)
		return error;
	if (!*chosen->path)
		snprintf(chosen->path, sizeof(chosen->path), "%s", path);
	if (!strcmp(chosen->path, path))
		return 0;
	reading->hopeless = true;
	return xb_input_error("two sets are called '%s': choose '%s' or '%s'%s", XB_SHOW(asked),
			      XB_SHOW(chosen->path), XB_SHOW(path), xb_advice(XB_ADVICE_SET));
}

static int remember_timeout(struct nft_text *text, const char *path, uint32_t timeout)
{
	struct timed *timed;
	int error = timeout ? xb_array_grow(&text->timed, &text->timed_room, text->timed_count + 1,
					    sizeof(*timed))
			    : 0;

	if (error || !timeout)
		return error;
	timed = &text->timed[text->timed_count++];
	snprintf(timed->path, sizeof(timed->path), "%s", path);
	timed->timeout = timeout;
	return 0;
}

/* The elements of the set that is read have its timeout, unless they say another. */
static void finish_timeouts(const struct nft_text *text)
{
	struct xb_listfile *file = text->reading->file;
	uint32_t timeout = 0;

	for (size_t i = 0; i < text->timed_count; i++)
		if (!strcmp(text->timed[i].path, text->chosen.path))
			timeout = text->timed[i].timeout;
	for (size_t i = 0; timeout && i < file->count; i++)
		if (!file->items[i].timeout)
			file->items[i].timeout = timeout;
}

/* --- elements --- */

static int take_number(struct nft_text *text)
{
	advance(text);
	return text->token == WORD && strspn(text->start, XB_DIGITS) >= text->size
		       ? 0
		       : xb_input_error("a counter without its numbers");
}

/* A word behind the address, with what belongs to it, whose last token is the one it stays at. */
static int take_option(struct nft_text *text, struct xb_item *item, char comment[TEXT_BYTES])
{
	char shown[TEXT_BYTES];

	/* What is left of the time counts, and comes last. */
	if (IS_ONE_OF(text, "timeout", "expires"))
		return take_time(text, &item->timeout);
	if (IS_ONE_OF(text, "packets", "bytes"))
		return take_number(text);
	if (is_word(text, "counter"))
		return 0;
	if (!is_word(text, "comment"))
		return xb_input_error("'%s' is not what an address in a set may have",
				      XB_SHOW(copy_token(text, shown)));
	advance(text);
	copy_token(text, comment);
	return text->token == STRING ? 0 : xb_input_error("the comment is not in double quotes");
}

/* An address, a prefix or a range, which may have blanks around its dash. */
static void take_key(struct nft_text *text, char key[TEXT_BYTES])
{
	char more[TEXT_BYTES];

	copy_token(text, key);
	advance_over_newlines(text);
	while (text->token == WORD && (*text->start == '-' || key[strlen(key) - 1] == '-')) {
		copy_token(text, more);
		strncat(key, more, TEXT_BYTES - 1 - strlen(key));
		advance_over_newlines(text);
	}
}

static int keep_element(struct xb_listfile *file, const char *key, const struct xb_item *item,
			const char *comment)
{
	struct xb_span span;
	bool mapped;
	int error = xb_nft_address(file, key, &span, &mapped);

	if (error)
		return error;
	if (mapped)
		return xb_line_unknown(file, file->lines, "'%s' is the source of no packet",
				       XB_SHOW(key));
	return xb_span_keep(file, &span, item, comment);
}

static bool is_at_element_end(const struct nft_text *text)
{
	return is_mark(text, ',') || is_mark(text, '}');
}

static int take_options(struct nft_text *text, struct xb_item *item, char comment[TEXT_BYTES])
{
	while (!is_at_element_end(text)) {
		int error = text->token == WORD ? take_option(text, item, comment) : refuse(text);

		if (error)
			return error;
		advance_over_newlines(text);
	}
	return 0;
}

static int take_element(struct nft_text *text)
{
	struct xb_listfile *file = text->reading->file;
	char key[TEXT_BYTES], comment[TEXT_BYTES] = "";
	struct xb_item item = {0};
	uint64_t line = file->lines, end;
	int error;

	if (text->token != WORD)
		return refuse(text);
	if (*text->start == '$')
		return refuse_rules(text, "a variable, whose value only nft knows");
	take_key(text, key);
	error = take_options(text, &item, comment);
	if (error)
		return error;
	end = file->lines;
	file->lines = line;
	error = keep_element(file, key, &item, comment);
	if (!error)
		file->lines = end;
	return error;
}

/* Goes on to the end of an element that is wrong, if it may be left out. */
static int leave_element_out(struct nft_text *text, size_t before, int error)
{
	error = xb_line_leave_out(text->reading, before, error);
	while (!error && !is_at_element_end(text)) {
		if (text->token >= SEMICOLON)
			return refuse(text);
		advance_over_newlines(text);
	}
	return error;
}

static int skip_elements(struct nft_text *text)
{
	while (!is_mark(text, '}')) {
		if (text->token >= SEMICOLON || is_mark(text, '{'))
			return refuse(text);
		advance_over_newlines(text);
	}
	return 0;
}

static int take_each_element(struct nft_text *text)
{
	int error = 0;

	while (!error && !is_mark(text, '}')) {
		size_t before = text->reading->file->count;

		error = take_element(text);
		if (error)
			error = leave_element_out(text, before, error);
		if (!error && is_mark(text, ','))
			advance_over_newlines(text);
	}
	return error;
}

/* `{ 192.0.2.1, ... }` of the set. */
static int take_elements(struct nft_text *text, const char *path, bool usable)
{
	struct xb_listfile *file = text->reading->file;
	bool counts = false;
	int error = 0;

	if (!is_mark(text, '{'))
		return refuse(text);
	advance_over_newlines(text);
	if (!text->looks && !is_mark(text, '}') && usable)
		error = xb_nft_counts(text->reading, &text->chosen, path, &counts);
	else if (!text->looks && !is_mark(text, '}'))
		error = xb_line_unknown(file, file->lines,
					"the elements of '%s' are not sources alone",
					XB_SHOW(path));
	if (!error)
		error = counts ? take_each_element(text) : skip_elements(text);
	if (!error)
		advance(text);
	return error;
}

/* --- statements --- */

/* Goes on to the end of the statement, over what it has in braces. */
static int skip_statement(struct nft_text *text)
{
	for (size_t depth = 0; depth || !is_at_end(text); advance(text)) {
		if (text->token >= END)
			return refuse(text);
		depth += is_mark(text, '{');
		depth -= is_mark(text, '}');
	}
	return 0;
}

static void put_word(const struct nft_text *text, struct xb_line *line)
{
	xb_line_put(line, "%s%.*s", line->used ? " " : "", (int)text->size, text->start);
}

/* So many names, as "FAMILY TABLE SET"; the family may be missing. */
static int take_path(struct nft_text *text, size_t names, char path[XB_NFT_PATH])
{
	struct xb_line line = {path, XB_NFT_PATH, 0};

	if (IS_ONE_OF(text, "ip", "ip6", "inet", "arp", "bridge", "netdev"))
		names++;
	else
		xb_line_put(&line, "ip");
	while (names--) {
		if (text->token != WORD || text->size >= XB_NFT_NAME)
			return refuse(text);
		put_word(text, &line);
		advance(text);
	}
	return 0;
}

/* Whether the elements of that type are sources. */
static bool take_type(struct nft_text *text)
{
	static const char *const types[2][2] = {{"ipv4_addr", "ip saddr"},
						{"ipv6_addr", "ip6 saddr"}};
	bool expression = is_word(text, "typeof");
	char all[64] = "";
	struct xb_line line = {all, sizeof(all), 0};

	for (advance(text); text->token == WORD; advance(text))
		put_word(text, &line);
	return !strcmp(all, types[0][expression]) || !strcmp(all, types[1][expression]);
}

/* A set, whose block is being read. */
struct set {
	const char *path;
	bool usable;
	uint32_t timeout;
};

static int take_set_statement(struct nft_text *text, struct set *set)
{
	int error = 0;

	if (IS_ONE_OF(text, "type", "typeof")) {
		set->usable = take_type(text);
	} else if (is_word(text, "timeout")) {
		error = take_time(text, &set->timeout);
		advance(text);
	} else if (is_word(text, "elements")) {
		advance(text);
		if (!is_mark(text, '='))
			return refuse(text);
		advance_over_newlines(text);
		error = take_elements(text, set->path, set->usable);
	} else if (IS_ONE_OF(text, "flags", "size", "policy", "auto-merge", "gc-interval",
			     "comment", "counter", "quota", "limit", "last", "ct")) {
		error = skip_statement(text);
	} else {
		return refuse(text);
	}
	return error ?: is_at_end(text) ? error : refuse(text);
}

static bool skip_separators(struct nft_text *text)
{
	while (text->token == NEWLINE || text->token == SEMICOLON)
		advance(text);
	return text->token < NEWLINE && !is_mark(text, '}');
}

/* From the brace in front to the one at the end. */
static int take_set(struct nft_text *text, const char *path)
{
	struct set set = {.path = path};
	int error = 0;

	if (!is_mark(text, '{'))
		return refuse(text);
	advance(text);
	while (!error && skip_separators(text))
		error = take_set_statement(text, &set);
	if (!error && !is_mark(text, '}'))
		return refuse(text);
	if (!error)
		error = remember_timeout(text, path, set.timeout);
	advance(text);
	return error;
}

/* In the block of a table. */
static int take_table_statement(struct nft_text *text, const char *table)
{
	char path[XB_NFT_PATH];
	struct xb_line line = {path, sizeof(path), 0};

	if (is_word(text, "chain"))
		return refuse_rules(text, "the file has rules, which decide what passes");
	if (IS_ONE_OF(text, "flags", "comment", "counter", "quota", "limit", "secmark", "synproxy",
		      "flowtable", "ct"))
		return skip_statement(text);
	if (!IS_ONE_OF(text, "set", "map"))
		return refuse(text);
	advance(text);
	if (text->token != WORD || text->size >= XB_NFT_NAME)
		return refuse(text);
	xb_line_put(&line, "%s", table);
	put_word(text, &line);
	advance(text);
	return take_set(text, path);
}

static int take_table(struct nft_text *text)
{
	char table[XB_NFT_PATH];
	int error = take_path(text, 1, table);

	if (error || is_at_end(text))
		return error;
	if (!is_mark(text, '{'))
		return refuse(text);
	advance(text);
	while (!error && skip_separators(text)) {
		error = take_table_statement(text, table);
		if (!error && !is_at_end(text))
			error = refuse(text);
	}
	if (!error && !is_mark(text, '}'))
		return refuse(text);
	advance(text);
	return error;
}

/* `add set inet filter bad { ... }`, `add element inet filter bad { ... }` */
static int take_command(struct nft_text *text)
{
	char path[XB_NFT_PATH];
	bool elements;
	int error;

	advance(text);
	if (IS_ONE_OF(text, "chain", "rule"))
		return refuse_rules(text, "the file has rules, which decide what passes");
	if (is_word(text, "table")) {
		advance(text);
		return take_table(text);
	}
	if (!IS_ONE_OF(text, "set", "map", "element"))
		return refuse(text);
	elements = is_word(text, "element");
	advance(text);
	error = take_path(text, 2, path);
	if (error)
		return error;
	return elements ? take_elements(text, path, true) : take_set(text, path);
}

static int take_statement(struct nft_text *text)
{
	if (is_word(text, "table")) {
		advance(text);
		return take_table(text);
	}
	if (IS_ONE_OF(text, "add", "create"))
		return take_command(text);
	if (IS_ONE_OF(text, "chain", "rule", "insert", "replace"))
		return refuse_rules(text, "the file has rules, which decide what passes");
	if (IS_ONE_OF(text, "define", "redefine", "undefine", "include"))
		return refuse_rules(text, "what it means only nft knows");
	/* In front of all elements, as scripts have them. */
	if (IS_ONE_OF(text, "flush", "delete", "destroy") && !text->reading->file->count)
		return skip_statement(text);
	return refuse(text);
}

static int take_statements(struct nft_text *text)
{
	int error = 0;

	advance(text);
	while (!error && skip_separators(text)) {
		error = take_statement(text);
		if (!error && !is_at_end(text))
			error = refuse(text);
	}
	return error || text->token == END ? error : refuse(text);
}

/* Of a file with rules these are the message, whatever its sets are. */
static int take_sets(struct xb_reading *reading, const char *bytes)
{
	struct nft_text text = {.reading = reading, .at = bytes, .token = WORD, .looks = true};
	int error = take_statements(&text);

	free(text.timed);
	if (error)
		return error;
	text = (struct nft_text){.reading = reading, .at = bytes, .token = WORD};
	reading->file->lines = reading->text_line;
	error = take_statements(&text);
	if (!error)
		finish_timeouts(&text);
	free(text.timed);
	return error;
}

/* --- the format --- */

static int take_text(struct xb_reading *reading, char *text, size_t size)
{
	if (text[strspn(text, XB_BLANKS "\n")] == '{')
		return xb_json_format.document(reading, text, size);
	reading->file->lines = reading->text_line;
	return take_sets(reading, text);
}

static bool detect_nft(const char *line)
{
	static const char *const verbs[] = {"add",   "create", "insert",  "replace",
					    "flush", "delete", "destroy", "reset"};
	static const char *const objects[] = {"table", "set",  "map",	 "element",
					      "chain", "rule", "ruleset"};
	static const char *const alone[] = {"table", "define", "include"};
	size_t size = strcspn(line, XB_BLANKS), next;

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (line[size] && size == strlen(alone[i]) && !memcmp(line, alone[i], size))
			return true;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (size != strlen(verbs[i]) || memcmp(line, verbs[i], size) != 0)
			continue;
		line += size + strspn(line + size, XB_BLANKS);
		next = strcspn(line, XB_BLANKS ";");
		for (size_t j = 0; j < sizeof(objects) / sizeof(objects[0]); j++)
			if (next == strlen(objects[j]) && !memcmp(line, objects[j], next))
				return true;
		return false;
	}
	return false;
}

const struct xb_list_format xb_nft_format = {"nft",	      detect_nft,    NULL,
					     .comments = "#", .sets = "set", .document = take_text};

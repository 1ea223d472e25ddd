/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements of nginx, which end with a mark wherever it stands, and its blocks. */
#include <strings.h>

#include "base/array.h"
#include "lists/addresstext.h"
#include "lists/line.h"
#include "lists/webservers.h"

static int take_nginx_access(struct xb_reading *reading, const char *shown, bool allows, char *rest,
			     const char *comment)
{
	struct xb_web_access access = {.allows = allows,
				       .set = XB_WEB_NONE,
				       .line = reading->file->lines,
				       .text = shown,
				       .next = XB_WEB_NONE};
	const char *word = xb_line_word(&rest);
	struct xb_span span;
	size_t size;
	int error;

	if (!word || xb_line_word(&rest))
		return xb_input_error("'%s' names not just one source", shown);
	size = strlen(word);
	if (*word == '"' && size > 1 && word[size - 1] == '"') {
		((char *)(uintptr_t)word)[size - 1] = '\0';
		word++;
	}
	if (!strcmp(word, "all"))
		return xb_web_add_access(reading, &access);
	if (!strcmp(word, "unix:") || !strncasecmp(word, "::ffff:", 7)) /* no packet's source */
		return 0;
	error = strchr(word, '-')
			? xb_input_error("'%s' is not an address or prefix", XB_SHOW(word))
			: xb_addresses_span(reading->file, word, &span);
	return error ? error : xb_web_add_address(reading, &access, &span, comment);
}

/* What answers before anybody is asked who he is. */
static bool answers(const char *statement)
{
	const char *code = statement + strcspn(statement, XB_BLANKS);

	code += strspn(code, XB_BLANKS);
	if (!strncmp(statement, "return", 6))
		return strcmp(code, "403") != 0 && strcmp(code, "444") != 0;
	return !strncmp(statement, "rewrite", 7) || !strncmp(statement, "js_", 3) ||
	       strstr(statement, "_by_lua") || !strncmp(statement, "perl", 4) ||
	       (!strncmp(statement, "error_page", 10) && strstr(statement, "403"));
}

static bool begins_with(const char *statement, const char *word)
{
	size_t size = strlen(word);

	return !strncmp(statement, word, size) &&
	       (!statement[size] || strchr(XB_BLANKS, statement[size]));
}

static int take_statement(struct xb_reading *reading, char *statement, const char *comment)
{
	const char *shown = xb_web_show(reading, statement);

	if (!shown)
		return -EIO;
	if (begins_with(statement, "deny"))
		return take_nginx_access(reading, shown, false, statement + 4, comment);
	if (begins_with(statement, "allow"))
		return take_nginx_access(reading, shown, true, statement + 5, "");
	if (begins_with(statement, "include"))
		return xb_input_error(
			"there may be rules in another file: '%s'; `nginx -T` writes all "
			"files",
			shown);
	if (begins_with(statement, "real_ip_header") || begins_with(statement, "set_real_ip_from"))
		return xb_input_error("'%s': sources are what a header says, not who sends packets",
				      shown);
	if (begins_with(statement, "satisfy"))
		return strstr(statement, "any") ? xb_web_let_pass(reading, "a password", statement)
						: 0;
	if (answers(statement))
		return xb_web_let_pass(reading, "it answers everybody", statement);
	return 0;
}

/* Of `NAME ... {` */
static int open_block(struct xb_reading *reading, const char *statement)
{
	static const struct {
		const char *name, *condition;
	} blocks[] = {{"server", "a server"},
		      {"location", "a location"},
		      {"if", "an if"},
		      {"limit_except", "a method"},
		      {"stream", "another service than HTTP"},
		      {"mail", "another service than HTTP"}};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (begins_with(statement, blocks[i].name) ||
		    (!strncmp(statement, "if(", 3) && !strcmp(blocks[i].name, "if")))
			return xb_web_open_section(reading, blocks[i].condition, statement);
	if (begins_with(statement, "http"))
		return xb_web_open_section(reading, NULL, statement);
	return xb_web_open_section(reading, "a block", statement);
}

/* Goes over a character, perhaps with the next one, to which it gives another meaning, and returns
 * how many these are. *marks: it ends a statement or a block. Quotes, '}' and '#' are special where
 * a word begins, and only there. */
static size_t go_over(struct xb_web_place *place, const char *at, bool *marks)
{
	bool begins = !place->inside;

	*marks = false;
	place->inside = true;
	if ((*at == '\\' && at[1]) || !strncmp(at, "${", 2))
		return 2;
	if (place->quote) {
		place->quote = *at == place->quote ? '\0' : place->quote;
	} else if (begins && strchr("\"'", *at)) {
		place->quote = *at;
	} else {
		*marks = strchr(begins ? ";{}" : ";{", *at);
		place->inside = !*marks && !strchr(XB_BLANKS, *at);
	}
	return 1;
}

static char *find_comment(struct xb_web_place place, char *line)
{
	bool marks;

	while (*line && (place.quote || place.inside || *line != '#'))
		line += go_over(&place, line, &marks);
	return *line ? line : NULL;
}

static int take_mark(struct xb_reading *reading, char mark, const char *comment)
{
	struct xb_list_web *web = reading->web;
	char *statement = web->statement;

	statement[web->used] = '\0';
	web->used = 0;
	statement = xb_line_trim(statement);
	if (mark == ';')
		return *statement ? take_statement(reading, statement, comment) : 0;
	if (mark == '{')
		return open_block(reading, statement);
	return *statement ? xb_input_error("'%s' does not end with ';'", XB_SHOW(statement))
			  : xb_web_close_section(reading);
}

/* Puts what the line has of a statement behind what came, until a mark ends it. */
int xb_web_take_nginx(struct xb_reading *reading, char *line)
{
	struct xb_list_web *web = reading->web;
	char *mark = find_comment(web->place, line);
	const char *comment = mark ? xb_line_trim(mark + 1) : "";
	size_t count;
	bool marks;
	int error = 0;

	if (mark)
		*mark = '\0';
	for (; !error && *line; line += count) {
		count = go_over(&web->place, line, &marks);
		if (marks) {
			error = take_mark(reading, *line, comment);
			continue;
		}
		if (web->used + 4 > sizeof(web->statement))
			return xb_input_error("a statement of more than %d bytes",
					      XB_WEB_STATEMENT);
		memcpy(web->statement + web->used, line, count);
		web->used += count;
	}
	web->place.inside = false;
	if (!error && web->used)
		web->statement[web->used++] = ' ';
	return error;
}

bool xb_web_is_nginx(char *line)
{
	const char *comment = find_comment((struct xb_web_place){0}, line);
	size_t size = comment ? (size_t)(comment - line) : strlen(line);

	while (size && strchr(XB_BLANKS, line[size - 1]))
		size--;
	return size && strchr(";{}", line[size - 1]);
}

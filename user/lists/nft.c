/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft: what `nft list set` writes, and commands for `nft -f`: the addresses of one set. Sets of
 * something else are left out. What has rules or several sets is refused: which of their sources
 * are to be dropped, only nft could tell.
 */
#include <stdio.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

struct xb_list_nft {
	char current[XB_SHOWN + 1]; /* the name of the set that is being read */
	char listed[XB_SHOWN + 1];  /* of the one that has addresses; "": none yet */
	bool in_elements;	    /* between the braces of a set */
	bool usable;		    /* the set has addresses */
	uint32_t timeout;	    /* of the set */
};

static struct xb_list_nft *begun(struct xb_reading *reading)
{
	if (!reading->nft)
		reading->nft = calloc(1, sizeof(*reading->nft));
	return reading->nft;
}

void xb_listnft_end(struct xb_reading *reading)
{
	free(reading->nft);
	reading->nft = NULL;
}

static bool begins(const char *line, const char *words)
{
	return !strncmp(line, words, strlen(words));
}

static bool detect_nft(const char *line)
{
	return begins(line, "table ") || begins(line, "add element ") ||
	       begins(line, "create element ") || begins(line, "flush ruleset") ||
	       begins(line, "flush set ") || begins(line, "add set ") || begins(line, "add table ");
}

static void enter_set(struct xb_list_nft *nft, const char *name)
{
	snprintf(nft->current, sizeof(nft->current), "%s", XB_SHOW(name));
	nft->timeout = 0;
}

/* "1d2h3m4s5ms" in whole seconds, at least one: what has not ended yet must not stay for ever. */
static int read_time(const char *text, uint32_t *seconds)
{
	static const struct {
		const char *unit;
		uint64_t milliseconds;
	} units[] = {{"ms", 1}, {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}};
	uint64_t sum = 0;
	const char *at = text;

	while (*at) {
		char *end;
		unsigned long long number = strtoull(at, &end, 10);
		size_t unit = 0;

		while (unit < 5 && !begins(end, units[unit].unit))
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

static char *take_comment(char **rest)
{
	char *start = strchr(*rest, '"'), *end = start ? strchr(start + 1, '"') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return start + 1;
}

static bool skip_counter(char **rest)
{
	for (*rest += strspn(*rest, XB_BLANKS);
	     begins(*rest, "packets ") || begins(*rest, "bytes ");
	     *rest += strspn(*rest, XB_BLANKS)) {
		xb_line_word(rest);
		if (!xb_line_word(rest))
			return false;
	}
	return true;
}

static int take_option(const char *option, char **rest, struct xb_item *item, const char **comment)
{
	uint32_t seconds;
	const char *word;
	int error;

	if (!strcmp(option, "counter"))
		return skip_counter(rest) ? 0 : xb_input_error("a counter without its numbers");
	if (!strcmp(option, "comment")) {
		*comment = take_comment(rest);
		return *comment ? 0 : xb_input_error("the comment is not in double quotes");
	}
	if (strcmp(option, "timeout") && strcmp(option, "expires"))
		return xb_input_error("'%s' is not what an address in a set may have",
				      XB_SHOW(option));
	word = xb_line_word(rest);
	error = read_time(word ? word : "", &seconds);
	/* What is left of it counts, and comes last. */
	if (!error)
		item->timeout = seconds;
	return error;
}

static int check_set(struct xb_reading *reading)
{
	struct xb_list_nft *nft = reading->nft;

	if (!*nft->listed)
		memcpy(nft->listed, nft->current, sizeof(nft->listed));
	if (!strcmp(nft->listed, nft->current))
		return 0;
	reading->hopeless = true;
	return xb_input_error("a second set, '%s' after '%s': one of them may hold sources that "
			      "pass; `nft list set FAMILY TABLE SET` writes one set",
			      nft->current, nft->listed);
}

static int take_element(struct xb_reading *reading, char *text)
{
	struct xb_item item = {.timeout = reading->nft->timeout};
	const char *option, *comment = "";
	char *word = xb_line_word(&text);
	int error;

	if (!word)
		return 0;
	error = check_set(reading);
	while (!error && (option = xb_line_word(&text)))
		error = take_option(option, &text, &item, &comment);
	return error ? error : xb_addresses_keep(reading->file, word, &item, comment);
}

/* Up to a comma, a brace or the end, but for what is in quotes. */
static char *element_end(char *text)
{
	for (; *text && *text != ',' && *text != '}'; text++) {
		if (*text != '"')
			continue;
		text = strchr(text + 1, '"');
		if (!text)
			return NULL;
	}
	return text;
}

/* What is between the braces, as much as the line has of it. */
static int take_elements(struct xb_reading *reading, char *line)
{
	struct xb_list_nft *nft = reading->nft;
	int error = 0;

	while (*line && nft->in_elements && !error) {
		char *end = element_end(line), mark;

		if (!end)
			return xb_input_error("an open quote");
		mark = *end;
		*end = '\0';
		nft->in_elements = mark != '}';
		error = nft->usable ? take_element(reading, line) : XB_LINE_UNKNOWN;
		line = mark ? end + 1 : end;
	}
	return error;
}

static int begin_elements(struct xb_reading *reading, char *brace)
{
	reading->nft->in_elements = true;
	return take_elements(reading, brace + 1);
}

/* `add element inet filter bad { ... }` */
static int add_elements(struct xb_reading *reading, char *line)
{
	char *brace = strchr(line, '{'), *rest = line;
	const char *word, *name = "";

	if (!brace)
		return XB_LINE_UNKNOWN;
	*brace = '\0';
	while ((word = xb_line_word(&rest)))
		name = word;
	enter_set(reading->nft, name);
	reading->nft->usable = true;
	return begin_elements(reading, brace);
}

static bool is_of_rules(const char *line)
{
	static const char *const words[] = {"chain ",	 "add chain ",	 "create chain ",
					    "add rule ", "insert rule ", "replace rule "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(line, words[i]))
			return true;
	return false;
}

static int take_statement(struct xb_reading *reading, char *line)
{
	static const char *const around[] = {"table ",	   "flags ",	 "}",		"flush ",
					     "add table ", "add set ",	 "policy ",	"size ",
					     "counter",	   "auto-merge", "gc-interval "};
	struct xb_list_nft *nft = reading->nft;

	if (is_of_rules(line)) {
		reading->hopeless = true;
		return xb_input_error("the file has rules, which may let the sources of a set "
				      "pass; `nft list set FAMILY TABLE SET` writes one set");
	}
	if (begins(line, "set ") || begins(line, "map ")) {
		line[strcspn(line + 4, XB_BLANKS "{") + 4] = '\0';
		nft->usable = false;
		enter_set(nft, line + 4);
		return 0;
	}
	if (begins(line, "add element ") || begins(line, "create element "))
		return add_elements(reading, line);
	if (begins(line, "elements = {") || begins(line, "elements={"))
		return begin_elements(reading, strchr(line, '{'));
	if (begins(line, "type ipv4_addr") || begins(line, "type ipv6_addr")) {
		nft->usable = !line[14] || line[14] == ';';
		return 0;
	}
	if (begins(line, "timeout "))
		return read_time(line + 8, &nft->timeout);
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		if (begins(line, around[i]))
			return 0;
	return begins(line, "type ") ? 0 : XB_LINE_UNKNOWN;
}

static int parse_nft(struct xb_reading *reading, char *line)
{
	struct xb_list_nft *nft = begun(reading);
	struct xb_listfile *file = reading->file;
	char shown[XB_SHOWN + 1];
	int error;

	if (!nft)
		return xb_out_of_memory();
	xb_utf8_show(line, sizeof(shown), shown, sizeof(shown));
	error = nft->in_elements ? take_elements(reading, line) : take_statement(reading, line);
	if (error != XB_LINE_UNKNOWN)
		return error;
	/* A wrong address in a set is an error; a set of something else is left out. */
	return xb_line_unknown(file, file->lines, "'%s'", shown);
}

static int finish_nft(struct xb_reading *reading)
{
	return reading->nft && reading->nft->in_elements
		       ? xb_input_error("the file ends within a set")
		       : 0;
}

const struct xb_list_format xb_nft_format = {"nft", detect_nft, parse_nft, .comments = "#",
					     .finish = finish_nft};

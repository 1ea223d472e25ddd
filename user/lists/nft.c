/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft: what `nft list` writes, and commands for `nft -f`: the addresses in sets, and in rules that
 * drop by the source alone. Other sets, and other rules, are left out.
 */
#include <errno.h>
#include <stdio.h>

#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

struct set {
	char name[XB_SHOWN + 1];
	bool has_elements, dropped; /* by a rule */
};

struct xb_list_sets {
	struct set *sets;
	size_t count, room;
	size_t current;	  /* the set that is being read, + 1; 0: none */
	bool in_elements; /* between the braces of a set */
	bool usable;	  /* the set has addresses */
	bool passes;	  /* the elements are those of a rule that lets pass */
	bool of_sender;	  /* the chain is for what the machine sends */
	uint32_t timeout; /* of the set */
};

static struct xb_list_sets *sets_of(struct xb_reading *reading)
{
	if (!reading->nft)
		reading->nft = calloc(1, sizeof(*reading->nft));
	return reading->nft;
}

void xb_listnft_end(struct xb_reading *reading)
{
	if (reading->nft)
		free(reading->nft->sets);
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

/* Finds the set or begins it: it is the current one then. */
static int enter_set(struct xb_list_sets *nft, const char *name)
{
	struct set set = {0};
	int error;

	snprintf(set.name, sizeof(set.name), "%s", XB_SHOW(name));
	nft->timeout = 0;
	for (nft->current = 1; nft->current <= nft->count; nft->current++)
		if (!strcmp(nft->sets[nft->current - 1].name, set.name))
			return 0;
	error = xb_array_grow(&nft->sets, &nft->room, nft->count + 1, sizeof(set));
	if (!error)
		nft->sets[nft->count++] = set;
	return error;
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

static int take_element(struct xb_reading *reading, char *text)
{
	struct xb_list_sets *nft = reading->nft;
	struct xb_item item = {.timeout = nft->timeout, .entry.kind = nft->passes ? XB_ALLOW4 : 0};
	const char *word = xb_line_word(&text), *option, *comment = "";
	size_t before = reading->file->count;
	struct xb_span span;
	int error;

	if (!word)
		return 0;
	error = xb_addresses_span(reading->file, word, &span);
	while (!error && (option = xb_line_word(&text)))
		error = take_option(option, &text, &item, &comment);
	if (!error)
		error = xb_span_keep(reading->file, &span, &item, nft->passes ? "" : comment);
	if (nft->passes)
		for (size_t i = before; i < reading->file->count; i++)
			reading->file->items[i].entry.line = 0;
	if (nft->current && !error)
		nft->sets[nft->current - 1].has_elements = true;
	return error;
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
	struct xb_list_sets *nft = reading->nft;
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

static int begin_elements(struct xb_reading *reading, char *brace, bool usable, bool passes)
{
	reading->nft->in_elements = true;
	reading->nft->usable = usable;
	reading->nft->passes = passes;
	return take_elements(reading, brace + 1);
}

/* `add element inet filter bad { ... }` */
static int add_elements(struct xb_reading *reading, char *line)
{
	char *brace = strchr(line, '{'), *rest = line;
	const char *word, *name = NULL;
	int error;

	if (!brace)
		return XB_LINE_UNKNOWN;
	*brace = '\0';
	while ((word = xb_line_word(&rest)))
		name = word;
	error = enter_set(reading->nft, name);
	return error ? error : begin_elements(reading, brace, true, false);
}

/* Whether the rule says no to a set of the file. */
static bool drops_set(struct xb_list_sets *nft, const char *line)
{
	bool found = false;
	const char *at = strchr(line, '@');
	size_t size = at ? strcspn(at + 1, XB_BLANKS) : 0;

	if (!at || strstr(line, "!=") || !(strstr(line, " drop") || strstr(line, " reject")))
		return false;
	for (size_t i = 0; i < nft->count; i++)
		if (strlen(nft->sets[i].name) == size && !strncmp(nft->sets[i].name, at + 1, size))
			nft->sets[i].dropped = found = true;
	return found;
}

/* Behind the source of a rule: nothing but its verdict. */
static bool read_verdict(char *rest, bool *passes)
{
	const char *word = xb_line_word(&rest);

	if (word && !strcmp(word, "counter"))
		word = skip_counter(&rest) ? xb_line_word(&rest) : NULL;
	if (!word)
		return false;
	*passes = !strcmp(word, "accept") || !strcmp(word, "return");
	return *passes || !strcmp(word, "drop") || !strcmp(word, "reject");
}

/* `ip saddr 192.0.2.1 drop`, `ip saddr { ... } counter packets 0 bytes 0 drop` */
static int take_rule(struct xb_reading *reading, char *line)
{
	char *source = line + (begins(line, "ip saddr ")    ? 9
			       : begins(line, "ip6 saddr ") ? 10
							    : 0),
	     *end, verdict[256];
	bool passes, several = *source == '{';

	if (drops_set(reading->nft, line))
		return 0;
	if (source == line || *source == '@' || *source == '!' || reading->nft->of_sender)
		return XB_LINE_UNKNOWN;
	end = source + strcspn(source, several ? "}" : XB_BLANKS);
	if (!*end)
		return XB_LINE_UNKNOWN;
	snprintf(verdict, sizeof(verdict), "%s", end + 1);
	if (!read_verdict(verdict, &passes))
		return XB_LINE_UNKNOWN;
	reading->nft->current = 0;
	reading->nft->timeout = 0;
	end[several] = '\0';
	*end = '}';
	return begin_elements(reading, several ? source : source - 1, true, passes);
}

static int take_statement(struct xb_reading *reading, char *line)
{
	static const char *const around[] = {"table ",	    "chain ", "type filter ", "flags ",
					     "}",	    "flush ", "add table ",   "add set ",
					     "policy ",	    "size ",  "counter",      "auto-merge",
					     "gc-interval "};
	struct xb_list_sets *nft = reading->nft;
	char *brace;

	if (begins(line, "set ") || begins(line, "map ")) {
		line[strcspn(line + 4, XB_BLANKS "{") + 4] = '\0';
		nft->usable = false;
		return enter_set(nft, line + 4);
	}
	if (begins(line, "add element ") || begins(line, "create element "))
		return add_elements(reading, line);
	if (begins(line, "elements = {") || begins(line, "elements={")) {
		brace = strchr(line, '{');
		return begin_elements(reading, brace, nft->usable, false);
	}
	if (begins(line, "type ipv4_addr") || begins(line, "type ipv6_addr")) {
		nft->usable = !line[14] || line[14] == ';';
		return 0;
	}
	if (begins(line, "timeout "))
		return read_time(line + 8, &nft->timeout);
	if (begins(line, "chain ") || begins(line, "type "))
		nft->of_sender = strstr(line, " hook output") || strstr(line, " hook postrouting");
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		if (begins(line, around[i]))
			return 0;
	return begins(line, "type ") ? 0 : take_rule(reading, line);
}

static int parse_nft(struct xb_reading *reading, char *line)
{
	struct xb_list_sets *nft = sets_of(reading);
	struct xb_listfile *file = reading->file;
	char shown[XB_SHOWN + 1];
	int error;

	if (!nft)
		return xb_out_of_memory();
	xb_utf8_show(line, sizeof(shown), shown, sizeof(shown));
	error = nft->in_elements ? take_elements(reading, line) : take_statement(reading, line);
	if (error != XB_LINE_UNKNOWN)
		return error;
	/* A wrong address in a set is an error; a set or rule of something else is left out. */
	return xb_line_unknown(file, file->lines, "'%s'", shown);
}

/* Of several sets some may be those that pass: each has to be one that a rule drops. */
static int finish_nft(struct xb_reading *reading)
{
	const struct xb_list_sets *nft = reading->nft;
	const struct set *doubtful = NULL;
	size_t sets = 0;

	if (nft && nft->in_elements)
		return xb_input_error("the file ends within a set");
	for (size_t i = 0; nft && i < nft->count; i++) {
		sets += nft->sets[i].has_elements;
		if (nft->sets[i].has_elements && !nft->sets[i].dropped)
			doubtful = &nft->sets[i];
	}
	if (sets > 1 && doubtful)
		return xb_input_error(
			"of %zu sets no rule drops the set '%s': list the sets one by "
			"one",
			sets, doubtful->name);
	return xb_span_except(reading->file, XB_EARLIEST);
}

const struct xb_list_format xb_nft_format = {"nft", detect_nft, parse_nft, .comments = "#",
					     .finish = finish_nft};

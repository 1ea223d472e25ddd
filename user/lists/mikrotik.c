/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mikrotik: what `/ip firewall address-list export` of RouterOS writes, and scripts of such
 * commands. One of its lists is read. Beside other settings it has to be chosen: rules of a
 * firewall may let the addresses of a list pass.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/line.h"

#define WRITES_LISTS "`/ip firewall address-list export` writes lists as they are"

struct xb_list_mikrotik {
	bool in_lists; /* the commands are about lists of addresses */
	bool kept;     /* an entry was */
	size_t begun;  /* bytes of a line that goes on in the next one */
	char line[XB_LIST_LINE_BYTES + 1];
};

void xb_listmikrotik_end(struct xb_reading *reading)
{
	free(reading->mikrotik);
	reading->mikrotik = NULL;
}

/* What an export may begin with. */
static bool detect_mikrotik(const char *line)
{
	static const char *const menus[] = {"/ip firewall ", "/ipv6 firewall ", "/ip/firewall/",
					    "/ipv6/firewall/", "/interface "};

	for (size_t i = 0; i < sizeof(menus) / sizeof(menus[0]); i++)
		if (!strncmp(line, menus[i], strlen(menus[i])))
			return true;
	return false;
}

/* "1w2d3h4m5s", "1d02:03:04", or none-static and none-dynamic. */
static int read_time(const char *text, uint32_t *seconds)
{
	static const char units[] = "wdhms";
	static const uint32_t of_unit[] = {604800, 86400, 3600, 60, 1};
	unsigned int hours, minutes, rest;
	const char *at = text, *unit;
	uint64_t sum = 0;
	char *end;
	int used = 0;

	*seconds = 0;
	if (!strcmp(text, "none-static") || !strcmp(text, "none-dynamic"))
		return 0;
	while (isdigit((unsigned char)*at) && sum < UINT32_MAX) {
		unsigned long number = strtoul(at, &end, 10);

		unit = *end ? strchr(units, *end) : NULL;
		if (!unit || number > UINT32_MAX)
			break;
		sum += (uint64_t)number * of_unit[unit - units];
		at = end + 1;
	}
	if (sscanf(at, "%2u:%2u:%2u%n", &hours, &minutes, &rest, &used) == 3) {
		sum += (hours * 60ULL + minutes) * 60 + rest;
		at += used;
	}
	if (*at || !sum || sum >= UINT32_MAX)
		return xb_input_error("'%s' is not a time such as 1d2h3m", XB_SHOW(text));
	*seconds = (uint32_t)sum;
	return 0;
}

/* --- words --- */

/* Behind the closing quote; the text without its backslashes. NULL: it is open. */
static char *unquote(char *text)
{
	char *out = text;

	for (; *text != '"'; text++) {
		if (*text == '\\')
			text++;
		if (!*text)
			return NULL;
		*out++ = *text;
	}
	*out = '\0';
	return text + 1;
}

/* `key=value`, of which the value may be in quotes. false: none is left, or it is wrong, and stays.
 */
static bool take_property(char **rest, const char **key, const char **value)
{
	char *word = *rest + strspn(*rest, XB_BLANKS), *mark = word + strcspn(word, XB_BLANKS "="),
	     *end;

	*rest = word;
	if (*mark != '=')
		return false;
	*key = word;
	*value = mark + 1;
	if (mark[1] == '"') {
		end = unquote(mark + 2);
		*value = mark + 2;
	} else {
		end = mark + 1 + strcspn(mark + 1, XB_BLANKS);
	}
	if (!end || (*end && !strchr(XB_BLANKS, *end)))
		return false;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	*mark = '\0';
	return true;
}

/* Of `:do { add ... } on-error={}` what is between the braces, which fails for what is there
 * already. */
static char *take_block(char *line)
{
	char *end = strrchr(line, '{');

	if (strncmp(line, ":do {", 5) != 0 || !end || end == line + 4)
		return line;
	while (end > line && *end != '}')
		end--;
	*end = '\0';
	return xb_line_trim(line + 5);
}

/* --- commands --- */

struct entry {
	struct xb_item item;
	const char *address, *list, *comment;
	bool disabled;
};

static int take_properties(char *rest, struct entry *entry)
{
	const char *key, *value;
	int error = 0;

	while (!error && take_property(&rest, &key, &value)) {
		if (!strcmp(key, "address"))
			entry->address = value;
		else if (!strcmp(key, "list"))
			entry->list = value;
		else if (!strcmp(key, "comment"))
			entry->comment = value;
		else if (!strcmp(key, "disabled"))
			entry->disabled = strcmp(value, "no") != 0;
		else if (!strcmp(key, "timeout"))
			error = read_time(value, &entry->item.timeout);
		else if (strcmp(key, "dynamic") && strcmp(key, "creation-time"))
			return XB_LINE_UNKNOWN;
	}
	return error || !*rest ? error : XB_LINE_UNKNOWN;
}

static int keep(struct xb_reading *reading, struct entry *entry)
{
	struct xb_span span;
	int error = xb_addresses_span(reading->file, entry->address, &span);

	if (error)
		return error;
	reading->mikrotik->kept = true;
	return xb_span_keep(reading->file, &span, &entry->item, entry->comment);
}

static int add(struct xb_reading *reading, char *rest)
{
	struct entry entry = {.comment = ""};
	int error = take_properties(rest, &entry);
	bool counts = false;

	if (!error && (!entry.address || !entry.list))
		error = XB_LINE_UNKNOWN;
	if (!error)
		error = xb_sets_take(reading, entry.list, &counts);
	return error || !counts || entry.disabled ? error : keep(reading, &entry);
}

static int take_command(struct xb_reading *reading, char *line)
{
	char *command;

	if (!*line)
		return 0;
	line = take_block(line);
	command = xb_line_word(&line);
	if (command && !strcmp(command, "add"))
		return add(reading, line);
	/* A script may empty a list first. */
	if (command && !strcmp(command, "remove") && !reading->mikrotik->kept)
		return 0;
	reading->hopeless = true;
	return xb_input_error("'%s' is not 'add'; " WRITES_LISTS, XB_SHOW(command ?: ""));
}

/* Cuts the menu off, whose words have blanks or slashes between them; a command may follow. */
static bool enters_lists(char **line)
{
	static const char *const words[] = {"ip", "firewall", "address-list"};
	char *at = *line;

	for (size_t i = 0; i < 3; i++) {
		size_t size;

		at += strspn(at, XB_BLANKS "/");
		size = strcspn(at, XB_BLANKS "/");
		if (strncmp(at, words[i], strlen(words[i])) ||
		    size != strlen(words[i]) + (!i && !strncmp(at, "ipv6", 4) ? 2 : 0))
			return false;
		at += size;
	}
	*line = at + strspn(at, XB_BLANKS "/");
	return true;
}

static int take_line(struct xb_reading *reading, char *line)
{
	struct xb_list_mikrotik *mikrotik = reading->mikrotik;
	char *menu = line;

	if (*line == '#')
		return 0;
	if (*line != '/')
		return mikrotik->in_lists ? take_command(reading, line) : 0;
	mikrotik->in_lists = enters_lists(&line);
	if (mikrotik->in_lists)
		return take_command(reading, line);
	if (reading->choice && reading->choice->set)
		return 0;
	reading->hopeless = true;
	return xb_input_error("'%s': rules beside a list may let its addresses pass; choose the "
			      "list%s, or " WRITES_LISTS,
			      XB_SHOW(menu), xb_advice(XB_ADVICE_SET));
}

/* Joins lines, of which each but the last ends with a backslash. */
static int parse_mikrotik(struct xb_reading *reading, char *line)
{
	size_t size = strlen(line);
	struct xb_list_mikrotik *mikrotik = reading->mikrotik;
	bool goes_on = size && line[size - 1] == '\\';

	if (!mikrotik)
		mikrotik = reading->mikrotik = calloc(1, sizeof(*mikrotik));
	if (!mikrotik)
		return xb_out_of_memory();
	if (!goes_on && !mikrotik->begun)
		return take_line(reading, line);
	size -= goes_on;
	if (mikrotik->begun + size > XB_LIST_LINE_BYTES) {
		reading->hopeless = true;
		return xb_input_error("line longer than %d bytes", XB_LIST_LINE_BYTES);
	}
	memcpy(mikrotik->line + mikrotik->begun, line, size);
	mikrotik->begun += size;
	mikrotik->line[mikrotik->begun] = '\0';
	if (goes_on)
		return 0;
	mikrotik->begun = 0;
	return take_line(reading, mikrotik->line);
}

static int finish_mikrotik(struct xb_reading *reading)
{
	return reading->mikrotik && reading->mikrotik->begun
		       ? xb_input_error("the file ends within a command")
		       : 0;
}

const struct xb_list_format xb_mikrotik_format = {
	"mikrotik",    detect_mikrotik,		  parse_mikrotik, .comments = "",
	.loose = true, .finish = finish_mikrotik, .sets = "list"};

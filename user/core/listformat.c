/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A detector and a parser for each format, and the table of them. */
#include "listformat.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "membership.h"

#define SHOWN_CHARS 40
#define DIGITS	    "0123456789"
#define BLANKS	    " \t\r"
#define PLAIN_END   BLANKS "#;"

/* What a set of ipset says of all its entries. */
struct xb_list_set {
	char name[SHOWN_CHARS + 1];
	uint32_t netmask, timeout; /* 0: none */
};

/* Lines come without blanks around them; a parser may cut them up. */
struct xb_list_format {
	const char *name;
	bool (*detect)(const char *line); /* NULL: only when asked for by name */
	int (*parse)(struct xb_reading *reading, char *line);
	bool bare; /* a line may be nothing but an address */
};

static char *trim(char *text)
{
	size_t size;

	text += strspn(text, BLANKS);
	size = strlen(text);
	while (size && strchr(BLANKS, text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

static bool is_comment(const char *text)
{
	return *text == '#' || *text == ';';
}

/* Cuts the next word off, NULL at the end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, BLANKS), *end = word + strcspn(word, BLANKS);

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

/* As much of the text as fits into out, safe for a terminal. */
static const char *show(const char *text, char *out, size_t room)
{
	size_t size = strnlen(text, room - 1);

	for (size_t i = 0; i < size; i++)
		out[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	out[size] = '\0';
	return out;
}

#define SHOW(text) show(text, (char[SHOWN_CHARS + 1]){0}, SHOWN_CHARS + 1)

/* Makes room for `need` elements; array is the address of the pointer. */
static inline int grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t more = *room * 2 > need ? *room * 2 : need + 1024;
	void *grown;

	if (need <= *room)
		return 0;
	memcpy(&grown, array, sizeof(grown));
	grown = reallocarray(grown, more, size);
	if (!grown)
		return xb_out_of_memory();
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return 0;
}

static inline int keep(struct xb_listfile *file, const struct xb_item *item)
{
	int error = grow(&file->items, &file->room, file->count + 1, sizeof(*item));

	if (!error)
		file->items[file->count++] = *item;
	return error;
}

static int keep_with_comment(struct xb_listfile *file, struct xb_item *item, const char *comment)
{
	size_t start = file->comment_bytes ? file->comment_bytes : 1,
	       end = start + strlen(comment) + 1;
	int error;

	if (!*comment || xb_comment_check(comment, strlen(comment))) {
		xb_error_clear();
		return keep(file, item);
	}
	if (end > UINT32_MAX)
		return xb_input_error("the comments up to here are more than 4 GiB");
	error = grow(&file->comments, &file->comment_room, end, 1);
	if (error)
		return error;
	file->comments[0] = '\0';
	strcpy(file->comments + start, comment);
	file->comment_bytes = end;
	item->comment = (uint32_t)start;
	return keep(file, item);
}

/* A dotted quad in front, by the rules of inet_pton. Returns its end, NULL if there is none. */
static inline const char *read_ipv4(const char *text, struct xb_entry *entry)
{
	uint32_t address = 0;

	for (int octets = 0; octets < 4; octets++) {
		uint32_t octet = 0;
		const char *start;

		if (octets && *text++ != '.')
			return NULL;
		for (start = text; text < start + 4 && *text >= '0' && *text <= '9'; text++)
			octet = octet * 10 + (uint32_t)(*text - '0');
		if (text == start || octet > 255 || (*start == '0' && text > start + 1))
			return NULL;
		address = address << 8 | octet;
	}
	*entry = (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
	return text;
}

static int read_entry(struct xb_listfile *file, const char *text, struct xb_entry *entry)
{
	char shown[XB_ENTRY_TEXT + 1] = "";
	uint8_t form[XB_NAME_BYTES];
	const char *end = read_ipv4(text, entry);
	bool host_bits;
	int error;

	if (end && !*end)
		return 0;
	show(text, shown, sizeof(shown));
	error = xb_entry_parse(shown, strlen(shown), form, entry, &host_bits);
	if (!error && xb_entry_is_name(entry)) {
		entry->name = xb_arena_copy(&file->names, form, entry->length);
		error = entry->name ? 0 : -ENOMEM;
	}
	if (error || !host_bits)
		return error;
	if (!file->host_bits++) {
		file->first_host_bits_line = file->lines;
		memcpy(file->first_host_bits, shown, sizeof(file->first_host_bits));
	}
	return 0;
}

/* plain: an entry a line, and perhaps a comment behind it. FireHOL's netsets and Spamhaus's DROP
 * are written so. */

/* By shape only, so that a wrong address in the first line is told as such. */
static bool looks_like_entry(const char *text, const char *end)
{
	size_t size = strcspn(text, end);
	bool ipv6 = memchr(text, ':', size);

	return (ipv6 || memchr(text, '.', size)) &&
	       strspn(text, ipv6 ? DIGITS "abcdefABCDEF.:/" : DIGITS "./") == size;
}

static bool detect_plain(const char *line)
{
	const char *rest = line + strcspn(line, PLAIN_END);

	rest += strspn(rest, BLANKS);
	return looks_like_entry(line, PLAIN_END) && (!*rest || is_comment(rest));
}

static int parse_plain(struct xb_reading *reading, char *line)
{
	char *end = line + strcspn(line, PLAIN_END), *rest = end + strspn(end, BLANKS);
	bool commented = is_comment(rest);
	struct xb_item item = {0};
	int error;

	rest += commented;
	*end = '\0';
	error = read_entry(reading->file, line, &item.entry);
	if (error)
		return error;
	if (*rest && !commented)
		return xb_input_error("'%s' behind the entry is no comment", SHOW(rest));
	return keep_with_comment(reading->file, &item, trim(rest));
}

/* ipsum: an address, a tab, and the number of lists that name it. */
static bool detect_ipsum(const char *line)
{
	const char *tab = strchr(line, '\t');

	return tab && looks_like_entry(line, "\t") && !tab[1 + strspn(tab + 1, DIGITS)];
}

static int parse_ipsum(struct xb_reading *reading, char *line)
{
	struct xb_item item = {0};
	int error;

	if (!detect_ipsum(line))
		return xb_input_error("'%s' is not an address, a tab and a number", SHOW(line));
	*strchr(line, '\t') = '\0';
	error = read_entry(reading->file, line, &item.entry);
	return error ? error : keep(reading->file, &item);
}

/* spamhaus-json: an object a line; one of them tells about the list itself. */
static bool detect_json(const char *line)
{
	return *line == '{';
}

static int take_object(struct xb_listfile *file, const json_t *object)
{
	const char *type = json_string_value(json_object_get(object, "type"));
	const char *cidr = json_string_value(json_object_get(object, "cidr"));
	const char *sblid = json_string_value(json_object_get(object, "sblid"));
	struct xb_item item = {0};
	int error;

	if (type && !strcmp(type, "metadata"))
		return 0;
	if (!cidr)
		return xb_input_error("not an object with a text \"cidr\"");
	error = read_entry(file, cidr, &item.entry);
	return error ? error : keep_with_comment(file, &item, sblid ? sblid : "");
}

static int parse_json(struct xb_reading *reading, char *line)
{
	char reason[JSON_ERROR_TEXT_LENGTH];
	json_error_t cause;
	json_t *object = json_loadb(line, strlen(line), JSON_REJECT_DUPLICATES, &cause);
	int error;

	if (!object)
		return xb_input_error("not JSON: %s", show(cause.text, reason, sizeof(reason)));
	error = take_object(reading->file, object);
	json_decref(object);
	return error;
}

/* ipset: what `ipset save` writes, any number of sets. */
static bool detect_ipset(const char *line)
{
	return !strncmp(line, "create ", 7) || !strncmp(line, "add ", 4);
}

static const struct xb_list_set *find_set(const struct xb_reading *reading, const char *name)
{
	for (size_t i = reading->set_count; i > 0; i--)
		if (!strcmp(reading->sets[i - 1].name, name))
			return &reading->sets[i - 1];
	return NULL;
}

static int take_number(const char *what, char **rest, uint32_t most, uint32_t *number)
{
	const char *word = next_word(rest);
	size_t digits = word ? strspn(word, DIGITS) : 0;
	unsigned long long value = digits ? strtoull(word, NULL, 10) : 0;

	if (!digits || word[digits] || value > most)
		return xb_input_error("%s '%s' is not a number from 0 to %u", what,
				      SHOW(word ? word : ""), most);
	*number = (uint32_t)value;
	return 0;
}

static int parse_create(struct xb_reading *reading, char *rest)
{
	const char *name = next_word(&rest), *type = next_word(&rest), *option;
	struct xb_list_set set = {0};
	int error = 0;

	if (!type)
		return xb_input_error("'create' needs a name and a type");
	if (strcmp(type, "hash:ip") && strcmp(type, "hash:net") && strcmp(type, "bitmap:ip"))
		return xb_input_error(
			"cannot read sets of type %s, only hash:ip, hash:net and bitmap:ip",
			SHOW(type));
	show(name, set.name, sizeof(set.name));
	while (!error && (option = next_word(&rest))) {
		if (!strcmp(option, "netmask"))
			error = take_number(option, &rest, 128, &set.netmask);
		else if (!strcmp(option, "timeout"))
			error = take_number(option, &rest, UINT32_MAX, &set.timeout);
		else if (!strcmp(option, "bitmask"))
			error = xb_input_error(
				"the set has a bitmask, which prefixes cannot express");
	}
	if (!error)
		error = grow(&reading->sets, &reading->set_room, reading->set_count + 1,
			     sizeof(set));
	if (!error)
		reading->sets[reading->set_count++] = set;
	return error;
}

static int take_comment(char **rest, const char **comment)
{
	char *start = *rest + strspn(*rest, BLANKS),
	     *end = *start == '"' ? strchr(start + 1, '"') : NULL;

	if (!end)
		return xb_input_error("the comment is not in double quotes");
	*end = '\0';
	*comment = start + 1;
	*rest = end + 1;
	return 0;
}

static int take_add_option(const char *option, char **rest, struct xb_item *item,
			   const char **comment)
{
	static const char *const unused[] = {"packets", "bytes", "skbmark", "skbprio", "skbqueue"};

	if (!strcmp(option, "timeout"))
		return take_number(option, rest, UINT32_MAX, &item->timeout);
	if (!strcmp(option, "comment"))
		return take_comment(rest, comment);
	if (!strcmp(option, "-exist"))
		return 0;
	if (!strcmp(option, "nomatch"))
		return xb_input_error("'nomatch' makes an exception, which cannot be expressed as "
				      "a listed entry");
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		if (!strcmp(option, unused[i]))
			return next_word(rest) ? 0 : xb_input_error("'%s' without a value", option);
	return xb_input_error("'%s' is not an option of an entry", SHOW(option));
}

static int parse_add(struct xb_reading *reading, char *rest)
{
	const char *name = next_word(&rest), *entry = next_word(&rest), *option, *comment = "";
	struct xb_item item = {0};
	const struct xb_list_set *set;
	int error;

	if (!entry)
		return xb_input_error("'add' needs a set and an entry");
	error = read_entry(reading->file, entry, &item.entry);
	if (error)
		return error;
	set = find_set(reading, SHOW(name));
	if (set)
		item.timeout = set->timeout;
	/* A set with a netmask holds networks, and ipset prints their addresses only. */
	if (set && set->netmask && set->netmask < item.entry.length)
		item.entry = xb_entry_covering(&item.entry, (uint8_t)set->netmask);
	while (!error && (option = next_word(&rest)))
		error = take_add_option(option, &rest, &item, &comment);
	return error ? error : keep_with_comment(reading->file, &item, comment);
}

static int parse_ipset(struct xb_reading *reading, char *line)
{
	const char *verb = next_word(&line);

	if (!strcmp(verb, "create"))
		return parse_create(reading, line);
	if (!strcmp(verb, "add"))
		return parse_add(reading, line);
	return xb_input_error("'%s' is neither 'create' nor 'add', all that ipset save writes",
			      SHOW(verb));
}

static const struct xb_list_format formats[] = {
	{"plain", detect_plain, parse_plain, true},
	{"netset", NULL, parse_plain, true},
	{"spamhaus", NULL, parse_plain, true},
	{"spamhaus-json", detect_json, parse_json, false},
	{"ipsum", detect_ipsum, parse_ipsum, false},
	{"ipset", detect_ipset, parse_ipset, false},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *xb_listfile_formats(void)
{
	static _Thread_local char names[128];
	size_t used = 0;

	for (size_t i = 0; i < FORMATS; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 formats[i].name);
	return names;
}

int xb_listformat_choose(struct xb_reading *reading, const char *name)
{
	for (reading->format = formats; reading->format < formats + FORMATS; reading->format++)
		if (!strcmp(reading->format->name, name))
			return 0;
	return xb_input_error("unknown list format '%s'; known: %s", SHOW(name),
			      xb_listfile_formats());
}

const char *xb_listformat_name(const struct xb_reading *reading)
{
	return reading->format ? reading->format->name : NULL;
}

static int detect_format(const char *line, const struct xb_list_format **format)
{
	for (*format = formats; *format < formats + FORMATS; ++*format)
		if ((*format)->detect && (*format)->detect(line))
			return 0;
	return xb_input_error("not a list format I know: '%s'; known: %s", SHOW(line),
			      xb_listfile_formats());
}

/* The quick way for what long lists are made of. 1: taken; 0: the line is something else. */
static inline int take_bare_ipv4(struct xb_reading *reading, const char *line, size_t size)
{
	struct xb_item item = {0};
	bool bare = size <= XB_LIST_LINE_BYTES && reading->format && reading->format->bare;
	const char *end = bare ? read_ipv4(line, &item.entry) : NULL;

	if (!end || end + strspn(end, BLANKS) != line + size)
		return 0;
	return keep(reading->file, &item) ?: 1;
}

static int take_line(struct xb_reading *reading, char *line, size_t size)
{
	bool marked = reading->file->lines == 1 && !strncmp(line, "\xef\xbb\xbf", 3);
	int error = 0;

	if (memchr(line, '\0', size))
		return xb_input_error("binary data, not a list");
	if (size && line[size - 1] == '\r')
		size--;
	if (size > XB_LIST_LINE_BYTES)
		return xb_input_error("line longer than %d bytes", XB_LIST_LINE_BYTES);
	line = trim(marked ? line + 3 : line);
	if (!*line || is_comment(line))
		return 0;
	if (!reading->format)
		error = detect_format(line, &reading->format);
	return error ? error : reading->format->parse(reading, line);
}

int xb_listformat_take(struct xb_reading *reading, char *line, size_t size)
{
	return take_bare_ipv4(reading, line, size) ?: take_line(reading, line, size);
}

void xb_listformat_end(struct xb_reading *reading)
{
	free(reading->sets);
	reading->sets = NULL;
}

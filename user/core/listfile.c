/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading list files: lines, the formats they come in, and one sorted array of items. */
#include "listfile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "membership.h"

#define LINE_BYTES     4096 /* at most, without the line end */
#define BUFFER_BYTES   (1U << 20)
#define PROGRESS_BYTES (8U << 20)
#define SHOWN_CHARS    40
#define DIGITS	       "0123456789"
#define BLANKS	       " \t\r"
#define PLAIN_END      BLANKS "#;"

/* Where lines come from. */
struct source {
	const char *name;
	int fd;
	char *buffer;
	size_t begin, end; /* what the buffer holds and no line has taken */
	bool ended;
	uint64_t done, total;
};

/* What a set of ipset says of all its entries. */
struct set {
	char name[SHOWN_CHARS + 1];
	uint32_t netmask, timeout; /* 0: none */
};

struct reading {
	struct xb_listfile *file;
	const struct format *format;
	struct set *sets;
	size_t set_count, set_room;
};

/* Lines come without blanks around them; a parser may cut them up. */
struct format {
	const char *name;
	bool (*detect)(const char *line); /* NULL: only when asked for by name */
	int (*parse)(struct reading *reading, char *line);
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
	const char *end = read_ipv4(text, entry);
	bool host_bits;
	int error;

	if (end && !*end)
		return 0;
	show(text, shown, sizeof(shown));
	error = xb_entry_parse(shown, strlen(shown), entry, &host_bits);
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

static int parse_plain(struct reading *reading, char *line)
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

static int parse_ipsum(struct reading *reading, char *line)
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

static int parse_json(struct reading *reading, char *line)
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

static const struct set *find_set(const struct reading *reading, const char *name)
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

static int parse_create(struct reading *reading, char *rest)
{
	const char *name = next_word(&rest), *type = next_word(&rest), *option;
	struct set set = {0};
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

static int parse_add(struct reading *reading, char *rest)
{
	const char *name = next_word(&rest), *entry = next_word(&rest), *option, *comment = "";
	struct xb_item item = {0};
	const struct set *set;
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

static int parse_ipset(struct reading *reading, char *line)
{
	const char *verb = next_word(&line);

	if (!strcmp(verb, "create"))
		return parse_create(reading, line);
	if (!strcmp(verb, "add"))
		return parse_add(reading, line);
	return xb_input_error("'%s' is neither 'create' nor 'add', all that ipset save writes",
			      SHOW(verb));
}

static const struct format formats[] = {
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

static int choose_format(const char *name, const struct format **format)
{
	for (*format = formats; *format < formats + FORMATS; ++*format)
		if (!strcmp((*format)->name, name))
			return 0;
	return xb_input_error("unknown list format '%s'; known: %s", SHOW(name),
			      xb_listfile_formats());
}

static int detect_format(const char *line, const struct format **format)
{
	for (*format = formats; *format < formats + FORMATS; ++*format)
		if ((*format)->detect && (*format)->detect(line))
			return 0;
	return xb_input_error("not a list format I know: '%s'; known: %s", SHOW(line),
			      xb_listfile_formats());
}

static int open_source(const char *path, const char *name, struct source *source)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat about;

	*source = (struct source){.name = name	     ? name
					  : is_stdin ? "stdin"
						     : path,
				  .fd = STDIN_FILENO};
	if (!is_stdin)
		source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return xb_input_error("%s: %s", source->name, strerror(errno));
	if (source->fd < 0 || fstat(source->fd, &about))
		return xb_system_error(errno, "%s", source->name);
	if (S_ISDIR(about.st_mode))
		return xb_input_error("%s: this is a directory, not a list", source->name);
	source->total = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
	source->buffer = malloc(BUFFER_BYTES + 1);
	return source->buffer ? 0 : xb_out_of_memory();
}

static void close_source(struct source *source)
{
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	free(source->buffer);
}

static int refill(struct source *source)
{
	ssize_t got;

	memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
	source->end -= source->begin;
	source->begin = 0;
	got = TEMP_FAILURE_RETRY(
		read(source->fd, source->buffer + source->end, BUFFER_BYTES - source->end));
	if (got < 0)
		return xb_system_error(errno, "%s: reading", source->name);
	source->ended = !got;
	source->end += (size_t)got;
	source->done += (uint64_t)got;
	if (source->done % PROGRESS_BYTES < (size_t)got &&
	    (!source->total || source->done < source->total))
		xb_progress("reading", source->done, source->total);
	return 0;
}

/* 1: a line, its end replaced by NUL; 0: none is left. A line that is too long may come in part,
 * but still too long. */
static int next_line(struct source *source, char **line, size_t *size)
{
	int error = 0;

	while (!error) {
		size_t held = source->end - source->begin;
		char *start = source->buffer + source->begin, *newline = memchr(start, '\n', held);

		if (newline || held > 2 * LINE_BYTES || (source->ended && held)) {
			*line = start;
			*size = newline ? (size_t)(newline - start) : held;
			start[*size] = '\0';
			source->begin += *size + (newline ? 1 : 0);
			return 1;
		}
		if (source->ended)
			return 0;
		error = refill(source);
	}
	return error;
}

/* The quick way for what long lists are made of. 1: taken; 0: the line is something else. */
static inline int take_bare_ipv4(struct reading *reading, const char *line, size_t size)
{
	struct xb_item item = {0};
	bool bare = size <= LINE_BYTES && reading->format && reading->format->bare;
	const char *end = bare ? read_ipv4(line, &item.entry) : NULL;

	if (!end || end + strspn(end, BLANKS) != line + size)
		return 0;
	return keep(reading->file, &item) ?: 1;
}

static int take_line(struct reading *reading, char *line, size_t size)
{
	bool marked = reading->file->lines == 1 && !strncmp(line, "\xef\xbb\xbf", 3);
	int error = 0;

	if (memchr(line, '\0', size))
		return xb_input_error("binary data, not a list");
	if (size && line[size - 1] == '\r')
		size--;
	if (size > LINE_BYTES)
		return xb_input_error("line longer than %d bytes", LINE_BYTES);
	line = trim(marked ? line + 3 : line);
	if (!*line || is_comment(line))
		return 0;
	if (!reading->format)
		error = detect_format(line, &reading->format);
	return error ? error : reading->format->parse(reading, line);
}

static int read_lines(struct source *source, struct reading *reading)
{
	char *line = NULL;
	size_t size = 0;
	int got;

	while ((got = next_line(source, &line, &size)) > 0) {
		reading->file->lines++;
		got = take_bare_ipv4(reading, line, size) ?: take_line(reading, line, size);
		if (got < 0)
			return xb_error_prefix(got, "%s:%llu", source->name,
					       (unsigned long long)reading->file->lines);
	}
	if (got < 0)
		return got;
	if (!reading->file->count) {
		xb_input_error("%s: no entries", source->name);
		return -ENODATA;
	}
	reading->file->format = reading->format->name;
	xb_progress("reading", source->done, source->done);
	return 0;
}

/* Sorted and without repeats; the sort is stable, so the first line with an entry wins. */
static int settle(struct xb_listfile *file)
{
	void *scratch = reallocarray(NULL, file->count, sizeof(*file->items));
	size_t kept = 1;

	if (!scratch)
		return xb_out_of_memory();
	xb_entry_sort(file->items, file->count, sizeof(*file->items), scratch);
	free(scratch);
	for (size_t i = 1; i < file->count; i++)
		if (xb_entry_compare(&file->items[kept - 1].entry, &file->items[i].entry))
			file->items[kept++] = file->items[i];
	file->repeats = file->count - kept;
	file->count = kept;
	return 0;
}

int xb_listfile_read(const char *path, const char *format, struct xb_listfile *file)
{
	return xb_listfile_read_as(path, NULL, format, file);
}

int xb_listfile_read_as(const char *path, const char *name, const char *format,
			struct xb_listfile *file)
{
	struct reading reading = {.file = file};
	struct source source;
	int error;

	memset(file, 0, sizeof(*file));
	error = format ? choose_format(format, &reading.format) : 0;
	if (error)
		return error;
	error = open_source(path, name, &source);
	if (!error)
		error = read_lines(&source, &reading);
	close_source(&source);
	free(reading.sets);
	if (!error)
		error = settle(file);
	if (error)
		xb_listfile_free(file);
	return error;
}

const char *xb_listfile_comment(const struct xb_listfile *file, const struct xb_item *item)
{
	return item->comment ? file->comments + item->comment : "";
}

void xb_listfile_free(struct xb_listfile *file)
{
	free(file->items);
	free(file->comments);
	memset(file, 0, sizeof(*file));
}

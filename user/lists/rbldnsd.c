/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ip4set, ip4trie, ip6trie, dnset: data of rbldnsd(8), entries with what a query for them is
 * answered, which is of no interest here but for its text. Nothing in such a file says which of the
 * four it is, and each looks an exclusion up in its own way.
 */
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "base/array.h"
#include "lists/format.h"
#include "lists/line.h"
#include "lists/span.h"

#define WORD_END XB_BLANKS "#;:"

/* --- what the four have in common --- */

static bool is_directive(const char *line, const char *name)
{
	size_t size = strlen(name);

	return *line == '$' && !strncasecmp(line + 1, name, size) &&
	       (!line[1 + size] || strchr(XB_BLANKS, line[1 + size]));
}

/* `:127.0.0.2:text`, what the entries behind it are answered; no IPv6 address begins so. */
static bool is_default(const char *line)
{
	return *line == ':' && line[1] != ':';
}

static bool marks_any(const char *line)
{
	static const char *const names[] = {"SOA",	 "NS",	      "NAMESERVER",
					    "TIMESTAMP", "MAXRANGE4", "DATASET"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_directive(line, names[i]))
			return true;
	return is_default(line);
}

/* "/24" or a number of addresses. A later one can only make it smaller. */
static int take_most(struct xb_reading *reading, char *rest)
{
	const char *word = xb_line_word(&rest);
	bool length = word && *word == '/';
	const char *digits = word ? word + length : "";
	unsigned long long number = strtoull(digits, NULL, 10);

	if (!*digits || digits[strspn(digits, XB_DIGITS)] || !number || number > UINT32_MAX ||
	    (length && number > 32))
		return xb_input_error("$MAXRANGE4 takes a number of addresses, or a prefix length");
	if (length)
		number = 1ULL << (32 - number);
	if (!reading->most || number < reading->most)
		reading->most = number;
	return 0;
}

/* "2026:11:30:23:59", in UTC, from the year to the day at least, with or without what separates
 * them; 0 or "-": none. */
static bool read_stamp(const char *text, time_t *stamp)
{
	static const int widths[] = {4, 2, 2, 2, 2, 2};
	int parts[ARRAY_SIZE(widths)] = {0};
	size_t count = 0;

	*stamp = 0;
	if (!strcmp(text, "0") || !strcmp(text, "-"))
		return true;
	for (; *text && count < ARRAY_SIZE(parts); count++) {
		if (!strchr(XB_DIGITS, *text))
			return false;
		for (int i = 0; i < widths[count] && *text && strchr(XB_DIGITS, *text); i++)
			parts[count] = parts[count] * 10 + (*text++ - '0');
		text += *text == ':' || *text == '-';
	}
	*stamp = timegm(&(struct tm){.tm_year = parts[0] - 1900,
				     .tm_mon = parts[1] - 1,
				     .tm_mday = parts[2],
				     .tm_hour = parts[3],
				     .tm_min = parts[4],
				     .tm_sec = parts[5]});
	return !*text && count >= 3;
}

/* The same, or seconds, minutes, ... from `since` on: "+5d". */
static bool read_expiry(const char *text, time_t since, time_t *expires)
{
	static const struct {
		char unit;
		time_t seconds;
	} units[] = {{'\0', 1}, {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t digits = strspn(text + 1, XB_DIGITS);

	if (*text != '+')
		return read_stamp(text, expires);
	if (!since || !digits || digits > 9 || (text[1 + digits] && text[2 + digits]))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (text[1 + digits] != units[i].unit)
			continue;
		*expires = since + strtol(text + 1, NULL, 10) * units[i].seconds;
		return true;
	}
	return false;
}

/* rbldnsd serves nothing of a file that is not yet valid, or is no longer. */
static int take_timestamp(struct xb_reading *reading, char *rest)
{
	const char *first = xb_line_word(&rest), *second = xb_line_word(&rest);
	time_t since, expires = 0, now = time(NULL);

	if (!first || xb_line_word(&rest) || !read_stamp(first, &since) ||
	    (second && !read_expiry(second, since, &expires)))
		return xb_input_error(
			"$TIMESTAMP takes when the data were made, and until when they "
			"hold, as 2026:11:30:23:59 or +5d");
	if (since > now)
		return xb_input_error("by $TIMESTAMP these data hold later: rbldnsd does not load "
				      "them now");
	if (expires && expires < now)
		return xb_input_error("by $TIMESTAMP these data are no longer valid: rbldnsd does "
				      "not serve them");
	if (expires && expires < UINT32_MAX && (!reading->left || expires - now < reading->left))
		reading->left = (uint32_t)(expires - now) + (expires == now);
	return 0;
}

/* What is left of the time that the file holds is left of each entry. */
static int limit_time(struct xb_reading *reading, int error)
{
	for (size_t i = 0; !error && reading->left && i < reading->file->count; i++)
		reading->file->items[i].timeout = reading->left;
	return error;
}

static int take_directive(struct xb_reading *reading, char *line)
{
	static const char *const ignored[] = {"SOA", "NS", "NAMESERVER", "TTL"};

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		if (is_directive(line, ignored[i]))
			return 0;
	/* Variables of texts. */
	if (strchr(XB_DIGITS "=", line[1]) && line[1])
		return 0;
	if (is_directive(line, "TIMESTAMP")) {
		int error = take_timestamp(reading, line + strlen("$TIMESTAMP"));

		reading->hopeless |= error != 0;
		return error;
	}
	if (is_directive(line, "MAXRANGE4"))
		return take_most(reading, line + strlen("$MAXRANGE4"));
	reading->hopeless |= is_directive(line, "DATASET");
	if (is_directive(line, "DATASET"))
		return xb_input_error("a combined dataset: take its parts apart into files");
	return xb_input_error("'%s' is no directive of rbldnsd", XB_SHOW(line));
}

/* An entry in its parts. */
struct record {
	char *entry;
	const char *text; /* of its own, "" if there is none */
	bool excluded;
};

static const char *text_of(const char *value)
{
	const char *second = *value == ':' ? strchr(value + 1, ':') : NULL;

	if (*value == '#' || *value == ';' || (*value == ':' && !second))
		return "";
	return second ? second + 1 + strspn(second + 1, XB_BLANKS) : value;
}

/* colons: as many as the entry has. The record is zero, and stays so if the line is something else.
 */
static int read_record(struct xb_reading *reading, char *line, bool colons, struct record *record)
{
	bool comment = *line && strchr("#;", *line);
	size_t size;

	/* A directive may stand in a comment, for other programs that read such files. */
	if (*line && strchr(":#;", *line) && line[1] == '$')
		line++;
	if (*line == '$' && (!comment || marks_any(line)))
		return take_directive(reading, line);
	if (comment || is_default(line))
		return 0;
	record->excluded = *line == '!';
	line += record->excluded;
	record->entry = line + strspn(line, XB_BLANKS);
	size = strcspn(record->entry, colons ? XB_BLANKS "#;" : WORD_END);
	line = record->entry + size;
	record->text = text_of(line + strspn(line, XB_BLANKS));
	if (*line == ':')
		record->text = text_of(line);
	*line = '\0';
	return 0;
}

static int keep(struct xb_reading *reading, const struct xb_span *span, const struct record *record)
{
	struct xb_item item = {.entry.kind = record->excluded ? XB_ALLOW4 : 0};
	xb_address addresses = (span->last - span->first) >> 96;

	if (!span->ipv6 && reading->most && addresses >= reading->most)
		return xb_line_unknown(reading->file, reading->file->lines,
				       "'%s' has more addresses than $MAXRANGE4 allows",
				       XB_SHOW(record->entry));
	return xb_span_keep(reading->file, span, &item, record->excluded ? "" : record->text);
}

/* --- ip4set and ip4trie --- */

/* 1 to 4 octets, left-aligned. Returns the bits they have; 0: no octets. */
static uint8_t take_octets(const char **text, uint32_t *address)
{
	uint8_t bits = 0;

	*address = 0;
	for (const char *at = *text; bits < 32 && *at >= '0' && *at <= '9'; at += *at == '.') {
		uint32_t octet = 0;

		while (*at >= '0' && *at <= '9' && octet < 256)
			octet = octet * 10 + (uint32_t)(*at++ - '0');
		if (octet > 255)
			return 0;
		bits = (uint8_t)(bits + 8);
		*address |= octet << (32 - bits);
		*text = at;
		if (*at != '.')
			break;
	}
	return bits;
}

static uint32_t host_mask(uint8_t bits)
{
	return bits < 32 ? UINT32_MAX >> bits : 0;
}

/* `127.16-31`, `127.0.0.1-255`, `127.16.0-127.31.255`: what one side has, the other has, or its
 * last octet alone. */
static bool read_range(const char *text, uint32_t first, uint8_t bits, uint32_t *last)
{
	uint8_t last_bits = take_octets(&text, last);

	if (!last_bits || *text)
		return false;
	if (last_bits == 8)
		*last = *last >> (bits - 8) | (first & ~host_mask((uint8_t)(bits - 8)));
	else if (last_bits != bits)
		return false;
	*last |= host_mask(bits);
	return first <= *last;
}

static bool read_length(const char *text, uint8_t *length)
{
	size_t digits = strspn(text, XB_DIGITS);

	if (!digits || digits > 2 || text[digits])
		return false;
	*length = (uint8_t)strtoul(text, NULL, 10);
	return *length <= 32;
}

#define HOST_BITS "'%s' has bits behind its length: rbldnsd leaves it out"

/* XB_LINE_UNKNOWN: there is no such prefix, which was told. */
static int read_span4(struct xb_listfile *file, const char *text, bool ranges, struct xb_span *span)
{
	const char *end = text;
	uint32_t first, last = 0;
	uint8_t bits = take_octets(&end, &first), length = bits;
	bool right = bits > 8 && !*end;

	if (bits && *end == '-' && ranges) {
		right = read_range(end + 1, first, bits, &last);
	} else {
		if (bits && *end == '/')
			right = read_length(end + 1, &length);
		last = first | host_mask(length);
		if (right && (first & host_mask(length)))
			return xb_line_unknown(file, file->lines, HOST_BITS, XB_SHOW(text))
				       ?: XB_LINE_UNKNOWN;
	}
	if (!right)
		return xb_input_error("'%s' is not an address, a prefix%s", XB_SHOW(text),
				      ranges ? " or a range" : " or its first octets");
	*span = (struct xb_span){(xb_address)first << 96,
				 ((xb_address)last << 96) | (((xb_address)1 << 96) - 1), false};
	return 0;
}

static int parse_ip4(struct xb_reading *reading, char *line, bool ranges)
{
	struct record record = {0};
	struct xb_span span;
	int error = read_record(reading, line, false, &record);

	if (error || !record.entry)
		return error;
	error = read_span4(reading->file, record.entry, ranges, &span);
	if (error == XB_LINE_UNKNOWN)
		return 0;
	return error ? error : keep(reading, &span, &record);
}

static int parse_ip4set(struct xb_reading *reading, char *line)
{
	return parse_ip4(reading, line, true);
}

static int parse_ip4trie(struct xb_reading *reading, char *line)
{
	return parse_ip4(reading, line, false);
}

/* A value, that is; what might as well be a port says nothing. */
static bool is_value(const char *text)
{
	size_t digits;

	if (*text != ':')
		return false;
	digits = strspn(text + 1, XB_DIGITS);
	return !digits || !strchr(XB_BLANKS "#;", text[1 + digits]);
}

/* An exclusion, or an entry with a value. */
static bool marks_ip4(const char *line)
{
	bool excluded = *line == '!';
	uint32_t address;
	const char *end;

	if (marks_any(line))
		return true;
	line += excluded;
	end = line + strspn(line, XB_BLANKS);
	if (take_octets(&end, &address) < 16)
		return false;
	end += strspn(end, XB_DIGITS "./-");
	return excluded ? !*end || strchr(WORD_END, *end) : is_value(end + strspn(end, XB_BLANKS));
}

static int finish_ip4set(struct xb_reading *reading)
{
	return limit_time(reading, xb_span_except(reading->file, XB_LONGEST_OCTET));
}

static int finish_trie(struct xb_reading *reading)
{
	return limit_time(reading, xb_span_except(reading->file, XB_LONGEST_FIRST));
}

#define PASSES_FOR "plain hosts domains rpz"

const struct xb_list_format xb_ip4set_format = {"ip4set",
						marks_ip4,
						parse_ip4set,
						.comments = "",
						.finish = finish_ip4set,
						.passes_for = PASSES_FOR,
						.marks = marks_ip4};
const struct xb_list_format xb_ip4trie_format = {"ip4trie",
						 marks_ip4,
						 parse_ip4trie,
						 .comments = "",
						 .finish = finish_trie,
						 .passes_for = PASSES_FOR,
						 .marks = marks_ip4};

/* --- ip6trie --- */

/* The first words of an address stand for a prefix: 2001:db8 is 2001:db8::/32. */
static int read_span6(struct xb_listfile *file, const char *text, struct xb_span *span)
{
	size_t address = strcspn(text, "/"), words = 1;
	char full[XB_ENTRY_TEXT + 16];
	struct xb_entry entry;
	bool host_bits;
	int error;

	for (size_t i = 0; i < address; i++)
		words += text[i] == ':';
	if (words == 8 || strstr(text, "::") || address > 40)
		snprintf(full, sizeof(full), "%s", text);
	else if (text[address])
		snprintf(full, sizeof(full), "%.*s::%s", (int)address, text, text + address);
	else if (words > 1)
		snprintf(full, sizeof(full), "%s::/%zu", text, words * 16);
	else
		return xb_input_error("'%s' is not an IPv6 address or prefix", XB_SHOW(text));
	error = xb_entry_parse(full, strlen(full), NULL, &entry, &host_bits);
	if (error)
		return error;
	if (!xb_entry_is_ipv6(&entry))
		return xb_input_error("'%s' is not an IPv6 address or prefix", XB_SHOW(text));
	if (host_bits)
		return xb_line_unknown(file, file->lines, HOST_BITS, XB_SHOW(text))
			       ?: XB_LINE_UNKNOWN;
	*span = xb_span_of(&entry);
	return 0;
}

static int parse_ip6trie(struct xb_reading *reading, char *line)
{
	struct record record = {0};
	struct xb_span span;
	int error = read_record(reading, line, true, &record);

	if (error || !record.entry)
		return error;
	error = read_span6(reading->file, record.entry, &span);
	if (error == XB_LINE_UNKNOWN)
		return 0;
	return error ? error : keep(reading, &span, &record);
}

static bool marks_ip6(const char *line)
{
	bool excluded = *line == '!';
	size_t size;

	if (marks_any(line))
		return true;
	line += excluded;
	line += strspn(line, XB_BLANKS);
	size = strspn(line, XB_DIGITS "abcdefABCDEF:/");
	if (!memchr(line, ':', size))
		return false;
	if (excluded)
		return !line[size] || strchr(XB_BLANKS "#;", line[size]);
	return strchr(XB_BLANKS, line[size]) && line[size] &&
	       is_default(line + size + strspn(line + size, XB_BLANKS));
}

const struct xb_list_format xb_ip6trie_format = {"ip6trie",
						 marks_ip6,
						 parse_ip6trie,
						 .comments = "",
						 .finish = finish_trie,
						 .passes_for = PASSES_FOR,
						 .marks = marks_ip6};

/* --- dnset --- */

/*
 * `example.com` is that name alone, `*.example.com` what is below it, `.example.com` both; what is
 * excluded likewise. The most specific line decides.
 */
static int parse_dnset(struct xb_reading *reading, char *line)
{
	struct record record = {0};
	int error = read_record(reading, line, false, &record);
	unsigned int how;
	size_t wide;

	if (error || !record.entry)
		return error;
	if (*record.entry == '+')
		return XB_LINE_UNKNOWN;
	wide = xb_line_wildcard(record.entry);
	how = record.excluded ? XB_LINE_ALLOW | XB_LINE_DOUBTFUL : wide ? XB_LINE_MEANT : 0;
	if (wide)
		error = xb_line_keep_domain(reading->file, record.entry + wide, how,
					    record.excluded ? "" : record.text);
	if (error || wide == 2)
		return error;
	how &= ~XB_LINE_MEANT;
	return xb_line_keep_domain(reading->file, record.entry + wide, how | XB_LINE_EXACT,
				   record.excluded ? "" : record.text);
}

static bool marks_dnset(const char *line)
{
	bool excluded = *line == '!';
	const char *name = line + excluded;
	size_t size;

	if (marks_any(line))
		return true;
	name += strspn(name, XB_BLANKS);
	name += *name == '+' ? 0 : xb_line_wildcard(name);
	size = strcspn(name, WORD_END);
	if (!xb_line_looks_like_domain(name, size))
		return false;
	return excluded ? !name[size] : name[size + strspn(name + size, XB_BLANKS)] == ':';
}

static int finish_dnset(struct xb_reading *reading)
{
	return limit_time(reading, xb_line_wildcards(reading->file, XB_WILDCARDS_OPEN));
}

const struct xb_list_format xb_dnset_format = {"dnset",
					       marks_dnset,
					       parse_dnset,
					       .comments = "",
					       .loose = true,
					       .finish = finish_dnset,
					       .passes_for = PASSES_FOR,
					       .marks = marks_dnset};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second parser. */
#include "second.h"

#include <string.h>
#include <strings.h>

/* What is left of a vector, or of the segment. */
struct view {
	const uint8_t *at, *end;
	bool broken; /* more was taken than is there */
};

static const uint8_t *take(struct view *view, size_t size)
{
	const uint8_t *taken = view->at;

	if (view->broken || (size_t)(view->end - view->at) < size) {
		view->broken = true;
		return NULL;
	}
	view->at += size;
	return taken;
}

static size_t take_number(struct view *view, uint32_t bytes)
{
	const uint8_t *at = take(view, bytes);
	size_t number = 0;

	for (uint32_t i = 0; at && i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

/* A vector, as much of it as there is. */
static struct view take_vector(struct view *view, uint32_t bytes)
{
	size_t size = take_number(view, bytes), left = (size_t)(view->end - view->at);
	struct view inner = {.at = view->at, .end = view->at, .broken = view->broken};

	if (view->broken)
		return inner;
	inner.end += size < left ? size : left;
	if (size > left)
		view->broken = true;
	else
		view->at += size;
	return inner;
}

/* By RFC 1035, section 2.3.4. */
static bool is_name(const char *name, size_t size)
{
	size_t label = 0;

	for (size_t i = 0; i < size; i++) {
		label = name[i] == '.' ? 0 : label + 1;
		if (label > 63 || (!label && (!i || name[i - 1] == '.')))
			return false;
	}
	return label && size <= 253;
}

/* What it is, if it is a name. */
static enum second_found second_whole(const void *text, size_t size, struct second_name *name)
{
	*name = (struct second_name){.text = text, .size = size};
	if (size && name->text[size - 1] == '.')
		name->size--;
	return is_name(name->text, name->size) ? SECOND_NAME : SECOND_NAMELESS;
}

/* RFC 6066, section 3: the list's first, if it is a host's. */
static enum second_found second_server_name(struct view extension, struct second_name *found)
{
	struct view list = take_vector(&extension, 2), name;
	size_t kind = take_number(&list, 1);

	name = take_vector(&list, 2);
	if (list.broken || kind)
		return SECOND_NAMELESS;
	return second_whole(name.at, (size_t)(name.end - name.at), found);
}

/* RFC 8446, sections 4.1.2 and 5.1. */
enum second_found second_tls(const uint8_t *data, size_t size, struct second_name *name)
{
	struct view segment = {.at = data, .end = data + size}, record, message, extensions;

	if (size < 6 || data[0] != 22 || data[1] != 3 || data[5] != 1)
		return SECOND_NOTHING;
	take(&segment, 3);
	record = take_vector(&segment, 2);
	take(&record, 1);
	message = take_vector(&record, 3);
	take(&message, 2 + 32);
	take_vector(&message, 1);
	take_vector(&message, 2);
	take_vector(&message, 1);
	extensions = take_vector(&message, 2);
	for (int i = 0; i < 64 && !extensions.broken; i++) {
		size_t type = take_number(&extensions, 2);
		struct view one = take_vector(&extensions, 2);

		if (!one.broken && !type)
			return second_server_name(one, name);
	}
	return SECOND_NAMELESS;
}

/* A character of the data, or 0 behind its end. */
static char at_of(const uint8_t *data, size_t size, size_t at)
{
	return at < size ? (char)data[at] : '\0';
}

static bool is_blank(char sign)
{
	return sign == ' ' || sign == '\t';
}

static bool is_usual(const uint8_t *data, size_t size, size_t at)
{
	static const char *const methods[] = {"GET ",	  "HEAD ",    "POST ",	"PUT ",	 "DELETE ",
					      "CONNECT ", "OPTIONS ", "TRACE ", "PATCH "};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (at + strlen(methods[i]) <= size &&
		    !memcmp(data + at, methods[i], strlen(methods[i])))
			return true;
	return false;
}

/* Whether the first line is whole, has a word up to `end` of it and one more, and ends like
 * "... HTTP/1.1". */
static bool has_version(const uint8_t *data, size_t size, size_t at, size_t word)
{
	const uint8_t *end = at < size ? memchr(data + at, '\n', size - at) : NULL;
	const char *text;

	if (!end || end < data + word + 11 || (data[at] | 0x20) < 'a' || (data[at] | 0x20) > 'z')
		return false;
	end -= end[-1] == '\r';
	text = (const char *)end - 9;
	return is_blank(text[0]) && !memcmp(text + 1, "HTTP/", 5) && (text[6] & 0xf0) == '0' &&
	       text[7] == '.' && (text[8] & 0xf0) == '0';
}

/* Behind the method, 0: this is no request. */
static size_t behind_method(const uint8_t *data, size_t size, size_t at)
{
	size_t end = at;

	if (at + 8 > size)
		return 0;
	while (end < size && data[end] > ' ')
		end++;
	if (end == at || end - at >= 24 || !is_blank(at_of(data, size, end)))
		return 0;
	return is_usual(data, size, at) || has_version(data, size, at, end) ? end : 0;
}

/* A host from `at` on, that one of the signs or a blank ends. */
static enum second_found host_at(const uint8_t *data, size_t size, size_t at, const char *signs,
				 struct second_name *name)
{
	size_t end;

	for (size_t blanks = 0; blanks < 64 && is_blank(at_of(data, size, at)); blanks++)
		at++;
	for (end = at; end < size && data[end] > ' ' && !strchr(signs, data[end]); end++)
		;
	if (end >= size || data[end] == '@')
		end = at;
	return second_whole(data + at, end - at, name);
}

/* On to the next line that is a Host's, 0: there is none. *folded: one before it went on from
 * another. */
static size_t next_host(const uint8_t *data, size_t size, size_t at, bool *folded)
{
	for (;;) {
		const uint8_t *feed = at < size ? memchr(data + at, '\n', size - at) : NULL;

		if (!feed)
			return 0;
		at = (size_t)(feed - data) + 1;
		if (at >= size || data[at] == '\r' || data[at] == '\n')
			return 0;
		*folded |= is_blank((char)data[at]);
		if (at + 5 <= size && !strncasecmp((const char *)data + at, "host:", 5))
			return at + 5;
	}
}

/* RFC 9110, section 7.2; RFC 9112, sections 2.2, 3.2 and 5. */
enum second_found second_http(const uint8_t *data, size_t size, struct second_name *name)
{
	size_t start = 0, at, colon = 0;
	enum second_found found;
	bool folded = false;

	size = size < 2048 ? size : 2048;
	while (size >= 8 && start < 16 && start < size &&
	       (data[start] == '\r' || data[start] == '\n'))
		start++;
	at = behind_method(data, size, start);
	if (!at)
		return SECOND_NOTHING;
	colon = at;
	for (size_t blanks = 0; blanks < 64 && is_blank(at_of(data, size, at)); blanks++)
		at++;
	if (colon == start + 7 && !memcmp(data + start, "CONNECT", 7))
		return host_at(data, size, at, ":/?#@", name);
	for (colon = at; colon < at + 8 && at_of(data, size, colon) != ':'; colon++)
		;
	if (colon < at + 8 && colon + 3 <= size && !memcmp(data + colon, "://", 3) &&
	    (data[at] | 0x20) >= 'a' && (data[at] | 0x20) <= 'z')
		return host_at(data, size, colon + 3, ":/?#@", name);
	at = next_host(data, size, start, &folded);
	if (!at)
		return SECOND_NAMELESS;
	found = host_at(data, size, at, ":", name);
	folded = false;
	name->doubt =
		next_host(data, size, (size_t)((const uint8_t *)name->text - data), &folded) ||
		folded;
	return found;
}

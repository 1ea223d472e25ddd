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

static bool is_request(const uint8_t *data, size_t size)
{
	static const char *const methods[] = {"GET ",	  "HEAD ",    "POST ",	"PUT ",	 "DELETE ",
					      "CONNECT ", "OPTIONS ", "TRACE ", "PATCH "};

	for (size_t i = 0; size >= 8 && i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!memcmp(data, methods[i], strlen(methods[i])))
			return true;
	return false;
}

/* RFC 9110, section 7.2; RFC 9112, section 5. */
enum second_found second_http(const uint8_t *data, size_t size, struct second_name *name)
{
	size_t at = 0, blanks = 0, end;

	size = size < 2048 ? size : 2048;
	if (!is_request(data, size))
		return SECOND_NOTHING;
	do {
		while (at < size && data[at] != '\n')
			at++;
		at++;
		if (at + 5 > size || data[at] == '\r' || data[at] == '\n')
			return SECOND_NAMELESS;
	} while (strncasecmp((const char *)data + at, "host:", 5));
	at += 5;
	for (; at < size && blanks < 8 && (data[at] == ' ' || data[at] == '\t'); blanks++)
		at++;
	for (end = at; end < size && data[end] > ' ' && data[end] != ':'; end++)
		;
	if (end >= size)
		return SECOND_NAMELESS;
	return second_whole(data + at, end - at, name);
}

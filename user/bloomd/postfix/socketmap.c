/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/socketmap.h"

#include <string.h>

static enum postfix_result read_size(struct socketmap *map, char byte)
{
	if (byte == ':' && map->digits) {
		map->sized = true;
		return POSTFIX_MORE;
	}
	/* A size does not begin with 0 unless it is 0. */
	if (byte < '0' || byte > '9' || (map->digits && !map->size))
		return POSTFIX_WRONG;
	map->digits++;
	map->size = map->size * 10 + (uint32_t)(byte - '0');
	return map->size > SOCKETMAP_MOST ? POSTFIX_WRONG : POSTFIX_MORE;
}

static size_t take_text(struct socketmap *map, const char *bytes, size_t size)
{
	size_t rest = map->size - map->at;

	if (size > rest)
		size = rest;
	if (map->at < SOCKETMAP_KEPT) {
		size_t room = SOCKETMAP_KEPT - map->at;

		memcpy(map->text + map->at, bytes, size < room ? size : room);
	}
	map->at += (uint32_t)size;
	return size;
}

enum postfix_result socketmap_read(struct socketmap *map, const char *bytes, size_t size,
				   size_t *used)
{
	enum postfix_result result = POSTFIX_MORE;

	if (map->sized && map->at > map->size)
		*map = (struct socketmap){0};
	*used = 0;
	while (result == POSTFIX_MORE && *used < size) {
		if (!map->sized) {
			result = read_size(map, bytes[(*used)++]);
		} else if (map->at < map->size) {
			*used += take_text(map, bytes + *used, size - *used);
		} else {
			result = bytes[(*used)++] == ',' ? POSTFIX_REQUEST : POSTFIX_WRONG;
			map->at++; /* the request is over */
		}
	}
	return result;
}

void socketmap_split(struct socketmap *map, const char **name, const char **key)
{
	uint32_t kept = map->size < SOCKETMAP_KEPT ? map->size : SOCKETMAP_KEPT;
	char *blank;

	map->text[kept] = '\0';
	*name = map->text;
	*key = "";
	blank = strchr(map->text, ' ');
	if (!blank)
		return;
	*blank = '\0';
	if (kept == map->size && strlen(blank + 1) == (size_t)(map->text + kept - (blank + 1)))
		*key = blank + 1;
}

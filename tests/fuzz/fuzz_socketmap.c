/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of Postfix's socketmap. Read in pieces, they are the same as read at once; a request
 * written again leads back to itself; and each answer is one netstring with a status in front. The
 * first byte says how large the pieces are.
 */
#include "bloomd/postfix/answer.h"
#include "requests.h"

static void check_answer(struct socketmap *map)
{
	const struct postfix_config config = {.listed = "REJECT %a"};
	const struct answer_view view = {.config = &config, .unreadable = "out of order"};
	char *text;
	struct answer answer;
	unsigned long size;

	answer_socketmap(&view, map, &answer);
	size = strtoul(answer.text, &text, 10);
	must(*text++ == ':' && answer.size == (size_t)(text - answer.text) + size + 1);
	must(text[size] == ',' && strlen(answer.text) == answer.size);
	must(!strncmp(text, "NOTFOUND ", 9) || !strncmp(text, "TEMP out of order", 17) ||
	     (answer.failed && !strncmp(text, "PERM ", 5)));
	text[size] = '\0';
	must_be_clear(text);
}

static void check_request(void *request, FILE *out)
{
	struct socketmap *map = request, again = *map;
	const char *name, *key;

	must(map->at > map->size && map->size <= SOCKETMAP_MOST);
	socketmap_split(&again, &name, &key);
	must(strlen(name) <= SOCKETMAP_KEPT && strlen(key) <= SOCKETMAP_KEPT);
	must(strlen(name) + strlen(key) <= map->size && !strchr(name, ' '));
	if (*key)
		must(strlen(name) + 1 + strlen(key) == map->size);
	fprintf(out, "%zu:%s %s,", strlen(name) + 1 + strlen(key), name, key);
	check_answer(map);
}

static enum postfix_result read_piece(void *request, const char *bytes, size_t size, size_t *used)
{
	return socketmap_read(request, bytes, size, used);
}

static char *read_all(const char *bytes, size_t size, size_t piece)
{
	struct socketmap map = {0};

	return read_in_pieces(bytes, size, piece,
			      &(struct reader){read_piece, check_request, &map});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole, *pieces, *again;
	size_t right;

	if (!size)
		return 0;
	whole = read_all((const char *)data + 1, size - 1, size);
	pieces = read_all((const char *)data + 1, size - 1, 1 + data[0] % 50U);
	must(!strcmp(whole, pieces));
	right = strlen(whole) - (*whole && whole[strlen(whole) - 1] == '!');
	again = read_all(whole, right, 7);
	must(strlen(again) == right && !memcmp(whole, again, right));
	free(whole);
	free(pieces);
	free(again);
	return 0;
}

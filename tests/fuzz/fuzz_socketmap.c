/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of Postfix's socketmap. Read in pieces, they are the same as read at once; a request
 * written again leads back to itself; and each answer is one netstring with a status in front. The
 * first byte says how large the pieces are.
 */
#include "bloomd/postfix/answer.h"
#include "fuzz.h"

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

static void check_request(struct socketmap *map, FILE *out)
{
	struct socketmap again = *map;
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

/* The requests as text, which the caller frees. */
static char *read_all(const char *bytes, size_t size, size_t piece, bool *wrong)
{
	enum postfix_result result = POSTFIX_MORE;
	struct socketmap map = {0};
	size_t length, at = 0, used;
	char *text;
	FILE *out = open_memstream(&text, &length);

	must(out);
	while (at < size && result != POSTFIX_WRONG) {
		size_t there = size - at < piece ? size - at : piece;
		char *copy = malloc(there);

		must(copy);
		memcpy(copy, bytes + at, there);
		result = socketmap_read(&map, copy, there, &used);
		must(used && used <= there && (used == there || result != POSTFIX_MORE));
		free(copy);
		at += used;
		if (result == POSTFIX_REQUEST)
			check_request(&map, out);
	}
	*wrong = result == POSTFIX_WRONG;
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool wrong, wrong_in_pieces, wrong_again;
	char *whole, *pieces, *again;

	if (!size)
		return 0;
	whole = read_all((const char *)data + 1, size - 1, size, &wrong);
	pieces = read_all((const char *)data + 1, size - 1, 1 + data[0] % 50U, &wrong_in_pieces);
	must(!strcmp(whole, pieces) && wrong == wrong_in_pieces);
	again = read_all(whole, strlen(whole), 7, &wrong_again);
	must(!strcmp(whole, again) && !wrong_again);
	free(whole);
	free(pieces);
	free(again);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests by the socket. Read in pieces, they are the same as read at once; and a request written
 * as an array of its words leads back to them. The first byte says how large the pieces are.
 */
#include "bloomd/api/resp.h"
#include "fuzz.h"

/* All words that were read; each request begins with its number. */
struct words {
	char *text;
	size_t size;
	FILE *out;
	const char *why;
};

static void begin(struct words *words)
{
	*words = (struct words){0};
	words->out = open_memstream(&words->text, &words->size);
	must(words->out);
}

static void put(const void *bytes, size_t size, struct words *words)
{
	must(fwrite(bytes, 1, size, words->out) == size);
}

/* As an array of bulk strings. */
static void write_request(const struct resp *resp, const char *bytes, struct words *words)
{
	fprintf(words->out, "*%zu\r\n", resp->count - resp->first);
	for (size_t i = resp->first; i < resp->count; i++) {
		const struct resp_word *word = &resp->word[i];

		fprintf(words->out, "$%u\r\n", word->size);
		put(bytes + word->at, word->size, words);
		put("\r\n", 2, words);
	}
}

static void check(const struct resp *resp, const char *bytes, size_t there)
{
	must(resp->count > resp->first && resp->count - resp->first <= RESP_WORDS);
	must(resp->at <= there && resp->at - resp->begin <= RESP_BYTES);
	for (size_t i = resp->first; i < resp->count; i++) {
		const struct resp_word *word = &resp->word[i];

		must(word->at >= resp->begin);
		must((size_t)word->at + word->size < there);
		must(!bytes[word->at + word->size]);
	}
}

/* Forgets what was read, as a client does when it is answered. */
static size_t forget(struct resp *resp, char *bytes, size_t there, size_t size)
{
	size_t gone = resp->begin;

	memmove(bytes, bytes + gone, size - gone);
	resp_forget(resp);
	must(!resp->begin && resp->at <= there - gone);
	return gone;
}

static void read_all(const uint8_t *data, size_t size, size_t piece, struct words *words)
{
	/* One byte less than none, so that the sanitizer sees what lies behind. */
	char *bytes = malloc(size ? size : 1);
	struct resp resp = {0};
	size_t there = 0;
	enum resp_result result = RESP_MORE;

	must(bytes);
	memcpy(bytes, data, size);
	begin(words);
	while (there < size && result != RESP_WRONG) {
		there = there + piece < size ? there + piece : size;
		while ((result = resp_read(&resp, bytes, there, &words->why)) == RESP_REQUEST) {
			check(&resp, bytes, there);
			write_request(&resp, bytes, words);
			resp_next(&resp);
		}
		if (result == RESP_MORE && there % 3 == 0) {
			size_t gone = forget(&resp, bytes, there, size);

			there -= gone;
			size -= gone;
		}
	}
	if (result == RESP_WRONG)
		must_be_clear(words->why);
	else
		words->why = NULL;
	fclose(words->out);
	resp_free(&resp);
	free(bytes);
}

static void must_be_same(const struct words *one, const struct words *other)
{
	must(one->size == other->size);
	must(!memcmp(one->text, other->text, one->size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct words whole, pieces, again;

	if (!size)
		return 0;
	read_all(data + 1, size - 1, size, &whole);
	read_all(data + 1, size - 1, 1 + data[0] % 50U, &pieces);
	must_be_same(&whole, &pieces);
	must(!whole.why == !pieces.why && (!whole.why || !strcmp(whole.why, pieces.why)));
	read_all((const uint8_t *)whole.text, whole.size, 7, &again);
	must(!again.why);
	must_be_same(&whole, &again);
	free(whole.text);
	free(pieces.text);
	free(again.text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/resp.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LINE_MOST 4096 /* bytes of a line of words */
#define NUMBER	  12   /* bytes of a length with its line end, at most */

static enum resp_result wrong(const char *cause, const char **why)
{
	*why = cause;
	return RESP_WRONG;
}

static enum resp_result add_word(struct resp *resp, size_t at, size_t size, const char **why)
{
	if (xb_array_grow(&resp->word, &resp->room, resp->count + 1, sizeof(*resp->word)))
		return wrong("out of memory", why);
	resp->word[resp->count++] = (struct resp_word){(uint32_t)at, (uint32_t)size};
	return RESP_REQUEST;
}

/* The number between the character at `at` and the end of its line. RESP_REQUEST: it is read, and
 * `at` stands behind the line. Negative numbers count as -1. */
static enum resp_result read_number(struct resp *resp, const char *bytes, size_t size, long *number)
{
	size_t at = resp->at + 1, most = size - resp->at < NUMBER ? size : resp->at + NUMBER;
	bool negative = at < most && bytes[at] == '-';
	size_t begin = at += negative;

	*number = 0;
	for (; at < most && bytes[at] >= '0' && bytes[at] <= '9'; at++)
		*number = *number * 10 + bytes[at] - '0';
	if (negative)
		*number = -1;
	if (at + 1 >= most)
		return most == size && size - resp->at < NUMBER && (at == most || bytes[at] == '\r')
			       ? RESP_MORE
			       : RESP_WRONG;
	if (at == begin || bytes[at] != '\r' || bytes[at + 1] != '\n')
		return RESP_WRONG;
	resp->at = at + 2;
	return RESP_REQUEST;
}

/* Words between blanks, without quotes. */
static enum resp_result read_line(struct resp *resp, char *bytes, size_t size, const char **why)
{
	char *end = memchr(bytes + resp->at, '\n', size - resp->at);
	size_t at = resp->begin, stop;

	if ((end ? (size_t)(end - bytes) : size) - resp->begin > LINE_MOST)
		return wrong("too big inline request", why);
	if (!end) {
		resp->at = size;
		return RESP_MORE;
	}
	stop = (size_t)(end - bytes);
	resp->at = stop + 1;
	if (stop > at && bytes[stop - 1] == '\r')
		bytes[--stop] = '\0';
	bytes[resp->at - 1] = '\0';
	while (at < stop) {
		size_t begin = at += strspn(bytes + at, " \t");

		while (at < stop && bytes[at] != ' ' && bytes[at] != '\t')
			at++;
		if (at > begin && add_word(resp, begin, at - begin, why) == RESP_WRONG)
			return RESP_WRONG;
		if (at < stop)
			bytes[at++] = '\0';
	}
	return RESP_REQUEST;
}

static enum resp_result read_array(struct resp *resp, const char *bytes, size_t size,
				   const char **why)
{
	long number;
	enum resp_result result = read_number(resp, bytes, size, &number);

	if (result == RESP_WRONG || number > (long)RESP_WORDS)
		return wrong("invalid multibulk length", why);
	if (result == RESP_REQUEST)
		resp->missing = number > 0 ? (uint32_t)number : 0;
	return result;
}

static enum resp_result read_size(struct resp *resp, const char *bytes, size_t size,
				  const char **why)
{
	long number;
	enum resp_result result;

	if (resp->at == size)
		return RESP_MORE;
	if (bytes[resp->at] != '$')
		return wrong("expected '$': a request is an array of bulk strings", why);
	result = read_number(resp, bytes, size, &number);
	if (result == RESP_WRONG || number < 0)
		return wrong("invalid bulk length", why);
	if (result == RESP_MORE)
		return RESP_MORE;
	if ((size_t)number + 2 > RESP_BYTES - (resp->at - resp->begin))
		return wrong("the request is too large", why);
	resp->next = (uint32_t)number;
	resp->sized = true;
	return RESP_REQUEST;
}

static enum resp_result read_bulk(struct resp *resp, char *bytes, size_t size, const char **why)
{
	char *end = bytes + resp->at + resp->next;

	if (size - resp->at < (size_t)resp->next + 2)
		return RESP_MORE;
	if (end[0] != '\r' || end[1] != '\n')
		return wrong("a bulk string does not end where its length says", why);
	*end = '\0';
	resp->at += (size_t)resp->next + 2;
	resp->sized = false;
	resp->missing--;
	return add_word(resp, (size_t)(end - bytes) - resp->next, resp->next, why);
}

static enum resp_result read_words(struct resp *resp, char *bytes, size_t size, const char **why)
{
	enum resp_result result = RESP_REQUEST;

	while (resp->missing && result == RESP_REQUEST)
		if (RESP_BYTES - NUMBER < resp->at - resp->begin)
			result = wrong("the request is too large", why);
		else if (!resp->sized)
			result = read_size(resp, bytes, size, why);
		else
			result = read_bulk(resp, bytes, size, why);
	return result;
}

enum resp_result resp_read(struct resp *resp, char *bytes, size_t size, const char **why)
{
	while (resp->missing || resp->at < size) {
		enum resp_result result;

		if (resp->missing)
			result = read_words(resp, bytes, size, why);
		else if (resp->at == resp->begin && bytes[resp->at] == '*')
			result = read_array(resp, bytes, size, why);
		else
			result = read_line(resp, bytes, size, why);
		if (result != RESP_REQUEST)
			return result;
		if (!resp->missing && resp->count > resp->first)
			return RESP_REQUEST;
		/* Empty arrays and empty lines are no requests. */
		if (!resp->missing)
			resp->begin = resp->at;
	}
	return RESP_MORE;
}

void resp_next(struct resp *resp)
{
	resp->begin = resp->at;
	resp->first = resp->count;
}

void resp_forget(struct resp *resp)
{
	resp->count -= resp->first;
	for (size_t i = 0; i < resp->count; i++) {
		resp->word[i] = resp->word[resp->first + i];
		resp->word[i].at -= (uint32_t)resp->begin;
	}
	resp->at -= resp->begin;
	resp->first = 0;
	resp->begin = 0;
	if (resp->count)
		return;
	free(resp->word);
	resp->word = NULL;
	resp->room = 0;
}

void resp_free(struct resp *resp)
{
	free(resp->word);
	*resp = (struct resp){0};
}

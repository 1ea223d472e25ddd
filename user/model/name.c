/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names to and from text. */
#include "model/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/idn.h"

#define LABEL_MAX 63
#define TEXT_MAX  253 /* characters of text */
#define SHOWN	  60

static int bad(const char *text, size_t size, const char *why)
{
	char shown[SHOWN + 1];

	xb_utf8_show(text, size, shown, sizeof(shown));
	return xb_input_error("'%s%s' is not a valid domain: %s", shown, size > SHOWN ? "..." : "",
			      why);
}

static bool is_ascii(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] & 0x80)
			return false;
	return true;
}

static bool is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

/* The labels of an ASCII name, the last first. */
static const char *put_labels(const char *text, size_t size, uint8_t *form, size_t *used)
{
	const char *end = text + size;

	if (!size)
		return "it is empty";
	if (size > TEXT_MAX)
		return "it is longer than 253 characters";
	while (end > text) {
		const char *start = end;

		while (start > text && start[-1] != '.')
			start--;
		if (start == end)
			return "it has an empty label";
		if (end - start > LABEL_MAX)
			return "a label is longer than 63 characters";
		form[(*used)++] = (uint8_t)(end - start);
		for (const char *c = start; c < end; c++) {
			if (!is_label_char(*c))
				return "it has other characters than letters, digits, '-' and '_'";
			form[(*used)++] = (uint8_t)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
		}
		if (start == text)
			break;
		end = start - 1;
		if (end == text)
			return "it has an empty label";
	}
	return NULL;
}

static bool is_number(const uint8_t *label)
{
	for (int i = 1; i <= label[0]; i++)
		if (label[i] < '0' || label[i] > '9')
			return false;
	return true;
}

static bool has_letter(const uint8_t *label)
{
	for (int i = 1; i <= label[0]; i++)
		if (label[i] >= 'a' && label[i] <= 'z')
			return true;
	return false;
}

static int parse_ascii(const char *text, size_t size, const char *shown, size_t shown_size,
		       uint8_t *form, size_t *used)
{
	const char *why;

	if (size && text[size - 1] == '.')
		size--;
	why = put_labels(text, size, form, used);
	if (!why && is_number(form))
		why = "its last label is a number";
	else if (!why && !has_letter(form))
		why = "its last label has no letter";
	/* No top-level domain does, and an option that is none of the verb would be a domain. */
	if (!why && form[1] == '-')
		why = "its last label begins with '-'";
	return why ? bad(shown, shown_size, why) : 0;
}

static int parse_unicode(const char *text, size_t size, uint8_t *form, size_t *used)
{
	char *copy = strndup(text, size), *ascii;
	const char *why;
	int error;

	if (!copy)
		return xb_out_of_memory();
	ascii = xb_idn_to_ascii(copy, &why);
	if (ascii)
		error = parse_ascii(ascii, strlen(ascii), text, size, form, used);
	else
		error = why ? bad(text, size, why) : -EIO;
	free(ascii);
	free(copy);
	return error;
}

int xb_name_parse(const char *text, size_t size, uint8_t form[XB_NAME_BYTES], uint8_t *used)
{
	bool exact = size && *text == '=';
	size_t bytes = 0;
	int error;

	if (memchr(text, '\0', size))
		return bad(text, size, "it has a zero byte");
	text += exact;
	size -= exact;
	if (is_ascii(text, size))
		error = parse_ascii(text, size, text, size, form, &bytes);
	else
		error = parse_unicode(text, size, form, &bytes);
	if (error)
		return error;
	if (exact)
		form[bytes++] = 0;
	*used = (uint8_t)bytes;
	return 0;
}

/* Where each label begins, in the order of the form; their number. */
static uint32_t label_starts(const uint8_t *form, uint8_t used, uint8_t starts[XB_NAME_LABELS])
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < used && form[at] && count < XB_NAME_LABELS; at += form[at] + 1U)
		starts[count++] = (uint8_t)at;
	return count;
}

const char *xb_name_format(const uint8_t *form, uint8_t used, char out[XB_NAME_TEXT])
{
	uint8_t starts[XB_NAME_LABELS];
	char *end = out;

	if (xb_name_is_exact(form, used))
		*end++ = '=';
	for (uint32_t left = label_starts(form, used, starts); left > 0; left--) {
		const uint8_t *label = form + starts[left - 1];

		memcpy(end, label + 1, label[0]);
		end += label[0];
		if (left > 1)
			*end++ = '.';
	}
	*end = '\0';
	return out;
}

bool xb_name_from_wire(const uint8_t *wire, size_t size, uint8_t form[XB_NAME_BYTES], uint8_t *used)
{
	size_t at = 0;

	if (size >= XB_NAME_BYTES)
		return false;
	while (at < size) {
		size_t bytes = wire[at] + 1U;

		if (bytes == 1 || bytes > LABEL_MAX + 1 || bytes > size - at)
			return false;
		form[size - at - bytes] = wire[at];
		for (size_t i = 1; i < bytes; i++) {
			uint8_t byte = wire[at + i];

			form[size - at - bytes + i] =
				byte > ' ' && byte <= '~' && byte != '.' ? byte : '?';
		}
		at += bytes;
	}
	*used = (uint8_t)size;
	return true;
}

uint32_t xb_name_labels(const uint8_t *form, uint8_t used)
{
	uint8_t starts[XB_NAME_LABELS];

	return label_starts(form, used, starts);
}

bool xb_name_is_exact(const uint8_t *form, uint8_t used)
{
	/* A label cannot end in a zero byte: xb_name_parse lets none in. */
	return used && !form[used - 1];
}

uint8_t xb_name_wider(const uint8_t *form, uint8_t used)
{
	uint8_t starts[XB_NAME_LABELS];
	uint32_t count = label_starts(form, used, starts);

	if (xb_name_is_exact(form, used))
		return (uint8_t)(used - 1);
	return count ? starts[count - 1] : 0;
}

uint64_t xb_name_hash(const struct xb_name_key *key, const uint8_t *form, uint8_t used)
{
	const struct xb_name_factors *place = key->place;
	bool exact = xb_name_is_exact(form, used);
	struct xb_name_sums sums = {0};

	for (uint32_t at = 0; at < used && form[at]; at += form[at] + 1U) {
		uint32_t length = form[at], words = xb_label_words(length);

		for (uint32_t i = 0; i < words; i++) {
			size_t bytes = i + 1 < words ? 8 : (length & 7) + 1;
			uint64_t word = 0;

			memcpy(&word, form + at + 8 * i, bytes);
			xb_name_take(&sums, place++, word);
		}
	}
	return xb_hash_name(&sums, place, exact);
}

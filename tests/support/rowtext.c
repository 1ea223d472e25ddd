/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as text. */
#include "rowtext.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"

#define ARGUMENTS 4

static void refuse(const char *why, const char *text)
{
	fprintf(stderr, "%s: %s\n", why, text);
	exit(1);
}

void rowtext_let(struct rowtext *lets, const char *definition)
{
	size_t length = strcspn(definition, " \t"), at = 0;
	const char *body = definition + length;

	while (at < lets->lets &&
	       (strncmp(lets->let[at].name, definition, length) || lets->let[at].name[length]))
		at++;
	body += strspn(body, " \t");
	if (length >= sizeof(lets->let[0].name) || strlen(body) >= sizeof(lets->let[0].body) ||
	    at == sizeof(lets->let) / sizeof(lets->let[0]))
		refuse("too long, or too many", definition);
	snprintf(lets->let[at].name, length + 1, "%s", definition);
	strcpy(lets->let[at].body, body);
	lets->lets += at == lets->lets;
}

static const char *find(const struct rowtext *lets, const char *name, size_t length)
{
	for (uint32_t i = 0; i < lets->lets; i++)
		if (!strncmp(lets->let[i].name, name, length) && !lets->let[i].name[length])
			return lets->let[i].body;
	return NULL;
}

/* Behind the parenthesis that closes the one at `text`. */
static const char *behind(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		depth += (*text == '(') - (*text == ')');
		if (!depth)
			return text + 1;
	}
	refuse("no parenthesis closes", "(");
	return text;
}

/* The body with the arguments, "(a,b)", in it. */
static void substitute(const char *body, const char *arguments, char *out)
{
	const char *argument[ARGUMENTS + 1] = {0}, *at = arguments ? arguments : "";
	size_t size[ARGUMENTS + 1] = {0};

	for (int i = 1; i <= ARGUMENTS && *at && *at != ')'; i++) {
		argument[i] = ++at;
		while (*at && *at != ',' && *at != ')')
			at = *at == '(' ? behind(at) : at + 1;
		size[i] = (size_t)(at - argument[i]);
	}
	for (; *body; body++) {
		int number = *body == '$' ? body[1] - '0' : 0;

		if (number < 1 || number > ARGUMENTS) {
			*out++ = *body;
			continue;
		}
		if (!argument[number])
			refuse("an argument is missing", body);
		memcpy(out, argument[number], size[number]);
		out += size[number];
		body++;
	}
	*out = '\0';
}

static const char *put_text(const char *text, uint8_t *out, uint32_t *size)
{
	static const char escapes[] = "r\rn\nt\t\\\\\"\"";
	unsigned int byte;

	for (text++; *text && *text != '"'; text++) {
		const char *escape = *text == '\\' ? strchr(escapes, text[1]) : NULL;

		if (*text == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
			out[(*size)++] = (uint8_t)byte;
			text += 3;
		} else if (escape) {
			out[(*size)++] = (uint8_t)escape[1];
			text++;
		} else {
			out[(*size)++] = (uint8_t)*text;
		}
	}
	return text + (*text == '"');
}

static const char *put_labels(const char *text, uint8_t *out, uint32_t *size)
{
	size_t length = strcspn(text + 1, "'");
	char name[ROW_TEXT];

	snprintf(name, length + 1, "%s", text + 1);
	*size += dns_labels(name, out + *size);
	return text + length + 1 + (text[length + 1] == '\'');
}

/* One word; returns what is behind it. */
static const char *put_word(const struct rowtext *lets, const char *text, uint8_t *out,
			    uint32_t *size)
{
	size_t digits = strspn(text, "0123456789"), length = strcspn(text, " \t('\"");
	const char *body, *end = text + length;
	char whole[ROW_TEXT];
	unsigned int byte;

	if (*text == '\'')
		return put_labels(text, out, size);
	if (*text == '"')
		return put_text(text, out, size);
	if (*text == '(') {
		end = behind(text);
		snprintf(whole, (size_t)(end - text) - 1, "%s", text + 1);
		*size += rowtext_bytes(lets, whole, out + *size);
		return end;
	}
	if (digits && text[digits] == '*') {
		for (int i = atoi(text); i > 0; i--)
			end = put_word(lets, text + digits + 1, out, size);
		return end;
	}
	body = find(lets, text, length);
	if (body) {
		substitute(body, *end == '(' ? end : NULL, whole);
		*size += rowtext_bytes(lets, whole, out + *size);
		return *end == '(' ? behind(end) : end;
	}
	if (!length)
		refuse("neither bytes nor defined", text);
	for (; text < end; text += 2) {
		if (!isxdigit(text[0]) || !isxdigit(text[1]) || sscanf(text, "%2x", &byte) != 1)
			refuse("neither bytes nor defined", text);
		out[(*size)++] = (uint8_t)byte;
	}
	return end;
}

uint32_t rowtext_bytes(const struct rowtext *lets, const char *text, uint8_t *out)
{
	uint32_t size = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t"))
		text = put_word(lets, text, out, &size);
	return size;
}

char *rowtext_word(char **text)
{
	char *word = *text + strspn(*text, " \t"), *at = word, quote = '\0';
	int depth = 0;

	if (!*word)
		return NULL;
	for (; *at && (quote || depth || !isblank(*at)); at++) {
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? '\0' : *at;
		else if (!quote)
			depth += (*at == '(') - (*at == ')');
	}
	*text = at + (*at != '\0');
	*at = '\0';
	return word;
}

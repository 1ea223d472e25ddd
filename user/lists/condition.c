/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/condition.h"

#include <string.h>

#include "lists/line.h"

const char *xb_word_read(const char *text, const char *ends, char *word, size_t room)
{
	bool quoted = *text == '"';
	size_t used = 0;

	if (!room)
		return NULL;
	text += quoted;
	while (*text && used + 1 < room) {
		if (quoted ? *text == '"' && text[1] != '"' : strchr(ends, *text) != NULL)
			break;
		text += quoted && *text == '"';
		word[used++] = *text++;
	}
	word[used] = '\0';
	if (!quoted)
		return !*text || strchr(ends, *text) ? text : NULL;
	if (*text != '"')
		return NULL;
	return !text[1] || strchr(ends, text[1]) ? text + 1 : NULL;
}

static bool read_number(const char *text, long double *number)
{
	char *end;

	if (!*text || text[strspn(text, XB_DIGITS "+-.eE")])
		return false;
	*number = strtold(text, &end);
	return !*end;
}

static const char *read_comparison(const char *text, struct xb_condition *condition)
{
	static const struct {
		const char *mark;
		enum xb_condition_how how;
		bool negated, equal;
	} marks[] = {
		{"!=", XB_CONDITION_IS, true, false},	  {"=", XB_CONDITION_IS, false, false},
		{">=", XB_CONDITION_BEYOND, false, true}, {">", XB_CONDITION_BEYOND, false, false},
		{"<=", XB_CONDITION_BEYOND, true, false}, {"<", XB_CONDITION_BEYOND, true, true},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t size = strlen(marks[i].mark);

		if (strncmp(text, marks[i].mark, size) != 0)
			continue;
		*condition = (struct xb_condition){
			.how = marks[i].how, .negated = marks[i].negated, .equal = marks[i].equal};
		return text + size;
	}
	return NULL;
}

const char *xb_condition_parse(const char *text, const char *ends, struct xb_condition *condition)
{
	size_t used = 0;
	long double number;

	text = read_comparison(text, condition);
	while (text) {
		char *value = condition->values + used;

		text = xb_word_read(text, ends, value, sizeof(condition->values) - used);
		condition->count++;
		used += strlen(value) + 1;
		if (!text || *text != '|')
			break;
		text++;
	}
	if (text && condition->how == XB_CONDITION_BEYOND &&
	    (condition->count > 1 || !read_number(condition->values, &number)))
		return NULL;
	return text;
}

static bool is_one_of(const struct xb_condition *condition, const char *value, bool is_number)
{
	const char *one = condition->values;
	long double wanted, number;

	for (size_t i = 0; i < condition->count; i++, one += strlen(one) + 1)
		if (!strcmp(one, value) || (is_number && read_number(one, &wanted) &&
					    read_number(value, &number) && wanted == number))
			return true;
	return false;
}

bool xb_condition_meets(const struct xb_condition *condition, const char *value, bool is_number)
{
	long double bound, number;
	bool beyond;

	if (condition->how == XB_CONDITION_IS)
		return is_one_of(condition, value, is_number) != condition->negated;
	if (!read_number(condition->values, &bound) || !read_number(value, &number))
		return false;
	beyond = number > bound || (condition->equal && number == bound);
	return beyond != condition->negated;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/action.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

/* OK and PERMIT are not among them: who is listed shall not pass other checks because of it. */
static const struct {
	const char *name;
	bool needs_text;
} actions[] = {
	{"DUNNO", false}, {"REJECT", false},  {"DEFER", false},	  {"DEFER_IF_PERMIT", false},
	{"HOLD", false},  {"DISCARD", false}, {"WARN", false},	  {"DEFER_IF_REJECT", false},
	{"INFO", false},  {"PREPEND", true},  {"REDIRECT", true}, {"FILTER", true},
	{"BCC", true},
};

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && !strncasecmp(text, word, size);
}

static bool is_code(const char *text, size_t size)
{
	return size == 3 && (*text == '4' || *text == '5') && strspn(text, "0123456789") == 3;
}

static int check_word(const char *text)
{
	size_t size = strcspn(text, " ");
	bool alone = !text[size];

	if (is_code(text, size))
		return alone ? xb_input_error("a text is missing behind '%s'", XB_SHOW(text)) : 0;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (is_word(text, size, actions[i].name))
			return alone && actions[i].needs_text
				       ? xb_input_error("a text is missing behind '%s'",
							XB_SHOW(text))
				       : 0;
	return xb_input_error("'%s' is not an action such as REJECT, DEFER_IF_PERMIT, PREPEND, "
			      "DUNNO, or a code such as 550, and a text",
			      XB_SHOW(text));
}

/* PREPEND puts a line into the header of the mail. */
static int check_header(const char *text)
{
	size_t size = strcspn(text, " "), name;

	if (!is_word(text, size, "PREPEND"))
		return 0;
	text += size + strspn(text + size, " ");
	name = strcspn(text, ": %");
	return name && text[name] == ':'
		       ? 0
		       : xb_input_error("'%s' is not a header such as X-Listed: %%l",
					XB_SHOW(text));
}

static int check_marks(const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			return xb_input_error("an action has other characters than printable ones "
					      "of ASCII");
		if (*c == '%' && !strchr("la%", c[1] ?: '?'))
			return xb_input_error("'%%' stands in front of l (lists), a (address or "
					      "domain) or another %%");
		if (*c == '%')
			c++;
	}
	return 0;
}

int action_check(const char *text)
{
	int error;

	if (strlen(text) > ACTION_MOST)
		return xb_input_error("an action has at most %d bytes", ACTION_MOST);
	error = check_marks(text);
	if (!error)
		error = check_word(text);
	return error ? error : check_header(text);
}

bool action_is_none(const char *text)
{
	return is_word(text, strcspn(text, " "), "DUNNO");
}

const char *action_format(const char *text, const char *asked, const char *lists,
			  char out[ACTION_TEXT])
{
	size_t used = 0;

	for (const char *c = text; *c; c++) {
		bool marked = *c == '%';
		char self[2] = {marked ? *++c : *c, '\0'};
		const char *part = marked && *c == 'l' ? lists : marked && *c == 'a' ? asked : self;
		size_t size = strlen(part);

		if (size > ACTION_TEXT - 1 - used)
			size = ACTION_TEXT - 1 - used;
		memcpy(out + used, part, size);
		used += size;
	}
	out[used] = '\0';
	return out;
}

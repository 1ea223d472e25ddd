/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of people as rows of texts.rows: what each kind of it becomes, or why it is refused. */
#include "base/error.h"
#include "base/text.h"
#include "model/bogon.h"
#include "model/comment.h"
#include "model/idn.h"
#include "model/limit.h"
#include "model/nameports.h"
#include "model/range.h"
#include "model/scope.h"
#include "support/rows.h"

/* Tells what becomes of the text, or returns an error. */
typedef int take(const char *text, size_t size, char found[ROWS_ROOM]);

static int take_entry(const char *text, size_t size, char found[ROWS_ROOM])
{
	static const char *const kinds[] = {[XB_PREFIX4] = "prefix4",
					    [XB_HOST4] = "host4",
					    [XB_NET6] = "net6",
					    [XB_NAME] = "name"};
	uint8_t form[XB_NAME_BYTES] = {0};
	char shown[XB_ENTRY_TEXT];
	struct xb_entry entry;
	bool host_bits;
	int error = xb_entry_parse(text, size, form, &entry, &host_bits);

	if (error)
		return error;
	assert_int_equal(entry.line, 0);
	sprintf(found, "%s %s%s", xb_entry_format(&entry, shown), kinds[entry.kind],
		host_bits ? ", cut" : "");
	return 0;
}

/* The prefixes of a range. */
static int take_span(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_span span;
	struct xb_entry prefix;
	int error = xb_span_parse(text, size, &span);

	if (error)
		return error == -ENOENT ? xb_input_error("no range") : error;
	*found = '\0';
	for (bool more = true; more;) {
		char shown[XB_ENTRY_TEXT];

		more = xb_span_next(&span, &prefix);
		strcat(strcat(found, *found ? " " : ""), xb_entry_format(&prefix, shown));
	}
	return 0;
}

/* No name. */
static int take_address(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_entry entry;
	int error = xb_entry_parse(text, size, NULL, &entry, NULL);

	return error ? error : xb_entry_format(&entry, found) != found;
}

static int take_name(const char *text, size_t size, char found[ROWS_ROOM])
{
	uint8_t form[XB_NAME_BYTES], used;
	int error = xb_name_parse(text, size, form, &used);

	return error ? error : xb_name_format(form, used, found) != found;
}

static int take_idn(const char *text, size_t size, char found[ROWS_ROOM])
{
	const char *why = "unchanged";
	char *ascii = xb_idn_to_ascii(text, &why);

	assert_int_equal(xb_error_class(), XB_ERROR_NONE); /* the caller makes the message */
	if (!ascii)
		return *why ? xb_input_error("%s", why) : 0;
	assert_null(why);
	strcpy(found, ascii);
	free(ascii);
	return 0;
}

static int take_ports(const char *text, size_t size, char found[ROWS_ROOM])
{
	uint16_t ports[XB_NAME_PORTS];
	int error;

	memset(ports, 0xa5, sizeof(ports));
	found[XB_PORTS_TEXT] = 'z';
	error = xb_ports_parse(text, ports);
	if (error)
		return error;
	assert_ptr_equal(xb_ports_format(ports, found), found);
	assert_int_equal(found[XB_PORTS_TEXT], 'z');
	return 0;
}

static int take_scope(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_scope scope, again;
	int error;

	memset(&scope, 0xa5, sizeof(scope));
	found[XB_SCOPE_TEXT] = 'z';
	error = xb_scope_parse(text, &scope);
	if (error)
		return error;
	assert_true(xb_scope_is_sound(&scope));
	assert_ptr_equal(xb_scope_format(&scope, found), found);
	assert_int_equal(found[XB_SCOPE_TEXT], 'z');
	assert_int_equal(xb_scope_parse(found, &again), 0);
	assert_true(xb_scope_equals(&scope, &again));
	return 0;
}

/* "100/s of 1 s": the period stands behind it. */
static int take_rate(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_limit limit = {0}, again = {0};
	char shown[XB_LIMIT_RATE_TEXT];
	int error = xb_limit_parse_rate(text, &limit.rate, &limit.period);

	if (error)
		return error;
	assert_int_equal(xb_limit_parse_rate(xb_limit_format_rate(&limit, shown), &again.rate,
					     &again.period),
			 0);
	assert_int_equal(again.rate, limit.rate);
	assert_int_equal(again.period, limit.period);
	sprintf(found, "%s of %u s", shown, limit.period);
	return 0;
}

static int take_burst(const char *text, size_t size, char found[ROWS_ROOM])
{
	uint64_t number;
	int error = xb_limit_parse_number(text, "burst", &number);

	if (!error)
		sprintf(found, "%llu", (unsigned long long)number);
	return error;
}

static int take_per(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_limit limit = xb_limit_defaults;
	int error = xb_limit_parse_per(text, &limit);

	xb_limit_format_per(&limit, found);
	return error;
}

static int take_known(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_limit limit = xb_limit_defaults;
	char shown[XB_LIMIT_KNOWN_TEXT];
	int error = xb_limit_parse_known(text, &limit.known);

	if (!error)
		strcpy(found, xb_limit_format_known(&limit, shown));
	return error;
}

static int take_limit(const char *text, size_t size, char found[ROWS_ROOM])
{
	char name[XB_LIMIT_NAME + 1];
	int error;

	memset(name, 'z', sizeof(name));
	error = xb_limit_parse_name(text, name);
	if (error)
		return error;
	assert_int_equal(name[XB_LIMIT_NAME], 'z');
	for (size_t i = size; i < XB_LIMIT_NAME; i++)
		assert_int_equal(name[i], 0);
	strcpy(found, name);
	return 0;
}

static int take_unit(const char *text, size_t size, char found[ROWS_ROOM])
{
	enum xb_limit_unit of;
	int error = xb_limit_parse_unit(text, &of);

	if (!error)
		sprintf(found, "%d %s", of, xb_limit_units[of]);
	return error;
}

static int take_over(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_limit limit = {0};
	int error = xb_limit_parse_over(text, &limit);

	if (!error)
		strcpy(found, xb_limit_over(&limit));
	return error;
}

static int take_comment(const char *text, size_t size, char found[ROWS_ROOM])
{
	strcpy(found, "taken");
	return xb_comment_check(text, size);
}

/* Without what the reason refers to. */
static int take_bogon(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_entry entry;
	const char *reason;
	int error = xb_entry_parse(text, size, NULL, &entry, NULL);

	if (error)
		return error;
	reason = xb_bogon(&entry) ?: "none";
	sprintf(found, "%.*s",
		(int)(strstr(reason, " (RFC") ? strstr(reason, " (RFC") - reason : 99), reason);
	return 0;
}

/* "OUTER INNER" */
static int take_inside(const char *text, size_t size, char found[ROWS_ROOM])
{
	uint8_t forms[2][XB_NAME_BYTES];
	struct xb_entry outer, inner, allow;
	size_t first = strcspn(text, " ");

	assert_int_equal(xb_entry_parse(text, first, forms[0], &outer, NULL), 0);
	assert_int_equal(xb_entry_parse(text + first + 1, size - first - 1, forms[1], &inner, NULL),
			 0);
	allow = xb_entry_allow(&inner);
	assert_int_equal(xb_entry_inside(&outer, &inner), xb_entry_inside(&outer, &allow));
	strcpy(found, xb_entry_inside(&outer, &inner) ? "yes" : "no");
	return 0;
}

/* "INNER OUTER" */
static int take_within(const char *text, size_t size, char found[ROWS_ROOM])
{
	struct xb_scope scopes[2];
	char copy[256];
	size_t first = strcspn(text, " ");

	strcpy(copy, text);
	copy[first] = '\0';
	assert_int_equal(xb_scope_parse(copy, &scopes[0]), 0);
	assert_int_equal(xb_scope_parse(copy + first + 1, &scopes[1]), 0);
	strcpy(found, xb_scope_within(&scopes[0], &scopes[1]) ? "yes" : "no");
	return 0;
}

/* ended: a zero byte stands behind the text. */
static const struct {
	const char *name;
	take *take;
	bool ended;
} kinds[] = {
	{"entry", take_entry, false},  {"address", take_address, false},
	{"name", take_name, false},    {"comment", take_comment, false},
	{"bogon", take_bogon, false},  {"idn", take_idn, true},
	{"ports", take_ports, true},   {"scope", take_scope, true},
	{"inside", take_inside, true}, {"within", take_within, true},
	{"rate", take_rate, true},     {"burst", take_burst, true},
	{"per", take_per, true},       {"limit", take_limit, true},
	{"known", take_known, true},   {"unit", take_unit, true},
	{"over", take_over, true},     {"range", take_span, false},
};

/* In memory of its own: the sanitizer sees any byte that is read behind the end. */
static void take_copy(size_t kind, const char *text, size_t size, char found[ROWS_ROOM])
{
	size_t room = size + kinds[kind].ended;
	char *copy = malloc(room + !room), shown[1024];
	int error;

	assert_non_null(copy);
	memcpy(copy, text, room);
	xb_error_clear();
	error = kinds[kind].take(copy, size, found);
	free(copy);
	if (!error) {
		assert_int_equal(xb_error_class(), XB_ERROR_NONE);
		return;
	}
	assert_int_equal(error, -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	xb_utf8_show(xb_error_message(), SIZE_MAX, shown, sizeof(shown));
	assert_string_equal(xb_error_message(), shown); /* safe for a terminal */
	sprintf(found, "! %s", shown);
}

/* Of a refusal, a part of the message is expected. */
static bool is_as_expected(const char *found, const char *expected)
{
	return !strcmp(found, expected) || (*found == '!' && *expected == '!' &&
					    strstr(found, expected + strspn(expected, "! ")));
}

static bool take_text(const char *word, char *text, const char *expected, char found[ROWS_ROOM])
{
	static char bytes[ROWS_ROOM], became[ROWS_ROOM];
	size_t size = (size_t)(rows_bytes(text, bytes, bytes + ROWS_ROOM - 1) - bytes), kind;
	bool known = false;

	for (kind = 0; !known && kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		known = !strcmp(kinds[kind].name, word);
		if (known)
			take_copy(kind, bytes, size, became);
	}
	if (!known)
		fail_msg("%s: no kind of text", word);
	if (is_as_expected(became, expected))
		return true;
	snprintf(found, ROWS_ROOM, "%s '%s': %.*s", word, text, ROWS_ROOM / 2, became);
	return false;
}

/* "KIND[,KIND...] TEXT[ | TEXT...]": the same becomes of each text, as any of these kinds. */
static void find(char *row, const char *expected, char found[ROWS_ROOM])
{
	char *words = strsep(&row, " "), *word, *text, *next;

	strcpy(found, expected);
	for (text = row ?: strchr(words, '\0'); text; text = next) {
		char copy[64];

		next = strstr(text, " | ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		assert_true(strlen(words) < sizeof(copy));
		strcpy(copy, words);
		for (char *rest = copy; (word = strsep(&rest, ","));)
			if (!take_text(word, text, expected, found))
				return;
	}
}

TEST(texts)
{
	rows_check("tests/unit/model/texts.rows", find);
}

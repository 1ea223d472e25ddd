/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/duration.h"

#include <string.h>

typedef unsigned __int128 wide;

#define LONGEST	  ((wide)INT64_MAX)   /* ns, as in Go */
#define PRECISION 1000000000000000ULL /* finer parts of a fraction say nothing */
#define MS	  1000000	      /* ns */

struct cursor {
	const char *at, *end;
};

static bool is_digit(const struct cursor *cursor)
{
	return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

static wide least(wide a, wide b)
{
	return a < b ? a : b;
}

/* The longest unit first where one begins like another. */
static bool take_unit(struct cursor *cursor, uint64_t *nanoseconds)
{
	static const struct {
		const char *name;
		uint64_t nanoseconds;
	} units[] = {
		{"ns", 1},	     {"us", 1000},     {"\xc2\xb5s", 1000}, /* micro sign */
		{"\xce\xbcs", 1000},					    /* Greek letter */
		{"ms", MS},	     {"s", 1000 * MS}, {"m", 60000ULL * MS}, {"h", 3600000ULL * MS},
	};
	size_t left = (size_t)(cursor->end - cursor->at);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t size = strlen(units[i].name);

		if (size > left || memcmp(cursor->at, units[i].name, size) != 0)
			continue;
		cursor->at += size;
		*nanoseconds = units[i].nanoseconds;
		return true;
	}
	return false;
}

/* "12", "12.5", ".5", "12." with a unit. */
static bool take_part(struct cursor *cursor, wide *sum)
{
	wide whole = 0;
	uint64_t part = 0, scale = 1, unit;
	bool any = is_digit(cursor);

	for (; is_digit(cursor); cursor->at++)
		whole = least(whole * 10 + (wide)(*cursor->at - '0'), LONGEST);
	if (cursor->at < cursor->end && *cursor->at == '.') {
		cursor->at++;
		any |= is_digit(cursor);
		for (; is_digit(cursor); cursor->at++)
			if (scale < PRECISION) {
				part = part * 10 + (uint64_t)(*cursor->at - '0');
				scale *= 10;
			}
	}
	if (!any || !take_unit(cursor, &unit))
		return false;
	*sum = least(*sum + whole * unit + (wide)part * unit / scale, LONGEST);
	return true;
}

static int64_t in_milliseconds(wide nanoseconds, bool negative)
{
	wide rounded = (nanoseconds + (negative ? 0 : MS - 1)) / MS;

	return negative ? -(int64_t)rounded : (int64_t)rounded;
}

bool xb_duration_parse(const char *text, size_t size, int64_t *milliseconds)
{
	struct cursor cursor = {text, text + size};
	bool negative = size && *text == '-';
	wide sum = 0;

	if (negative || (size && *text == '+'))
		cursor.at++;
	if (cursor.at == cursor.end)
		return false;
	if (cursor.end - cursor.at == 1 && *cursor.at == '0') {
		*milliseconds = 0;
		return true;
	}
	while (cursor.at < cursor.end)
		if (!take_part(&cursor, &sum))
			return false;
	*milliseconds = in_milliseconds(sum, negative);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/limit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

const char *const xb_limit_units[XB_LIMIT_UNITS + 1] = {"packets", "bytes", "connections",
							"queries"};

const struct xb_limit xb_limit_defaults = {
	.bits4 = 32,
	.bits6 = 64,
	.of = XB_LIMIT_PACKETS,
	.capacity = XB_LIMIT_CAPACITY,
	.timeout = XB_LIMIT_TIMEOUT,
	.longest = XB_LIMIT_TIMEOUT,
	.known = 1,
};

static bool is_name_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '-' || letter == '_' || letter == '.';
}

/* size: bytes that the name has room in. */
static bool is_name(const char *name, size_t size)
{
	size_t length = strnlen(name, size);

	if (!length || length == size || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_name_letter(name[i]))
			return false;
	return true;
}

bool xb_limit_name_is_sound(const char *name)
{
	return is_name(name, XB_LIMIT_NAME);
}

int xb_limit_parse_name(const char *text, char name[XB_LIMIT_NAME])
{
	if (!xb_limit_name_is_sound(text))
		return xb_input_error("'%s' is no name of a limit: up to %d letters, digits, . _ "
				      "-, and a letter or digit first",
				      XB_SHOW(text), XB_LIMIT_NAME - 1);
	memset(name, 0, XB_LIMIT_NAME);
	strcpy(name, text);
	return 0;
}

/* The factor of the letter; 0: it is none. */
static uint64_t factor_of(char letter)
{
	return letter == 'k' ? 1000 : letter == 'M' ? 1000000 : letter == 'G' ? 1000000000 : 0;
}

/* A number with its factor; returns what stands behind it, NULL: it is none. */
static const char *take_number(const char *text, uint64_t *number)
{
	uint64_t factor;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	factor = factor_of(*end);
	if (errno || (factor && *number > UINT64_MAX / factor))
		return NULL;
	if (!factor)
		return end;
	*number *= factor;
	return end + 1;
}

int xb_limit_parse_number(const char *text, const char *what, uint64_t *number)
{
	const char *end = take_number(text, number);

	return end && !*end && *number
		       ? 0
		       : xb_input_error("'%s' is no %s: a number from 1 on, as 200, 20k or 5M",
					XB_SHOW(text), what);
}

int xb_limit_parse_rate(const char *text, uint64_t *rate, uint32_t *period)
{
	const char *end = take_number(text, rate);

	*period = !end		       ? 0
		  : !strcmp(end, "/s") ? 1
		  : !strcmp(end, "/m") ? 60
		  : !strcmp(end, "/h") ? 3600
				       : 0;
	return *period && *rate ? 0
				: xb_input_error("'%s' is no rate: a number a second, a minute or "
						 "an hour, as 100/s, 10/m or 5M/s",
						 XB_SHOW(text));
}

const char *xb_limit_format_rate(const struct xb_limit *limit, char out[XB_LIMIT_RATE_TEXT])
{
	snprintf(out, XB_LIMIT_RATE_TEXT, "%" PRIu64 "/%s", limit->rate,
		 limit->period == 1    ? "s"
		 : limit->period == 60 ? "m"
				       : "h");
	return out;
}

int xb_limit_parse_unit(const char *text, enum xb_limit_unit *of)
{
	for (uint32_t i = 0; i < XB_LIMIT_UNITS; i++) {
		if (strcmp(text, xb_limit_units[i]))
			continue;
		*of = i;
		return 0;
	}
	return xb_input_error("nothing is counted in '%s': packets, bytes, connections or queries",
			      XB_SHOW(text));
}

int xb_limit_parse_over(const char *text, struct xb_limit *limit)
{
	limit->counts = !strcmp(text, "count");
	limit->truncates = !strcmp(text, "truncate");
	return limit->counts || limit->truncates || !strcmp(text, "drop")
		       ? 0
		       : xb_input_error("packets over a limit are dropped or counted, and queries "
					"may be truncated: '%s' is neither drop, count nor "
					"truncate",
					XB_SHOW(text));
}

const char *xb_limit_over(const struct xb_limit *limit)
{
	return limit->counts ? "count" : limit->truncates ? "truncate" : "drop";
}

void xb_limit_over_by_default(struct xb_limit *limit)
{
	limit->counts = false;
	limit->truncates = limit->names;
}

bool xb_limit_over_is_default(const struct xb_limit *limit)
{
	return !limit->counts && limit->truncates == limit->names;
}

int xb_limit_parse_known(const char *text, uint32_t *known)
{
	uint64_t number;
	const char *end = take_number(text, &number);

	if (!strcmp(text, "exempt")) {
		*known = XB_LIMIT_EXEMPT;
		return 0;
	}
	if (!end || strcmp(end, "x") || !number || number > XB_LIMIT_KNOWN_MAX)
		return xb_input_error("known sources may send 1x to %" PRIu64
				      "x as much, as 10x, or are exempt: '%s' is neither",
				      (uint64_t)XB_LIMIT_KNOWN_MAX, XB_SHOW(text));
	*known = (uint32_t)number;
	return 0;
}

const char *xb_limit_format_known(const struct xb_limit *limit, char out[XB_LIMIT_KNOWN_TEXT])
{
	if (limit->known == XB_LIMIT_EXEMPT)
		strcpy(out, "exempt");
	else
		snprintf(out, XB_LIMIT_KNOWN_TEXT, "%" PRIu32 "x", limit->known);
	return out;
}

const char *xb_limit_format_list(const struct xb_limit *limit, char out[XB_LIMIT_LIST_TEXT])
{
	if (!*limit->list)
		strcpy(out, "-");
	else if (limit->longest == limit->timeout)
		snprintf(out, XB_LIMIT_LIST_TEXT, "%s %" PRIu32 " s", limit->list, limit->timeout);
	else
		snprintf(out, XB_LIMIT_LIST_TEXT, "%s %" PRIu32 "..%" PRIu32 " s", limit->list,
			 limit->timeout, limit->longest);
	return out;
}

static int wrong_per(const char *text)
{
	return xb_input_error("'%s' is no part of an address: 32 or 24 bits of IPv4, 64 or 48 of "
			      "IPv6, or one of each, as 24,48; nor is it name",
			      XB_SHOW(text));
}

/* A number of two digits, that ends with the text or at a ','; 0: there is none. */
static uint8_t bits_at(const char *text)
{
	if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]) ||
	    (text[2] && text[2] != ','))
		return 0;
	return (uint8_t)((text[0] - '0') * 10 + (text[1] - '0'));
}

int xb_limit_parse_per(const char *text, struct xb_limit *limit)
{
	uint8_t bits4 = 0, bits6 = 0;
	const char *at = text;

	limit->names = !strcmp(text, "name");
	if (limit->names) {
		limit->bits4 = xb_limit_defaults.bits4;
		limit->bits6 = xb_limit_defaults.bits6;
		return 0;
	}
	for (;; at += 3) {
		uint8_t bits = bits_at(at), *family;

		if (bits != 24 && bits != 32 && bits != 48 && bits != 64)
			return wrong_per(text);
		family = bits <= 32 ? &bits4 : &bits6;
		if (*family)
			return wrong_per(text);
		*family = bits;
		if (!at[2])
			break;
	}
	limit->bits4 = bits4 ? bits4 : limit->bits4;
	limit->bits6 = bits6 ? bits6 : limit->bits6;
	return 0;
}

const char *xb_limit_format_per(const struct xb_limit *limit, char out[XB_LIMIT_PER_TEXT])
{
	if (limit->names)
		strcpy(out, "name");
	else
		snprintf(out, XB_LIMIT_PER_TEXT, "%u,%u", limit->bits4, limit->bits6);
	return out;
}

uint64_t xb_limit_burst_for(enum xb_limit_unit of, uint64_t rate, uint32_t period)
{
	uint64_t least = of == XB_LIMIT_BYTES ? XB_LIMIT_BURST_BYTES : 5;
	uint64_t most = of == XB_LIMIT_BYTES ? XB_LIMIT_BURST_TERA : XB_LIMIT_BURST_MAX;
	uint64_t burst = rate > UINT64_MAX / 2 ? UINT64_MAX : 2 * rate / period;

	return burst < least ? least : burst > most ? most : burst;
}

static int check_rate(const struct xb_limit *limit)
{
	bool bytes = limit->of == XB_LIMIT_BYTES;
	uint64_t most = bytes ? XB_LIMIT_BYTES_MAX : XB_LIMIT_RATE_MAX;

	if (!limit->rate ||
	    limit->rate / limit->period >= most + (limit->rate % limit->period == 0))
		return xb_input_error("a rate is at most %" PRIu64 " %s a second", most,
				      xb_limit_units[limit->of]);
	return 0;
}

static int check_burst(const struct xb_limit *limit)
{
	bool bytes = limit->of == XB_LIMIT_BYTES;
	double lasts = (double)limit->burst / (double)limit->rate * limit->period;

	if (!limit->burst || (!bytes && limit->burst > XB_LIMIT_BURST_MAX))
		return xb_input_error("a burst is 1 to %" PRIu64 " %s",
				      (uint64_t)XB_LIMIT_BURST_MAX, xb_limit_units[limit->of]);
	if (bytes && limit->burst < XB_LIMIT_BURST_BYTES)
		return xb_input_error("a burst is at least %" PRIu64
				      " bytes, since a packet can be as large",
				      (uint64_t)XB_LIMIT_BURST_BYTES);
	if (bytes && limit->burst > XB_LIMIT_BURST_TERA)
		return xb_input_error("a burst is at most %" PRIu64 " bytes",
				      (uint64_t)XB_LIMIT_BURST_TERA);
	if (lasts < XB_LIMIT_BURST_LEAST)
		return xb_input_error("at this rate the burst would last less than 20 ms, which "
				      "is as fine as the filter's clock");
	return lasts <= (double)XB_LIMIT_BURST_LASTS
		       ? 0
		       : xb_input_error("at this rate the burst would last more than a day");
}

/* Only a whole address can prove that nobody forges it, by a handshake. */
static int check_list(const struct xb_limit *limit)
{
	if (!*limit->list)
		return limit->forgeable ? xb_input_error("forgeable sources need a list") : 0;
	if (!limit->timeout || limit->timeout > limit->longest ||
	    limit->longest > XB_LIMIT_TIMEOUT_MAX)
		return xb_input_error("a timeout is 1 second to a year, and the second one is no "
				      "shorter than the first");
	if (limit->forgeable ||
	    (limit->of == XB_LIMIT_CONNECTIONS && limit->bits4 == 32 && limit->bits6 == 64))
		return 0;
	return xb_input_error("only a single source (/32, /64) that is over a limit of "
			      "connections can be shown not to be forged; to list others is to "
			      "accept forgeable ones");
}

/* Who is over a limit of names is no source: each that asks for the name is as likely as any other
 * to be forged, or not to know of the flood. */
static int check_names(const struct xb_limit *limit)
{
	if (limit->names && limit->of != XB_LIMIT_QUERIES)
		return xb_input_error("only queries can be limited for each name");
	if (limit->truncates && limit->of != XB_LIMIT_QUERIES)
		return xb_input_error("only queries can be truncated");
	if (!limit->names)
		return 0;
	if (limit->known != 1 || *limit->list)
		return xb_input_error("a limit for each name is the same for all sources, and "
				      "lists none");
	return 0;
}

int xb_limit_check(const struct xb_limit *limit)
{
	int error = check_rate(limit);

	if (!error)
		error = check_burst(limit);
	if (!error && (!limit->capacity || limit->capacity > XB_LIMIT_CAPACITY_MAX))
		error = xb_input_error("a capacity is 1 to %" PRIu64 " %s",
				       (uint64_t)XB_LIMIT_CAPACITY_MAX,
				       limit->names ? "names" : "sources");
	if (!error)
		error = check_names(limit);
	return error ? error : check_list(limit);
}

int xb_limit_complete(struct xb_limit *limit)
{
	if (!limit->burst)
		limit->burst = xb_limit_burst_for(limit->of, limit->rate, limit->period);
	return xb_limit_check(limit);
}

bool xb_limit_is_sound(const struct xb_limit *limit)
{
	return xb_limit_name_is_sound(limit->name) && limit->of < XB_LIMIT_UNITS &&
	       (limit->period == 1 || limit->period == 60 || limit->period == 3600) &&
	       (limit->bits4 == 24 || limit->bits4 == 32) &&
	       (limit->bits6 == 48 || limit->bits6 == 64) && xb_scope_is_sound(&limit->scope) &&
	       (!*limit->list || is_name(limit->list, XB_LIMIT_LIST)) &&
	       limit->known <= XB_LIMIT_KNOWN_MAX && !(limit->counts && limit->truncates) &&
	       !xb_limit_check(limit);
}

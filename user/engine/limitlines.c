/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/limitlines.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "engine/jsontext.h"
#include "engine/limiting.h"
#include "store/lists.h"

/* From 1 on; without the key it stays. */
static int number_of(const json_t *line, const char *key, uint64_t *number)
{
	const json_t *found = json_object_get(line, key);

	if (!found)
		return 0;
	if (!json_is_integer(found) || json_integer_value(found) < 1)
		return xb_input_error("\"%s\" is out of range", key);
	*number = (uint64_t)json_integer_value(found);
	return 0;
}

/* One of two numbers of bits; without the key it stays. */
static int bits_of(const json_t *line, const char *key, uint8_t less, uint8_t more, uint8_t *bits)
{
	uint64_t number = *bits;
	int error = number_of(line, key, &number);

	if (!error && number != less && number != more)
		error = xb_input_error("\"%s\" is %u or %u", key, more, less);
	*bits = (uint8_t)number;
	return error;
}

static int words_of(const json_t *line, struct xb_limit *limit)
{
	const char *name, *to, *rate, *of, *known;

	if (xb_json_text(line, "limit", &name) || xb_json_text(line, "to", &to) ||
	    xb_json_text(line, "rate", &rate) || xb_json_text(line, "of", &of) ||
	    xb_json_text(line, "known", &known))
		return -EINVAL;
	if (!to || !rate)
		return xb_input_error("a limit needs \"to\" and \"rate\"");
	return xb_limit_parse_name(name, limit->name) || xb_scope_parse(to, &limit->scope) ||
			       xb_limit_parse_rate(rate, &limit->rate, &limit->period) ||
			       (of && xb_limit_parse_unit(of, &limit->of)) ||
			       (known && xb_limit_parse_known(known, &limit->known))
		       ? -EINVAL
		       : 0;
}

/* Of what the limit is, if it is none of sources, and what becomes of packets over it. */
static int names_of(const json_t *line, struct xb_limit *limit)
{
	const char *per, *over;

	if (xb_json_text(line, "per", &per) || xb_json_text(line, "over", &over))
		return -EINVAL;
	if (per && strcmp(per, "name") != 0)
		return xb_input_error("\"per\" is \"name\", if it is there");
	limit->names = per;
	xb_limit_over_by_default(limit);
	return over ? xb_limit_parse_over(over, limit) : 0;
}

static int seconds_of(const json_t *line, const char *key, uint32_t *seconds)
{
	uint64_t number = *seconds;
	int error = number_of(line, key, &number);

	if (!error && number > XB_LIMIT_TIMEOUT_MAX)
		error = xb_input_error("\"%s\" is out of range", key);
	*seconds = (uint32_t)number;
	return error;
}

/* The list of sources over the limit, and how long they stay there. */
static int list_of(const json_t *line, struct xb_limit *limit)
{
	const json_t *forgeable = json_object_get(line, "forgeable");
	const char *list = NULL;
	int error = xb_json_text(line, "list", &list);

	if (!error && !list &&
	    (json_object_get(line, "timeout") || json_object_get(line, "longest")))
		error = xb_input_error("\"timeout\" and \"longest\" need \"list\"");
	if (!error && list && (!xb_list_name_ok(list) || !strcmp(list, XB_LIST_ALLOW)))
		error = xb_input_error("\"list\" is no name of a list to fill");
	if (!error && list)
		strcpy(limit->list, list);
	if (!error)
		error = seconds_of(line, "timeout", &limit->timeout);
	if (limit->longest < limit->timeout)
		limit->longest = limit->timeout;
	if (!error)
		error = seconds_of(line, "longest", &limit->longest);
	if (!error && forgeable && !json_is_boolean(forgeable))
		error = xb_input_error("\"forgeable\" is true or false");
	limit->forgeable = json_is_true(forgeable);
	return error;
}

int xb_limit_line(struct xb_limits_wanted *limits, const json_t *line)
{
	struct xb_limit limit = xb_limit_defaults;
	int error = words_of(line, &limit);

	if (!error)
		error = number_of(line, "burst", &limit.burst);
	if (!error)
		error = number_of(line, "capacity", &limit.capacity);
	if (!error)
		error = bits_of(line, "per4", 24, 32, &limit.bits4);
	if (!error)
		error = bits_of(line, "per6", 48, 64, &limit.bits6);
	if (!error)
		error = names_of(line, &limit);
	if (!error)
		error = list_of(line, &limit);
	if (!error)
		error = xb_limit_complete(&limit);
	if (!error)
		error = xb_limit_need_suffixes(&limit);
	if (error)
		return error;
	if (xb_limits_find(limits, limit.name))
		return xb_input_error("a second limit %s", limit.name);
	return xb_limits_place(limits, &limit) ? 0 : xb_limits_full();
}

static int remove_others(struct xb_txn *txn, const struct xb_limits_wanted *limits)
{
	struct xb_limits_wanted former;
	int error = xb_limits_get(txn, &former);

	for (uint32_t number = 1; !error && number < XB_LIMITS; number++) {
		const char *name = former.limit[number].name;
		bool found;

		if (*name && !xb_limits_find(limits, name))
			error = xb_limits_remove(txn, name, &found);
	}
	return error;
}

int xb_limit_lines_end(struct xb_txn *txn, const struct xb_limits_wanted *limits)
{
	int error = remove_others(txn, limits);

	for (uint32_t number = 1; !error && number < XB_LIMITS; number++)
		if (*limits->limit[number].name)
			error = xb_limits_put(txn, &limits->limit[number]);
	return error;
}

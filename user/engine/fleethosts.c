/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/fleethosts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

const json_t *xb_fleet_own_report(const json_t *state)
{
	const json_t *hosts = json_object_get(state, "hosts");

	for (size_t i = 0; i < json_array_size(hosts); i++)
		if (is_same(json_array_get(hosts, i), state, "host"))
			return json_array_get(hosts, i);
	return NULL;
}

/* What waits to be published is in the digest of one alone. */
static bool can_be_compared(const json_t *a, const json_t *b)
{
	return is_same(a, b, "epoch") && is_same(a, b, "position") && is_same(a, b, "at") &&
	       !json_integer_value(json_object_get(a, "outbox")) &&
	       !json_integer_value(json_object_get(b, "outbox"));
}

static bool differs(const json_t *a, const json_t *b)
{
	json_t *mine = json_object_get(a, "digests"), *digest;
	const json_t *theirs = json_object_get(b, "digests");
	const char *list;

	if (!can_be_compared(a, b))
		return false;
	json_object_foreach(mine, list, digest)
	{
		const json_t *other = json_object_get(theirs, list);

		if (other && !json_equal(digest, other))
			return true;
	}
	return false;
}

unsigned int xb_fleet_judge(const json_t *state, const json_t *own, const json_t *host)
{
	bool silent = number_of(state, "reports_read") - number_of(host, "seen") > XB_FLEET_SILENT;
	bool skewed = fabs(number_of(host, "skew")) > XB_FLEET_SKEW;
	const json_t *former = json_object_get(state, "former");
	bool differing = (own && differs(own, host)) || (former && differs(former, host));

	return (differing ? XB_HOST_DIFFERS : 0U) | (silent ? XB_HOST_SILENT : 0U) |
	       (skewed ? XB_HOST_SKEWED : 0U);
}

long long xb_fleet_behind(const json_t *state, const json_t *host)
{
	long long end = json_integer_value(json_object_get(state, "log_end"));
	long long position = json_integer_value(json_object_get(host, "position"));

	return is_same(state, host, "epoch") && position < end ? end - position : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings as JSON: ports up to the first 0, and kinds of lifelines by name. */
#include <stdlib.h>
#include <string.h>

#include "engine/settingsjson.h"
#include "machine/lifelines.h"
#include "support/cmocka.h"

static void is_json(json_t *value, const char *expected)
{
	char *text = json_dumps(value, JSON_COMPACT);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	/* The caller owns it alone. */
	assert_int_equal(value->refcount, 1);
	json_decref(value);
}

TEST(ports)
{
	static const uint16_t none[XB_NAME_PORTS] = {0}, one[XB_NAME_PORTS] = {53},
			      all[XB_NAME_PORTS] = {1, 2, 65534, 65535},
			      gap[XB_NAME_PORTS] = {53, 0, 443};

	is_json(xb_ports_json(none), "[]");
	is_json(xb_ports_json(one), "[53]");
	is_json(xb_ports_json(all), "[1,2,65534,65535]");
	is_json(xb_ports_json(gap), "[53]");
}

TEST(ports_of_all_protocols)
{
	const struct xb_name_ports some = {.dns = {53}, .tls = {443, 853, 8443, 9443}};

	is_json(xb_all_ports_json(some), "{\"dns\":[53],\"tls\":[443,853,8443,9443],\"http\":[]}");
	is_json(xb_all_ports_json((struct xb_name_ports){0}),
		"{\"dns\":[],\"tls\":[],\"http\":[]}");
}

TEST(kinds)
{
	json_t *all = xb_kinds_json(XB_LIFELINE_ALL);

	is_json(xb_kinds_json(0), "[]");
	is_json(xb_kinds_json(1U << XB_LIFELINE_SSH), "[\"ssh\"]");
	assert_int_equal(json_array_size(all), XB_LIFELINE_KINDS);
	for (size_t i = 0; i < XB_LIFELINE_KINDS; i++) {
		enum xb_lifeline_kind kind;

		assert_int_equal(
			xb_lifeline_parse(json_string_value(json_array_get(all, i)), &kind), 0);
		assert_int_equal(kind, i);
	}
	json_decref(all);
	/* Kinds of a later version have no name here. */
	is_json(xb_kinds_json(~XB_LIFELINE_ALL), "[]");
	all = xb_kinds_json(UINT32_MAX);
	assert_int_equal(json_array_size(all), XB_LIFELINE_KINDS);
	json_decref(all);
}

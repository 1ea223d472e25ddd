/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/jsontext.h"

#include "base/error.h"

int xb_json_text(const json_t *object, const char *key, const char **text)
{
	const json_t *found = json_object_get(object, key);

	*text = json_string_value(found);
	return found && !*text ? xb_input_error("\"%s\" is not a string", key) : 0;
}

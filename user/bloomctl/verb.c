/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb.h"

#include <string.h>

const struct verb *verb_find(const struct verb *table, const char *name)
{
	for (const struct verb *verb = table; verb->name; verb++)
		if (!strcmp(verb->name, name))
			return verb;
	return NULL;
}

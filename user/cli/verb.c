/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/verb.h"

#include <string.h>

const struct verb *verb_find(const struct verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (!strcmp((*verbs)->name, name))
			return *verbs;
	return NULL;
}

const struct verb *verb_named(const struct verb *verb, int argc, char **argv)
{
	const struct verb *below = verb->below && argc > 1 ? verb_find(verb->below, argv[1]) : NULL;

	return below ? below : verb;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats with named sets: of a file only one set is read, the one that was chosen or the only one.
 */
#include "lists/format.h"

#include <stdio.h>

#include "base/program.h"
#include "lists/line.h"

#define SETS_TOLD 8 /* names of sets that a message has, if the chosen one is none of them */

struct xb_list_sets {
	char *names[SETS_TOLD]; /* in the order of the file */
	size_t count;
	bool found; /* the chosen one */
};

void xb_listsets_end(struct xb_reading *reading)
{
	struct xb_list_sets *sets = reading->sets;

	for (size_t i = 0; sets && i < sets->count; i++)
		free(sets->names[i]);
	free(sets);
	reading->sets = NULL;
}

static int note_set(struct xb_list_sets *sets, const char *name)
{
	for (size_t i = sets->count; i > 0; i--)
		if (!strcmp(sets->names[i - 1], name))
			return 0;
	if (sets->count == SETS_TOLD)
		return 0;
	sets->names[sets->count] = strdup(name);
	return sets->names[sets->count++] ? 0 : xb_out_of_memory();
}

static const char *chosen_set(const struct xb_reading *reading)
{
	return reading->choice ? reading->choice->set : NULL;
}

int xb_sets_take(struct xb_reading *reading, const char *name, bool *counts)
{
	const char *chosen = chosen_set(reading);
	int error;

	if (!reading->sets)
		reading->sets = calloc(1, sizeof(*reading->sets));
	if (!reading->sets)
		return xb_out_of_memory();
	error = note_set(reading->sets, name);
	if (error)
		return error;
	*counts = !strcmp(chosen ?: reading->sets->names[0], name);
	reading->sets->found |= *counts;
	if (chosen || *counts)
		return 0;
	reading->hopeless = true;
	return xb_input_error("a second %s, '%s' after '%s': one of them may hold sources that "
			      "pass; choose one%s",
			      reading->format->sets, XB_SHOW(name),
			      XB_SHOW(reading->sets->names[0]), xb_advice(XB_ADVICE_SET));
}

int xb_sets_check(const struct xb_reading *reading)
{
	const struct xb_list_sets *sets = reading->sets;
	const char *chosen = chosen_set(reading);
	char names[SETS_TOLD * (XB_SHOWN + sizeof(", '',"))];
	size_t used = 0;

	if (!chosen || !reading->format || (sets && sets->found))
		return 0;
	if (!reading->format->sets)
		return xb_input_error("the format %s has no sets to choose", reading->format->name);
	*names = '\0';
	for (size_t i = 0; sets && i < sets->count; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'",
					 i ? ", " : "; it has ", XB_SHOW(sets->names[i]));
	return xb_input_error("no %s '%s' in the file%s%s", reading->format->sets, XB_SHOW(chosen),
			      names, sets && sets->count == SETS_TOLD ? ", ..." : "");
}

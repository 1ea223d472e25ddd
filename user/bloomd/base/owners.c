/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const struct owner *owner_of(const struct config *config, const char *list)
{
	const struct owner *owner = config->owners;

	while (owner && strcmp(owner->list, list) != 0)
		owner = owner->next;
	return owner;
}

bool owner_is(const struct config *config, const char *list, const char *name)
{
	const struct owner *owner = owner_of(config, list);

	return owner && !strcmp(owner->name, name);
}

int owners_add(struct config *config, const char *section, const char *name, const char *list)
{
	const struct owner *other = owner_of(config, list);
	struct owner *owner;

	if (other)
		return xb_input_error("%s and %s fill the same list, %s: each would take out what "
				      "the other lists",
				      other->section, section, list);
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return xb_out_of_memory();
	*owner = (struct owner){.next = config->owners, .list = list, .name = name};
	snprintf(owner->section, sizeof(owner->section), "%s", section);
	config->owners = owner;
	return 0;
}

void owners_free(struct owner *owners)
{
	while (owners) {
		struct owner *next = owners->next;

		free(owners);
		owners = next;
	}
}

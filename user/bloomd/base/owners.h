/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who fills each list, as the configuration says: one section at most. */
#ifndef XB_BLOOMD_OWNERS_H
#define XB_BLOOMD_OWNERS_H

#include <stdbool.h>

#include "bloomd/base/config.h"

struct owner {
	struct owner *next;
	const char *list;
	const char *name;  /* of the feed, or CONFIG_CROWDSEC; texts are the configuration's */
	char section[128]; /* "[feed NAME]" */
};

/* The section of this name fills the list. An input error: another one does. */
int owners_add(struct config *config, const char *section, const char *name, const char *list);
void owners_free(struct owner *owners);

/* NULL: no section fills it. */
const struct owner *owner_of(const struct config *config, const char *list);

/* Whether the section of this name does. */
bool owner_is(const struct config *config, const char *list, const char *name);

#endif

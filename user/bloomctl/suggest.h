/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody meant who typed a word that is none. */
#ifndef XB_CLI_SUGGEST_H
#define XB_CLI_SUGGEST_H

#include "bloomctl/verb.h"

#define SUGGEST_BYTES 64

/* " (did you mean 'add'?)" in out, or "" if no name of the list is near; returns out. */
const char *suggest_verb(const struct verb *const *verbs, const char *word,
			 char out[SUGGEST_BYTES]);

/* The same of the options in a table, which may be NULL; what is behind "=" does not count. */
const char *suggest_option(const struct option_spec *table, const char *word,
			   char out[SUGGEST_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the word that somebody probably meant who typed an unknown one. */
#ifndef XB_CLI_SUGGEST_H
#define XB_CLI_SUGGEST_H

#include "cli/verb.h"

#define SUGGEST_BYTES 64

/* " (did you mean 'add'?)" in out, or "" if no name of the list is near; returns out. */
const char *suggest_verb(const struct verb *const *verbs, const char *word,
			 char out[SUGGEST_BYTES]);

/* The same of the options in a table, which may be NULL; what is behind "=" does not count. */
const char *suggest_option(const struct option_spec *table, const char *word,
			   char out[SUGGEST_BYTES]);

#endif

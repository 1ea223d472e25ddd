/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody meant who typed a word that is none. */
#ifndef XB_CLI_SUGGEST_H
#define XB_CLI_SUGGEST_H

#include "verb.h"

#define SUGGEST_BYTES 64

/* " (did you mean 'add'?)" in out, or "" if no name of the table is near; returns out. */
const char *suggest_verb(const struct verb *table, const char *word, char out[SUGGEST_BYTES]);

/* The same of the options in a usage line; what is behind "=" does not count. */
const char *suggest_option(const char *usage, const char *word, char out[SUGGEST_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options as tables: getopt_long reads them, and whoever tells people about them. */
#ifndef XB_CLI_OPTIONS_H
#define XB_CLI_OPTIONS_H

#include <stdbool.h>

#define OPTIONS_MAX 32

/* What completion has to offer for a word. */
enum offer {
	OFFER_WORDS, /* the words of its name that are in small letters: on and off of "on|off" */
	OFFER_FILES,
	OFFER_DIRECTORIES,
	OFFER_INTERFACES,
	OFFER_ATTACHED, /* interfaces that exist or are wanted */
	OFFER_LISTS,
	OFFER_LISTS_TO_FILL, /* all but the allowlist's own */
	OFFER_FEEDS,
	OFFER_LIMITS,
	OFFER_COMMANDS,
	OFFER_KINDS, /* of what is allowed automatically */
	OFFER_VERDICTS,
	OFFER_FORMATS, /* of files to import */
	OFFER_RATES,
	OFFERS,
};

/* One of a table, which ends with a NULL name. */
struct option_spec {
	const char *name;  /* without "--" */
	const char *value; /* its name in the usage line; NULL: the option takes none */
	int id;		   /* what option_next() returns; 0: never, it is taken before */
	const char *help;  /* what it is for, on one line */
	enum offer offers; /* for the value; nothing said: the words of its name */
	char letter;	   /* 'j' of "-j", and its id; 0: it has none */
	bool needed;
	bool instead; /* of the option before it, or of the operands */
	bool repeats; /* it may be given several times, and each adds something */
};

#define OPTION_CLASHES '!'

/* As getopt_long(), but a name is taken only if it is whole: the id of the next, '?' and ':' as
 * `letters` say; OPTION_CLASHES if it contradicts one that was given before, see option_give().
 * With optind 0 it begins anew. A table may be NULL. */
int option_next(const struct option_spec *table, const char *letters, int argc, char **argv);

/* After '?': the word of argv that option_next() did not take. */
const char *option_wrong(char **argv);

/* Notes that the option of this whole name was given with this value; NULL: it takes none. Both
 * must outlive the parsing. Returns false if it contradicts one of the table that was given before:
 * itself with another value, or the one that it stands for instead. option_clash() says that in
 * words. */
bool option_give(const struct option_spec *table, const char *name, const char *value);
const char *option_clash(void);

/* Forgets what was given of the table. */
void option_forget(const struct option_spec *table);

/* The letters of the table behind `how`, the beginning of what getopt_long() takes. A table may be
 * NULL. Returns out. */
#define OPTION_LETTERS (2 * OPTIONS_MAX + 8)
const char *option_letters(const struct option_spec *table, const char *how,
			   char out[OPTION_LETTERS]);

/* Whether the word is an option of the table whose value is the next word. */
bool option_takes_next(const struct option_spec *table, const char *word);

/* Whether the word gives a value to an option of the table that takes none. */
bool option_is_valued(const struct option_spec *table, const char *word);

/* By its whole name. */
bool option_known(const struct option_spec *table, const char *name);

#endif

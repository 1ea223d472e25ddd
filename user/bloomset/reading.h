/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How lists are read, as the options of all verbs say it. */
#ifndef XB_BLOOMSET_READING_H
#define XB_BLOOMSET_READING_H

#include "bloomset/source.h"
#include "cli/cli.h"

/* Ids in capitals, since verbs have others. format: the name of the option. */
#define READING_OPTIONS(format)                                                                    \
	{format, "FORMAT", 'F',                                                                    \
	 .help = "the format of all lists; without it, the first line of each decides"},           \
		{"zone", "DOMAIN", 'Z',                                                            \
		 .help = "the domain of the zone, if a file of records (rpz) does not name it"},   \
		{"column", "COLUMN", 'C',                                                          \
		 .help = "the column with the addresses, by its number or name"},                  \
		{"where", "COLUMN=VALUE,...", 'W', .help = "take only lines with these values"},   \
		{"json-path", "PATH", 'J',                                                         \
		 .help = "where JSON has the addresses, such as prefixes[].ip_prefix"},            \
		{"set", "NAME", 'N', .help = "the set to read, of files with several"},            \
		{"country", "CODE,...", 'O',                                                       \
		 .help = "take only networks in these countries, such as DE,AT"},                  \
		{"not-country", "CODE,...", 'X', .help = "take only networks in other countries"}, \
		{"continent", "CODE,...", 'T',                                                     \
		 .help = "take only networks on these continents, such as EU"},                    \
		{"asn", "NUMBER,...", 'A', .help = "take only networks of these AS"},              \
		{"mmdb-path", "PATH=VALUE,...", 'P',                                               \
		 .help = "take only networks of which an MMDB database says this"},                \
	{                                                                                          \
		"skip-bad", "NUMBER", 'B', .help = "leave out up to NUMBER wrong lines of a file"  \
	}

#define READING_LINES_OPTION                                                                       \
	{                                                                                          \
		"lines", NULL, 'L', .help = "take lines as they are, not as entries"               \
	}

/* What an option of these says; false: it is none of them, or a usage error. */
bool reading_option(const struct cli *cli, struct input_terms *terms, int option);

/* Whether they go together; otherwise a usage error. */
bool reading_is_sensible(const struct cli *cli, const struct input_terms *terms);

/* Whether any says how entries are read, which lines have none of. */
bool reading_is_of_entries(const struct input_terms *terms);

#endif

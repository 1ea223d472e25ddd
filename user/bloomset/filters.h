/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verbs of filters share: opening them, taking elements to them, and telling of them. */
#ifndef XB_BLOOMSET_FILTERS_H
#define XB_BLOOMSET_FILTERS_H

#include "bloom/filterbits.h"
#include "bloomset/elements.h"
#include "bloomset/reading.h"
#include "cli/cli.h"

/* Of a filter that is there, and mostly says itself what its elements are. */
#define FILTERS_THERE_OPTIONS                                                                      \
	{"entries", NULL, 'E',                                                                     \
	 .help = "in Guava's format, which does not say it: it has entries"},                      \
		FILTERS_FUNNEL_OPTION, READING_OPTIONS("list-format")

#define FILTERS_FUNNEL_OPTION                                                                      \
	{                                                                                          \
		"funnel", "strings|chars|integers|longs|bytes", 'U',                               \
			.help = "what elements are made of a line, as Guava's funnel of this name" \
	}

/* Reads the word; a usage error otherwise (returns false). */
bool filters_funnel(const struct cli *cli, const char *word, enum xb_funnel *funnel);
bool filters_rate(const struct cli *cli, const char *option, const char *word, double *rate);

/* "standard", "Guava's MURMUR128_MITZ_64" and so on. */
const char *filters_kind_name(enum xb_filter_kind kind);
const char *filters_funnel_name(enum xb_funnel funnel);

/* What an option of FILTERS_THERE_OPTIONS says; false: it is none of them, or a usage error. */
struct filters_there {
	bool entries;
	enum xb_funnel funnel;
	struct input_terms terms;
};
bool filters_there(const struct cli *cli, struct filters_there *there, int option);

/* Of a filter that was just opened: its elements are as its format, or the option, says. An input
 * error if it has lines, and options say how entries are read. */
int filters_settle(struct xb_filter *filter, struct filters_there *there);

/* Lists for a filter are read as its form says; the same error. */
int filters_form(const struct xb_filter *filter, struct input_terms *terms);

/* As xb_filter_read(), where "-" is standard input. */
int filters_open(const char *path, enum xb_filter_access access, enum xb_funnel funnel,
		 struct xb_filter **filter);

/*
 * For who writes the file again: waits until no other command changes it, reads it, and keeps the
 * lock until filters_unlock(). A lock belongs to a file, and each change makes another one; so it
 * is taken on the one that has the name.
 */
int filters_open_locked(const char *path, enum xb_funnel funnel, struct xb_filter **filter,
			int *lock);
void filters_unlock(int lock);

/* The same lock alone, of a file that will be written without having been read; there may be none.
 */
int filters_lock(const char *path, int *lock);

/* As xb_filter_write(), where "-" is standard output: there, OUTPUT_UNREAD means that nobody reads
 * any more. */
int filters_write(const struct xb_filter *filter, const char *path);

/* The same under the lock: an add that reads the former file is not the last one to write. */
int filters_replace(const struct xb_filter *filter, const char *path);

/* The exit code for an error. */
int filters_failed(int error);

/* Takes texts to a filter, with a few on their way from memory meanwhile. */
#define FILTERS_AHEAD 16

struct filling {
	struct xb_filter *filter;
	struct xb_filter_hash ahead[FILTERS_AHEAD];
	unsigned int waiting;
	unsigned long long put, new;
	uint8_t *element;
	size_t room;
};

/* An element_taker for a struct filling. */
int filling_take(void *filling, const char *text, size_t size);

/* Puts in what waits, and frees. */
int filling_end(struct filling *filling);

/* The hash of the element that the text is. element, room: kept between calls, to be freed. */
int filters_hash(const struct xb_filter_info *info, const char *text, size_t size,
		 uint8_t **element, size_t *room, struct xb_filter_hash *hash);

/* A warning if more is in the filter than it was made for. */
void filters_warn_if_full(const struct xb_filter *filter);

#endif

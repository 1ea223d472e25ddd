/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List files as people publish them, read into memory: what `bloomctl import` takes. */
#ifndef XB_CORE_LISTFILE_H
#define XB_CORE_LISTFILE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "entry.h"

/* One entry and what its line says of it. */
struct xb_item {
	struct xb_entry entry; /* first, for xb_entry_sort */
	uint32_t timeout;      /* seconds, 0: none */
	uint32_t comment : 31; /* offset in comments, 0: none */
	uint32_t doubtful : 1; /* to be left out unless the end of the file settles it */
};
_Static_assert(sizeof(struct xb_item) == 32, "millions of them are in memory");

/* A line that was not understood. */
struct xb_unknown_line {
	uint64_t line;	  /* its number */
	const char *text; /* its beginning in quotes, or what is wrong; safe for a terminal */
};

#define XB_UNKNOWN_TEXT 200 /* bytes, terminator included */
#define XB_UNKNOWN_KEPT 5   /* where there is room for the first few only */

struct xb_listfile {
	struct xb_item *items; /* in store order, each entry once */
	size_t count, room;
	uint64_t allowed; /* of the items: for the allowlist */
	char *comments;	  /* NUL-terminated strings; offset 0 is the empty one */
	size_t comment_bytes, comment_room;
	struct xb_arena names;	       /* of the items' entries, and the texts of unknown lines */
	uint64_t lines, bytes;	       /* read */
	uint64_t repeats;	       /* items dropped since another line says the same */
	uint64_t host_bits;	       /* prefixes whose host bits were cut off */
	uint64_t first_host_bits_line; /* 0: none */
	char first_host_bits[XB_ENTRY_TEXT];
	struct xb_unknown_line *first_unknown; /* of all that were left out, by number */
	size_t unknown, unknown_room;
	const char *format; /* name of the format it was read as */
};

/*
 * Reads the whole file ("-": standard input). format: one of xb_listfile_formats(), NULL: told by
 * the first line that is neither blank nor a comment. All or nothing: after an error `file` is
 * empty; -ENODATA: all lines are right, but there is no entry. A comment that xb_comment_check
 * refuses is left out. The caller frees the file.
 *
 * In a list of addresses a wrong line is an error. Lists of domains hold rules that are more than
 * names, for other programs: such lines are counted as unknown and left out. A file of which no
 * line is understood is an error.
 */
int xb_listfile_read(const char *path, const char *format, struct xb_listfile *file);

/* What else there is to say of a file; NULL: nothing. */
struct xb_listfile_terms {
	const char *name;   /* for messages, instead of the path */
	const char *format; /* as above */
	const char *end;    /* the last line that is not blank must be this, blanks around it aside:
			       of a file that was cut off in transfer it is another */
};

/* The same. fd: what is open already and stays so, instead of the path; -1: nothing. */
int xb_listfile_read_as(int fd, const char *path, const struct xb_listfile_terms *terms,
			struct xb_listfile *file);

/* "" if there is none; owned by the file. */
const char *xb_listfile_comment(const struct xb_listfile *file, const struct xb_item *item);

void xb_listfile_free(struct xb_listfile *file);

/* The names of the formats, for messages: "plain, ...". */
const char *xb_listfile_formats(void);

#endif

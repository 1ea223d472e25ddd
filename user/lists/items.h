/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a list file says, line by line, in memory. */
#ifndef XB_LISTS_ITEMS_H
#define XB_LISTS_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/entry.h"

/* One entry and what its line says of it. */
struct xb_item {
	struct xb_entry entry; /* first, for xb_entry_sort */
	union {
		uint32_t timeout; /* seconds, 0: none */
		uint32_t says;	  /* of a name while its file is read: user/lists/judge.h */
	};
	uint32_t comment : 30; /* offset in comments, 0: none */
	uint32_t doubtful : 1; /* to be left out unless the end of the file settles it */
	uint32_t meant : 1;    /* however wide: the file says "all below" of a top-level domain */
};
_Static_assert(sizeof(struct xb_item) == 32, "millions of them are in memory");

/* A line that was left out, or something to be told. */
struct xb_unknown_line {
	uint64_t line;	  /* its number; of a note 0 if it is about the whole file */
	const char *text; /* its beginning in quotes, or what is wrong; safe for a terminal */
};

#define XB_UNKNOWN_TEXT 200 /* bytes, terminator included */
#define XB_UNKNOWN_KEPT 5   /* where there is room for the first few only */
#define XB_NOTES_KEPT	16

/* For a list that is in memory as a whole: whether so many bytes may be. */
struct xb_list_bound {
	bool (*may_hold)(void *to, uint64_t bytes);
	void *to;
	uint64_t text, values; /* bytes that are held beside the list */
};

struct xb_listfile {
	struct xb_item *items; /* in store order, each entry once */
	/* If the file has IPv4 addresses alone and nothing beside them, a caller that asked for it
	 * gets these instead of items: the upper half of each is the address, in host byte order,
	 * the lower its line. */
	uint64_t *bare;
	size_t count, room;  /* of items or bare */
	uint64_t allowed;    /* of the items: for the allowlist */
	uint64_t exceptions; /* of the items: names that the list lets pass */
	const char *comment; /* of items that have none of their own; NULL: none; the caller's */
	char *comments;	     /* NUL-terminated strings; offset 0 is the empty one */
	size_t comment_bytes, comment_room;
	struct xb_arena names;	       /* of the items' entries, and the texts of unknown lines */
	uint64_t lines, bytes;	       /* read */
	uint64_t repeats;	       /* items dropped since another line says the same */
	uint64_t host_bits;	       /* prefixes whose host bits were cut off */
	uint64_t first_host_bits_line; /* 0: none */
	char first_host_bits[XB_ENTRY_TEXT];
	struct xb_unknown_line *first_unknown; /* of all that were left out, by number */
	size_t unknown, unknown_room;
	size_t set_aside; /* of the unknown: understood, and meant for somebody else than a list */
	/* What else there is to tell, each text once: of the entries that were taken. */
	struct xb_unknown_line notes[XB_NOTES_KEPT + 1]; /* the last tells of more */
	size_t noted;
	uint64_t more_notes;	     /* that are not kept */
	const char *format;	     /* name of the format it was read as */
	uint64_t text_bytes;	     /* read, unpacked */
	uint64_t handed;	     /* items that were given away in parts */
	bool forgets;		     /* of the unknown lines, all but the first XB_UNKNOWN_KEPT */
	struct xb_list_bound *bound; /* NULL: none */
};

/* Whether file->bare can hold it. */
static inline bool xb_item_is_bare(const struct xb_item *item)
{
	return item->entry.kind == XB_HOST4 && item->entry.length == 32 && !item->timeout &&
	       !item->comment && !item->doubtful && !item->meant;
}

/* The item of that number, below file->count. */
static inline struct xb_item xb_listfile_at(const struct xb_listfile *file, size_t number)
{
	uint64_t one;

	if (!file->bare)
		return file->items[number];
	one = file->bare[number];
	return (struct xb_item){.entry = {.hi = one >> 32 << 32,
					  .kind = XB_HOST4,
					  .length = 32,
					  .line = (uint32_t)one}};
}

/* Puts the item number `from` in the place of the one number `to`. */
static inline void xb_listfile_move(struct xb_listfile *file, size_t to, size_t from)
{
	if (file->bare)
		file->bare[to] = file->bare[from];
	else
		file->items[to] = file->items[from];
}

/* Makes items of bare addresses. Returns 0, or -EIO with a message, and nothing has changed. */
int xb_listfile_widen(struct xb_listfile *file);

/* Its own, else that of all; "" if there is none; owned by the file. */
const char *xb_listfile_comment(const struct xb_listfile *file, const struct xb_item *item);

/* The first `most` of the lines: "NUMBER: TEXT, NUMBER: TEXT, ...", without the number where it is
 * 0; as much as there is room for. */
void xb_unknown_lines_show(const struct xb_unknown_line *lines, size_t count, size_t most,
			   char *out, size_t size);

/* Whether it may have so many bytes more; otherwise an input error. */
int xb_listfile_may_grow(const struct xb_listfile *file, uint64_t bytes);

void xb_listfile_free(struct xb_listfile *file);

#endif

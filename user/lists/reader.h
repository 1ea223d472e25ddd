/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List files as people publish them, read into memory: what `bloomctl import` takes. */
#ifndef XB_LISTS_READER_H
#define XB_LISTS_READER_H

#include "base/siphash.h"
#include "lists/items.h"
#include "model/listchoice.h"

/*
 * Reads the whole file ("-": standard input). format: one of lists/table.h, NULL: told by
 * the first line that is neither blank nor a comment. All or nothing: after an error `file` is
 * empty; -ENODATA: all lines are right, but there is no entry. A comment that xb_comment_check
 * refuses is left out. The caller frees the file.
 *
 * A file packed by gzip or zstd is unpacked, and UTF-16 with a mark of byte order is understood.
 *
 * In a list of addresses a wrong line is an error, unless the choice lets some be left out: those
 * are counted as unknown. Lists of domains hold rules that are more than names, for other programs:
 * such lines are counted as unknown and left out. A file of which no line is understood is an
 * error.
 */
int xb_listfile_read(const char *path, const char *format, struct xb_listfile *file);

/* Further terms for a file; a term that is NULL does not apply. */
struct xb_listfile_terms {
	const char *zone; /* of a file of records, which may not name it: the domain below which its
			     names lie */
	const char *name; /* for messages, instead of the path */
	const char *format;	      /* as above */
	struct xb_list_choice choice; /* how to read it beside the format */
	uint64_t most;	 /* bytes that may come out of a packed file; 0: XB_UNPACK_MOST */
	const char *end; /* the last line that is not blank must be this one, apart from blanks
			    around it: if the file was cut off in transfer, it is another */
	/* Takes the items in parts, in the order of the file if its lines mean something each by
	 * itself, as they are read; repeats are among them. The file has none afterwards. Returns
	 * 0, or what ends the reading. NULL: the file keeps them. */
	int (*take)(void *to, const struct xb_listfile *file);
	void *to;
	struct xb_list_bound *bound; /* with take: of what is held, if the file means something
					only as a whole; NULL: none */
	bool may_be_empty;	     /* a file without entries is read all the same: no -ENODATA */
	bool allows;	    /* what the file excepts is for the allowlist, not for its list alone */
	bool bare;	    /* without take: IPv4 addresses may come as file->bare */
	uint64_t unpacking; /* bytes of memory that unpacking may take; 0: as xb_unpack_bound() says
			     */
	uint64_t until;	    /* unpacked bytes that count: those behind came later; 0: all */
	struct xb_siphash *hash; /* takes the unpacked bytes as they are read; NULL: none */
};

/* Does the same with further terms. fd: a descriptor to read instead of the path, which stays open;
 * -1: none. */
int xb_listfile_read_as(int fd, const char *path, const struct xb_listfile_terms *terms,
			struct xb_listfile *file);

/* Only gives terms->hash the bytes that xb_listfile_read_as() would. Returns 0, or an error with
 * its message. */
int xb_listfile_hash(int fd, const char *path, const struct xb_listfile_terms *terms);

#endif

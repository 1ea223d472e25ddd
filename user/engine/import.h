/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Imports a list file into one list in one transaction. Guards refuse a file that is probably
 * damaged or not the one that was meant. */
#ifndef XB_ENGINE_IMPORT_H
#define XB_ENGINE_IMPORT_H

#include "engine/context.h"
#include "engine/imprint.h"
#include "engine/merge.h"
#include "engine/wish.h"
#include "lists/reader.h"
#include "model/origin.h"
#include "model/request.h"
#include "store/exempt.h"

/* A replacement may grow or shrink a list by this factor, or by fewer entries than this; it may not
 * empty it. If the request has a factor, only that counts. */
#define XB_IMPORT_FACTOR  2.0
#define XB_IMPORT_ENTRIES 1000

struct xb_import {
	struct xb_import_request asked;
	struct xb_listfile *file;
	/* The outcome. */
	uint32_t verdict;      /* of the list, afterwards */
	struct xb_scope scope; /* the same */
	bool has_names;	       /* the file lists domains */
	uint64_t bogons;       /* left out of the file */
	struct xb_item first_bogon;
	struct xb_exemptions exempt; /* of the list */
	struct xb_merge merge;
	enum xb_origin origin; /* set, of what the list gets: by default a file */
	char *stamp;	       /* not NULL: the list gets a mark, see engine/stamp.h */
	bool imprints;	       /* set, with asked.replace, by who wants to know the file again */
	struct xb_imprinting taken;
	struct xb_imprint imprint; /* of a file that is known, see xb_import_is_repeated() */
};

enum xb_import_why {
	XB_IMPORT_EMPTIES,     /* the file has no entries, and would replace the list */
	XB_IMPORT_FEW_BYTES,   /* the file is too small: has, least */
	XB_IMPORT_FEW_ENTRIES, /* the file has too few entries: has, least */
	XB_IMPORT_LISTED,      /* the listed entries would change too much: before, after, factor */
	XB_IMPORT_EXCEPTED,    /* the same for its exceptions */
	XB_IMPORT_ALLOWED,     /* the same for its entries on the allowlist */
};

/* A function that returns XB_IMPORT_REFUSED records no message, and says here why it refused. */
#define XB_IMPORT_REFUSED 1
struct xb_import_refusal {
	enum xb_import_why why;
	uint64_t has, least;
	uint64_t before, after;
	double factor;
};

/*
 * Reads the file into import->file as xb_listfile_read_as() does, leaves out bogons, and checks its
 * size. Returns 0, XB_IMPORT_REFUSED, or an error with its message; the caller frees the file in
 * each case.
 */
int xb_import_read(int fd, const char *path, const struct xb_listfile_terms *terms,
		   struct xb_import *import, struct xb_import_refusal *refusal);

/* The body of a write: puts the entries of the file into the list. Returns as above; the caller
 * gives up the transaction unless that is 0. */
int xb_import_apply(struct xb_writer *writer, struct xb_import *import,
		    struct xb_import_refusal *refusal);

/*
 * Before the file is read: whether the list was replaced by the same file, read on the same terms,
 * and has not changed since. Then import->file has its figures, without items. What cannot be
 * looked at is not known.
 */
bool xb_import_is_repeated(const char *state, const char *path,
			   const struct xb_listfile_terms *terms, struct xb_import *import);

/* Then imports it without having read it; no trial. *changed: the list has changed meanwhile, and
 * nothing was done. Otherwise as below. */
int xb_import_repeat(const struct xb_paths *paths, struct xb_import *import,
		     struct xb_import_refusal *refusal, struct xb_written *written, bool *changed);

/* Imports a file that was read, as the wish says; the wish has the request import->asked. Returns
 * as above. */
int xb_import_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_import *import, struct xb_import_refusal *refusal,
		   struct xb_written *written);

/* Does the same in a transaction that it gives up: fills in the outcome, changes nothing. */
int xb_import_rehearse(const struct xb_paths *paths, struct xb_import *import,
		       struct xb_import_refusal *refusal);

#endif

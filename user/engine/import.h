/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One file, one list, one transaction; and the guards that refuse a file which is not what it
 * should be. */
#ifndef XB_ENGINE_IMPORT_H
#define XB_ENGINE_IMPORT_H

#include "engine/context.h"
#include "engine/merge.h"
#include "engine/wish.h"
#include "lists/reader.h"
#include "model/request.h"
#include "store/exempt.h"

/* How a list may change by a replacement: anything but empty within this factor, or by fewer
 * entries than this. A factor that is given holds for any number. */
#define XB_IMPORT_FACTOR  2.0
#define XB_IMPORT_ENTRIES 1000

struct xb_import {
	struct xb_import_request asked;
	struct xb_listfile *file;
	/* What came of it. */
	uint32_t verdict; /* of the list */
	uint64_t bogons;  /* left out of the file */
	struct xb_item first_bogon;
	struct xb_exemptions exempt; /* of the list */
	struct xb_merge merge;
};

enum xb_import_why {
	XB_IMPORT_EMPTIES,     /* the file has no entries, and would replace the list */
	XB_IMPORT_FEW_BYTES,   /* has, least */
	XB_IMPORT_FEW_ENTRIES, /* has, least */
	XB_IMPORT_LISTED,      /* before, after, factor: of what the list has */
	XB_IMPORT_ALLOWED,     /* the same, of what it has on the allowlist */
};

/* Why a function returned XB_IMPORT_REFUSED, without a message. */
#define XB_IMPORT_REFUSED 1
struct xb_import_refusal {
	enum xb_import_why why;
	uint64_t has, least;
	uint64_t before, after;
	double factor;
};

/*
 * Reads the file as xb_listfile_read_as() does, leaves out bogons, and checks its size. 0,
 * XB_IMPORT_REFUSED, or an error with its message; the caller frees the file in any case.
 */
int xb_import_read(int fd, const char *path, const struct xb_listfile_terms *terms,
		   struct xb_import *import, struct xb_import_refusal *refusal);

/* Inside a write transaction: the body of it. Returns the same; the caller gives up the transaction
 * of one that is refused. */
int xb_import_apply(struct xb_writer *writer, struct xb_import *import,
		    struct xb_import_refusal *refusal);

/* Imports a file that was read, as the wish says, whose request is import->asked. Returns what
 * xb_import_apply() does. */
int xb_import_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_import *import, struct xb_import_refusal *refusal,
		   struct xb_written *written);

/* Does the same in a transaction that is given up: says what would come of it, changes nothing. */
int xb_import_rehearse(const struct xb_paths *paths, struct xb_import *import,
		       struct xb_import_refusal *refusal);

#endif

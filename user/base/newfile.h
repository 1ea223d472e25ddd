/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that gets its name when it is complete: until then, and after an error, what had the name
 * before is as it was. */
#ifndef XB_BASE_NEWFILE_H
#define XB_BASE_NEWFILE_H

#include <stdbool.h>
#include <sys/types.h>

struct xb_newfile {
	int fd; /* to write to */
	const char *path;
	char *target; /* where links lead to */
	char *aside; /* the name that it has meanwhile; NULL: none, so that a kill leaves nothing */
};

/*
 * Begins it in the folder where it will be: for whom the file of this name is, or for whom the
 * process's umask says. The path stays the caller's. A path that can be none, such as one that is
 * too long, is an error here.
 */
int xb_newfile_open(struct xb_newfile *file, const char *path);

/* Makes it durable, and gives it the name. */
int xb_newfile_finish(struct xb_newfile *file);

/* After an error, or after xb_newfile_finish(). All zero with fd -1 is allowed. */
void xb_newfile_close(struct xb_newfile *file);

#endif

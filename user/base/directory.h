/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories whose names root uses. In one that is closed only root and the caller give names, so
 * that what a name leads to was put there by one of them. In the others a name is opened through
 * the descriptor of its directory, and nothing that it leads to is followed.
 */
#ifndef XB_BASE_DIRECTORY_H
#define XB_BASE_DIRECTORY_H

/* Makes the directory, for its owner alone, if it is not there. Returns 0 or an error with its
 * message. */
int xb_directory_make(const char *path);

/* Returns 0 if only root and the user who runs this can give names in the directory, or an error
 * with its message: -ENOENT if there is no such directory. */
int xb_directory_closed(const char *path);

/* Opens a directory in another one, but no link to it. Returns a descriptor, or a negative errno
 * without a message. */
int xb_directory_below(const char *directory, const char *name);

/*
 * Opens a directory in the run directory in which members of the group may make files, where the
 * run directory has a group. Makes both if they are not there. Returns a descriptor, or an error
 * with its message.
 */
int xb_directory_shared(const char *run, const char *name);

#endif

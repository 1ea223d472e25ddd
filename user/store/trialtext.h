/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that a command on trial has read, kept in the state directory for its commit. Until the
 * trial begins it is a copy of the command's own, with its process number in the name. */
#ifndef XB_STORE_TRIALTEXT_H
#define XB_STORE_TRIALTEXT_H

/* Its directory is open to the group, which need not be able to write to the state directory
 * itself. */
#define XB_TRIAL_DIRECTORY "trial"

/* Records and returns the error for a trial while no filter is in force to which it could return.
 */
int xb_trial_baseless(void);

#define XB_TRIAL_COPY 64 /* bytes of the name of a copy */

/* Makes an empty copy, and its name in the directory. Returns a descriptor to write and read it, or
 * a negative errno. */
int xb_trialtext_create(const char *state, char copy[XB_TRIAL_COPY]);

/* The copy, which is still open as fd, becomes the text of the trial. */
int xb_trialtext_keep(const char *state, const char *copy, int fd);

/* Removes a copy that was not kept. */
void xb_trialtext_forget(const char *state, const char *copy);

/*
 * Opens the text of the trial for the process that commits. It must be a plain file with one name
 * that the group of the directory may read, so that no member can make root read a file
 * that is not the member's to read. Returns a descriptor or a negative errno.
 */
int xb_trialtext_open(const char *state);

/* Removes the text of the trial, and copies whose commands have died. The caller has the store
 * open, so that process numbers are those of its users. */
void xb_trialtext_remove(const char *state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that a command on trial has read, kept in the state directory for its commit. Until the
 * trial begins it is a copy of the command's own, with its process number in the name. */
#ifndef XB_CORE_TRIALINPUT_H
#define XB_CORE_TRIALINPUT_H

#include "pin.h"

/* Open to the group, which need not be able to write to the state directory itself. */
#define XB_TRIAL_DIRECTORY "trial"

/* The name of the text of the trial that goes on. */
int xb_trialinput_path(const char *state, char path[XB_PATH_MAX]);

/* Makes an empty copy, and its name. Returns a descriptor to write to or a negative errno. */
int xb_trialinput_create(const char *state, char copy[XB_PATH_MAX]);

/* The copy becomes the text of the trial. */
int xb_trialinput_keep(const char *state, const char *copy);

/* Removes the text of the trial, and copies whose commands have died. For whoever has the store
 * open: process numbers are those of its users. */
void xb_trialinput_remove(const char *state);

#endif

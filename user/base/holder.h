/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds a lock: a note in the lock's file, for those who find it taken. */
#ifndef XB_BASE_HOLDER_H
#define XB_BASE_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XB_COMMAND_TEXT 100

/* What /proc says of a process of our PID namespace; since: when it was started. */
struct xb_process {
	uint32_t number;
	char command[XB_COMMAND_TEXT], since[32];
	bool stopped;
};

/* False: there is none of that number. */
bool xb_process_look(uint32_t number, struct xb_process *process);

/* "process 812 (`bloomctl list`, since 2026-11-22T14:00:00Z, stopped)". Returns text. */
const char *xb_process_describe(uint32_t number, char *text, size_t size);

/* Sets the command of this process that its notes will show, behind the name of the program. */
void xb_holder_sign(int argc, char *const *argv);

/* Writes the note of this process into a lock that it has just taken. If the disk does not take
 * the note, that is no error: other processes then cannot say who holds the lock. */
void xb_holder_note(int lock);

/* "process 812 (`bloomctl import x`, since 2026-11-22T14:00:00Z)", or as much of it as is known;
 * for a lock without a note, what /proc says of its holder. Returns text. */
const char *xb_holder_describe(int lock, char *text, size_t size);

#endif

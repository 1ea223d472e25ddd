/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mapped file that is cut short, or that points to addresses where nothing is, ends its reader by
 * a signal. The module that maps such a file provides the message; main() decides what the process
 * then does.
 */
#ifndef XB_BASE_MAPFAULT_H
#define XB_BASE_MAPFAULT_H

#include <signal.h>

/* Sets the message for a fault in a file whose path contains `part`. It is made now, because a
 * signal handler cannot make it. part must stay valid; the last message for one part counts. */
__attribute__((format(printf, 2, 3))) void xb_mapfault_expect(const char *part, const char *format,
							      ...);

/* The shared library that has the function reads the file, and trusts it: what it was misled to do
 * to its own memory is a fault in the file, too. After xb_mapfault_expect() for the part. Without
 * effect if the library is linked into the program. */
void xb_mapfault_read_by(const char *part, const void *function);

/* For a handler of SIGSEGV, SIGBUS and SIGABRT: the message, a line with its end, if the signal
 * came of such a file or in a library that reads it; NULL: it did not. */
const char *xb_mapfault_message(int number, const siginfo_t *info);

/* Sets what ends the process with a message when damage is found otherwise; NULL: nothing. */
void xb_mapfault_set_end(void (*end)(const char *message));

/* Calls that with the message of the part, if one is expected. Returns if main() set nothing. */
void xb_mapfault_end(const char *part);

#endif

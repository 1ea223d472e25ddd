/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mapped file that is cut short, or that points to addresses where nothing is, ends its reader by
 * a signal. The module that maps such a file provides the message; main() decides what the process
 * then does.
 */
#ifndef XB_BASE_MAPFAULT_H
#define XB_BASE_MAPFAULT_H

/* Sets the message for a fault in a file whose path contains `part`. It is made now, because a
 * signal handler cannot make it. part must stay valid; the last message for one part counts. */
__attribute__((format(printf, 2, 3))) void xb_mapfault_expect(const char *part, const char *format,
							      ...);

/* The shared library that has the function reads the file, and trusts it: what it was misled to do
 * to its own memory is a fault in the file, too. After xb_mapfault_expect() for the part. Without
 * effect if the library is linked into the program. */
void xb_mapfault_read_by(const char *part, const void *function);

/*
 * For main(): from now on, SIGSEGV and SIGBUS in such a file end the process with its message on
 * stderr and this exit code; so do these and SIGABRT in a library that reads it. The interrupted
 * work is as after kill -9. Faults elsewhere take the default action.
 */
void xb_mapfault_watch(int code);

/* Sets what is called before such an end, in a signal handler; NULL: nothing. A program that has
 * changed its terminal restores it. */
void xb_mapfault_before_end(void (*undo)(void));

/* Ends the process in the same way, for damage that was found otherwise. Returns if main() did
 * not ask for this. */
void xb_mapfault_end(const char *part);

#endif

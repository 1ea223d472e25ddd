/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mapped file that is cut short, or that leads astray, ends whoever reads it by a signal. Who
 * maps such a file says what the person should know; what a process does then is for its main() to
 * say. */
#ifndef XB_BASE_MAPFAULT_H
#define XB_BASE_MAPFAULT_H

/* For a fault in a file that has `part` in its path: the line for it, made now, since a signal
 * handler cannot. part stays valid; the last line for one counts. */
__attribute__((format(printf, 2, 3))) void xb_mapfault_expect(const char *part, const char *format,
							      ...);

/*
 * For main(): from now on SIGSEGV and SIGBUS in such a file end the process with its line on stderr
 * and this exit code. What was half done is as after kill -9. Faults elsewhere take the default
 * action.
 */
void xb_mapfault_watch(int code);

/* The same end, for damage that was found in another way; it returns if nobody watches. */
void xb_mapfault_end(const char *part);

#endif

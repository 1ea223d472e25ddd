/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd says: lines on stderr, with a priority in front of them if the journal reads it. */
#ifndef XB_BLOOMD_LOG_H
#define XB_BLOOMD_LOG_H

/* Sends the library's notices and warnings there from now on. */
void log_begin(void);

/* Prints the recorded error, perhaps behind what failed because of it (NULL: nothing). */
void log_error(const char *what);

__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);

#endif

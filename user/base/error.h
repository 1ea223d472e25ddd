/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a failure reaches the person: one message, made where the cause is known, and a class that
 * gives the exit code. */
#ifndef XB_BASE_ERROR_H
#define XB_BASE_ERROR_H

#include <errno.h>
#include <stdbool.h>

enum xb_error_class {
	XB_ERROR_NONE,
	XB_ERROR_INPUT,	 /* the request is wrong */
	XB_ERROR_SYSTEM, /* the machine could not do it */
};

/* Records the message; returns -EINVAL. */
__attribute__((format(printf, 1, 2))) int xb_input_error(const char *format, ...);

/* Inline here and below, so that static analysis of a caller sees that it is an error. */
static inline int xb_is_invalid(int recorded)
{
	(void)recorded;
	return -EINVAL;
}
#define xb_input_error(...) xb_is_invalid(xb_input_error(__VA_ARGS__))

/* Records the message followed by the text of errnum (positive; 0: the message says it all);
 * returns -errnum or -EIO. */
__attribute__((format(printf, 2, 3))) int xb_system_error(int errnum, const char *format, ...);

/* Returns -EIO. */
static inline int xb_out_of_memory(void)
{
	xb_system_error(0, "out of memory");
	return -EIO;
}

/* Puts "prefix: " in front of the recorded message: the file and line it comes from. Returns error
 * unchanged. */
__attribute__((format(printf, 2, 3))) int xb_error_prefix(int error, const char *format, ...);

enum xb_error_class xb_error_class(void);
const char *xb_error_message(void);
void xb_error_clear(void);

/*
 * What the user should know although nothing failed. A warning says that something is not
 * protected, not as well as asked for, or not for long. Both go to the sink; by default that prints
 * a line on stderr.
 */
enum xb_notice_kind {
	XB_NOTE,
	XB_WARNING,
};
__attribute__((format(printf, 1, 2))) void xb_notice(const char *format, ...);
__attribute__((format(printf, 1, 2))) void xb_warning(const char *format, ...);
void xb_notice_sink(void (*sink)(enum xb_notice_kind kind, const char *message));

/* Of what can still be taken back: from hold until resume, notices of this thread wait, and settle
 * says those that waited, or forgets them. What does not fit is said at once. */
void xb_notices_hold(void);
void xb_notices_resume(void);
void xb_notices_settle(bool tell);

/* Long work reports here; total 0: unknown; done == total: finished. The default sink is silence.
 */
void xb_progress(const char *what, unsigned long long done, unsigned long long total);
void xb_progress_sink(void (*sink)(const char *what, unsigned long long done,
				   unsigned long long total));

#endif

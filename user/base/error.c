/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the person: the last failure, notices, progress. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What is quoted from input must not break the line or the terminal. */
static _Thread_local char message[1024];
static _Thread_local enum xb_error_class class;

static void notice_to_stderr(enum xb_notice_kind kind, const char *text)
{
	fprintf(stderr, "%s%s\n", kind == XB_WARNING ? "warning: " : "", text);
}

static void (*notice_sink)(enum xb_notice_kind, const char *) = notice_to_stderr;

#define WAITING_ROOM 65536 /* bytes */

/* Each a byte of its kind, and its text with the final null. NULL: there is none. */
static _Thread_local char *waiting;
static _Thread_local size_t waiting_size;
static _Thread_local bool holding;
static void (*progress_sink)(const char *, unsigned long long, unsigned long long);

int(xb_input_error)(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	xb_utf8_clean(message);
	class = XB_ERROR_INPUT;
	return -EINVAL;
}

int xb_system_error(int errnum, const char *format, ...)
{
	va_list arguments;
	size_t used;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	xb_utf8_clean(message);
	used = strlen(message);
	if (errnum)
		snprintf(message + used, sizeof(message) - used, ": %s", strerror(errnum));
	class = XB_ERROR_SYSTEM;
	return errnum ? -errnum : -EIO;
}

int xb_error_prefix(int error, const char *format, ...)
{
	char rest[sizeof(message)];
	va_list arguments;
	size_t used;

	memcpy(rest, message, sizeof(rest));
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	used = strlen(message);
	snprintf(message + used, sizeof(message) - used, ": %.900s", rest);
	xb_utf8_clean(message);
	return error;
}

enum xb_error_class xb_error_class(void)
{
	return class;
}

const char *xb_error_message(void)
{
	return message;
}

void xb_error_clear(void)
{
	class = XB_ERROR_NONE;
	message[0] = '\0';
}

void xb_notices_hold(void)
{
	holding = true;
}

void xb_notices_resume(void)
{
	holding = false;
}

void xb_notices_settle(bool tell)
{
	char *held = waiting;
	size_t size = waiting_size;

	waiting = NULL;
	waiting_size = 0;
	for (size_t at = 0; tell && at < size; at += 1 + strlen(held + at + 1) + 1)
		notice_sink((enum xb_notice_kind)held[at], held + at + 1);
	free(held);
}

static bool must_wait(enum xb_notice_kind kind, const char *text)
{
	size_t size = strlen(text) + 1;

	if (!holding || size + 1 > WAITING_ROOM - waiting_size)
		return false;
	if (!waiting)
		waiting = malloc(WAITING_ROOM);
	if (!waiting)
		return false;
	waiting[waiting_size] = (char)kind;
	memcpy(waiting + waiting_size + 1, text, size);
	waiting_size += size + 1;
	return true;
}

static void say(enum xb_notice_kind kind, const char *format, va_list arguments)
{
	char text[2 * sizeof(message)]; /* first lines of a file, quoted */

	vsnprintf(text, sizeof(text), format, arguments);
	xb_utf8_clean(text);
	if (!must_wait(kind, text))
		notice_sink(kind, text);
}

void xb_notice(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(XB_NOTE, format, arguments);
	va_end(arguments);
}

void xb_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(XB_WARNING, format, arguments);
	va_end(arguments);
}

void xb_notice_sink(void (*sink)(enum xb_notice_kind, const char *))
{
	notice_sink = sink;
}

void xb_progress(const char *what, unsigned long long done, unsigned long long total)
{
	if (progress_sink)
		progress_sink(what, done, total);
}

void xb_progress_sink(void (*sink)(const char *, unsigned long long, unsigned long long))
{
	progress_sink = sink;
}

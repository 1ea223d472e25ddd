/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "base/error.h"

/* sd-daemon(3): the journal takes the priority off the line. */
static const char *mark(const char *priority)
{
	return getenv("JOURNAL_STREAM") ? priority : "bloomd: ";
}

static void notice(enum xb_notice_kind kind, const char *message)
{
	if (kind == XB_WARNING)
		fprintf(stderr, "%swarning: %s\n", mark(SD_WARNING), message);
	else
		fprintf(stderr, "%s%s\n", mark(SD_NOTICE), message);
}

void log_begin(void)
{
	xb_notice_sink(notice);
}

void log_error(const char *what)
{
	fprintf(stderr, "%s%s%s%s\n", mark(SD_ERR), what ?: "", what ? ": " : "",
		xb_error_message());
}

void log_info(const char *format, ...)
{
	char text[LINE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* At once: bloomd's other processes write there, too. */
	fprintf(stderr, "%s%s\n", mark(SD_INFO), text);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of formats, how one is told from its first line, and what becomes of each line. */
#include "lists/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lists/line.h"

/* The first that detects the line is taken, so those that take much come last. */
static const struct xb_list_format *const formats[] = {
	&xb_plain_format,   &xb_netset_format,	&xb_spamhaus_format, &xb_spamhaus_json_format,
	&xb_ipsum_format,   &xb_ipset_format,	&xb_hosts_format,    &xb_adblock_format,
	&xb_dnsmasq_format, &xb_unbound_format, &xb_rpz_format,	     &xb_domains_format,
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *xb_listfile_formats(void)
{
	static _Thread_local char names[256];
	size_t used = 0;

	for (size_t i = 0; i < FORMATS; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 formats[i]->name);
	return names;
}

int xb_listformat_choose(struct xb_reading *reading, const char *name)
{
	for (size_t i = 0; i < FORMATS; i++) {
		reading->format = formats[i];
		if (!strcmp(reading->format->name, name))
			return 0;
	}
	return xb_input_error("unknown list format '%s'; known: %s", XB_SHOW(name),
			      xb_listfile_formats());
}

const char *xb_listformat_name(const struct xb_reading *reading)
{
	return reading->format ? reading->format->name : NULL;
}

static int detect_format(const char *line, const struct xb_list_format **format)
{
	for (size_t i = 0; i < FORMATS; i++) {
		*format = formats[i];
		if ((*format)->detect && (*format)->detect(line))
			return 0;
	}
	*format = NULL;
	return xb_input_error("not in a known list format: '%s'; known: %s", XB_SHOW(line),
			      xb_listfile_formats());
}

#define TOO_LONG "line longer than %d bytes"

/* While the format is open, what is a comment in any. */
static bool is_comment(const struct xb_reading *reading, const char *line)
{
	return strchr(reading->format ? reading->format->comments : "#;!", *line);
}

/* A line is taken as a whole or not at all. */
static int take_loosely(struct xb_reading *reading, char *line)
{
	struct xb_listfile *file = reading->file;
	size_t before = file->count;
	char shown[XB_SHOWN + 1];
	int error, noted;

	xb_utf8_show(line, sizeof(shown), shown, sizeof(shown));
	error = reading->format->parse(reading, line);
	if (!error || (error != XB_LINE_UNKNOWN && error != -EINVAL))
		return error;
	file->count = before;
	noted = error == -EINVAL ? xb_line_unknown(file, file->lines, "%s", xb_error_message())
				 : xb_line_unknown(file, file->lines, "'%s'", shown);
	if (!noted)
		xb_error_clear();
	return noted;
}

static int take_too_long(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;

	if (reading->format && reading->format->loose)
		return xb_line_unknown(file, file->lines, TOO_LONG, XB_LIST_LINE_BYTES);
	return xb_input_error(TOO_LONG, XB_LIST_LINE_BYTES);
}

static int take_line(struct xb_reading *reading, char *line, size_t size)
{
	bool marked = reading->file->lines == 1 && !strncmp(line, "\xef\xbb\xbf", 3);
	int error = 0;

	if (memchr(line, '\0', size))
		return xb_input_error("binary data, not a list");
	if (size && line[size - 1] == '\r')
		size--;
	if (size > XB_LIST_LINE_BYTES)
		return take_too_long(reading);
	line += marked ? 3 : 0;
	reading->indented = *line == ' ' || *line == '\t';
	line = xb_line_trim(line);
	if (!*line || is_comment(reading, line))
		return 0;
	if (!reading->format)
		error = detect_format(line, &reading->format);
	if (error)
		return error;
	return reading->format->loose ? take_loosely(reading, line)
				      : reading->format->parse(reading, line);
}

int xb_listformat_take(struct xb_reading *reading, char *line, size_t size)
{
	const struct xb_list_format *format = reading->format;
	int taken = format && format->quick ? format->quick(reading, line, size) : 0;

	return taken ? taken : take_line(reading, line, size);
}

int xb_listformat_finish(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	int error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));

	file->room = file->count;
	if (error || !reading->format || !reading->format->finish)
		return error;
	return reading->format->finish(reading);
}

void xb_listformat_end(struct xb_reading *reading)
{
	xb_listaddress_end(reading);
	xb_listresolver_end(reading);
	xb_listzone_end(reading);
}

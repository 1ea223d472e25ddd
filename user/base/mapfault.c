/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mapfault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "base/paths.h"

/* From the first address to the one behind the last. */
struct range {
	uintptr_t from, to;
};

/* Made beforehand, for a signal handler to write. */
struct line {
	const char *part;
	struct range library; /* empty: none reads the file */
	char text[XB_PATH_MAX + 512];
};

#define LINES 4

static struct line lines[LINES];
static void (*end_process)(const char *message);

/* The one of this part, or one that is free. */
static struct line *line_of(const char *part)
{
	for (size_t i = 0; i < LINES; i++)
		if (!lines[i].part || !strcmp(lines[i].part, part))
			return &lines[i];
	return NULL;
}

void xb_mapfault_expect(const char *part, const char *format, ...)
{
	struct line *line = line_of(part);
	va_list arguments;
	size_t used;
	int size;

	if (!line)
		return;
	size = snprintf(line->text, sizeof(line->text), "%s: ", program_invocation_short_name);
	used = size < 0 || (size_t)size >= sizeof(line->text) ? 0 : (size_t)size;
	va_start(arguments, format);
	vsnprintf(line->text + used, sizeof(line->text) - 1 - used, format, arguments);
	va_end(arguments);
	strcat(line->text, "\n");
	line->part = part;
}

/* Widens the range to all that is mapped of the library that begins at its first address. */
static int find_end(struct dl_phdr_info *info, size_t size, void *context)
{
	struct range *range = context;

	(void)size;
	if (info->dlpi_addr != range->from)
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;

		if (part->p_type == PT_LOAD && end > range->to)
			range->to = end;
	}
	return 1;
}

void xb_mapfault_read_by(const char *part, const void *function)
{
	struct line *line = line_of(part);
	Dl_info library, own;

	if (!line || !line->part || !dladdr(function, &library) ||
	    !dladdr((const void *)(uintptr_t)xb_mapfault_read_by, &own) ||
	    library.dli_fbase == own.dli_fbase)
		return;
	line->library.from = line->library.to = (uintptr_t)library.dli_fbase;
	dl_iterate_phdr(find_end, &line->library);
}

/* The line for a file of this path; NULL: none is expected of it. */
static const struct line *line_for_path(const char *path)
{
	for (size_t i = 0; i < LINES && lines[i].part; i++)
		if (strstr(path, lines[i].part))
			return &lines[i];
	return NULL;
}

/* The line for what is mapped at this address, of which LMDB does not say where it is. */
static const struct line *line_for(uintptr_t place)
{
	static char maps[1 << 18];
	size_t size = 0;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (got = read(fd, maps + size, sizeof(maps) - 1 - size)) > 0)
		size += (size_t)got;
	maps[size] = '\0';
	for (char *at = maps, *end; (end = strchr(at, '\n')); at = end + 1) {
		char *rest;

		*end = '\0';
		if (place >= strtoull(at, &rest, 16) && *rest == '-' &&
		    place < strtoull(rest + 1, NULL, 16))
			return line_for_path(at);
	}
	return NULL;
}

static _Unwind_Reason_Code is_within(struct _Unwind_Context *frame, void *context)
{
	uintptr_t place = _Unwind_GetIP(frame);
	const struct line **found = context;

	for (size_t i = 0; !*found && i < LINES; i++)
		if (place >= lines[i].library.from && place < lines[i].library.to)
			*found = &lines[i];
	return *found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* The line for a file whose library was called and has not returned. */
static const struct line *line_for_callers(void)
{
	const struct line *found = NULL;

	_Unwind_Backtrace(is_within, &found);
	return found;
}

const char *xb_mapfault_message(int number, const siginfo_t *info)
{
	const struct line *line = number == SIGABRT ? NULL : line_for((uintptr_t)info->si_addr);

	if (!line)
		line = line_for_callers();
	return line ? line->text : NULL;
}

void xb_mapfault_set_end(void (*end)(const char *message))
{
	end_process = end;
}

void xb_mapfault_end(const char *part)
{
	const struct line *line = line_of(part);

	if (end_process && line && line->part)
		end_process(line->text);
}

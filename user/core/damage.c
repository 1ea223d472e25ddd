/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "damage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generation.h"
#include "store.h"

#define EXIT_SYSTEM 3

/* Made beforehand, for a signal handler to write. */
struct line {
	char text[4400];
	size_t size;
};

static struct line store_line, counters_line;

__attribute__((format(printf, 2, 3))) static void prepare(struct line *line, const char *format,
							  ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(line->text, sizeof(line->text), format, arguments);
	va_end(arguments);
	line->size = size < 0				 ? 0
		     : (size_t)size < sizeof(line->text) ? (size_t)size
							 : sizeof(line->text) - 1;
}

static void give_up(const struct line *line)
{
	/* Nobody is left to be told that it cannot be told. */
	if (write(STDERR_FILENO, line->text, line->size) < 0)
		_exit(EXIT_SYSTEM);
	_exit(EXIT_SYSTEM);
}

static void on_assertion(MDB_env *env, const char *message)
{
	(void)env;
	(void)message;
	give_up(&store_line);
}

/* The line for what is mapped at this address, of which LMDB does not say where it is; NULL: it is
 * none of these files. */
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
			return strstr(at, "/" XB_STORE_FILE)	? &store_line
			       : strstr(at, XB_COUNTERS_SUFFIX) ? &counters_line
								: NULL;
	}
	return NULL;
}

/* A fault elsewhere is not the file's; the default action, which is back, takes it. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	const struct line *line = line_for((uintptr_t)info->si_addr);

	(void)number;
	(void)context;
	if (line)
		give_up(line);
}

void xb_damage_watch(MDB_env *env, const char *path)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESETHAND};

	prepare(&store_line,
		"%s: cannot read the store %s: the file is damaged, or its disk fails: "
		"move it away and restore a `save`\n",
		program_invocation_short_name, path);
	prepare(&counters_line,
		"%s: the counters of the filter were cut off while they were in use; the next "
		"command builds the filter anew\n",
		program_invocation_short_name);
	mdb_env_set_assert(env, on_assertion);
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

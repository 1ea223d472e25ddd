/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "damage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

#define EXIT_SYSTEM 3

static char line[4400];
static size_t line_size;

static void give_up(void)
{
	/* Nobody is left to be told that it cannot be told. */
	if (write(STDERR_FILENO, line, line_size) < 0)
		_exit(EXIT_SYSTEM);
	_exit(EXIT_SYSTEM);
}

static void on_assertion(MDB_env *env, const char *message)
{
	(void)env;
	(void)message;
	give_up();
}

/* Whether the address is one of a mapped store. LMDB does not say where that is. */
static bool is_mapped_store(uintptr_t place)
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
			return strstr(at, "/" XB_STORE_FILE);
	}
	return false;
}

/* A fault elsewhere is not the file's; the default action, which is back, takes it. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (is_mapped_store((uintptr_t)info->si_addr))
		give_up();
}

void xb_damage_watch(MDB_env *env, const char *path)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESETHAND};
	int size;

	size = snprintf(line, sizeof(line),
			"%s: cannot read the store %s: the file is damaged, or its disk fails: "
			"move it away and restore a `save`\n",
			program_invocation_short_name, path);
	line_size = size < 0 ? 0 : (size_t)size < sizeof(line) ? (size_t)size : sizeof(line) - 1;
	mdb_env_set_assert(env, on_assertion);
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

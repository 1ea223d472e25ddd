/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into bloomd: how long a turn of its loop takes, from when it wakes up to when it waits
 * again, without the time in which others have the processor. XB_TURNS names a file, which then has
 * as numbers of 64 bits: the turns, the longest one, and all together, in nanoseconds.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct turns {
	uint64_t count, longest, all;
};

static struct turns *turns;
static pid_t owner;
static uint64_t begun; /* 0: no turn has begun */

static void open_turns(void)
{
	const char *path = getenv("XB_TURNS");
	int file = path && !turns ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *mapped = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, sizeof(*turns)))
		mapped = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	if (mapped != MAP_FAILED) {
		turns = mapped;
		owner = getpid();
	}
}

/* Nanoseconds in which this thread was ready to run, and another one ran. */
static uint64_t waited(void)
{
	static int file = -1;
	unsigned long long ran, stood = 0;
	char text[80];
	ssize_t size;

	if (file < 0)
		file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	size = file < 0 ? -1 : pread(file, text, sizeof(text) - 1, 0);
	if (size > 0) {
		text[size] = '\0';
		if (sscanf(text, "%llu %llu", &ran, &stood) != 2)
			stood = 0;
	}
	return stood;
}

static uint64_t clock_without_others(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - waited();
}

static void end_turn(void)
{
	int64_t took = begun ? (int64_t)(clock_without_others() - begun) : 0;

	if (!turns)
		open_turns();
	/* Whoever had the processor between the two looks at the clocks counts twice. */
	if (!turns || took <= 0 || owner != getpid())
		return;
	turns->count++;
	turns->all += (uint64_t)took;
	if ((uint64_t)took > turns->longest)
		turns->longest = (uint64_t)took;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	static int (*next)(int, struct epoll_event *, int, int);
	int found;

	if (!next)
		next = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	end_turn();
	found = next(fd, events, most, timeout);
	begun = clock_without_others();
	return found;
}

int epoll_pwait2(int fd, struct epoll_event *events, int most, const struct timespec *timeout,
		 const sigset_t *blocked)
{
	static int (*next)(int, struct epoll_event *, int, const struct timespec *,
			   const sigset_t *);
	int found;

	if (!next)
		next = (int (*)(int, struct epoll_event *, int, const struct timespec *,
				const sigset_t *))dlsym(RTLD_NEXT, "epoll_pwait2");
	end_turn();
	found = next(fd, events, most, timeout, blocked);
	begun = clock_without_others();
	return found;
}

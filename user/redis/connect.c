/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A server whose machine is gone is noticed within a minute: s, s, times. */
#define KEEPALIVE_IDLE	30
#define KEEPALIVE_EVERY 10
#define KEEPALIVE_TIMES 3

uint64_t connect_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int connect_wait(int fd, short events, uint64_t deadline)
{
	for (;;) {
		struct pollfd ready = {.fd = fd, .events = events};
		uint64_t now = connect_clock();

		if (now >= deadline)
			return 0;
		if (poll(&ready, 1, (int)(deadline - now)) > 0)
			return 1;
	}
}

static void set_options(int fd)
{
	static const struct {
		int level, option, value;
	} options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
		       {SOL_SOCKET, SO_KEEPALIVE, 1},
		       {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE},
		       {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY},
		       {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_TIMES}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(fd, options[i].level, options[i].option, &options[i].value,
			   sizeof(options[i].value));
}

/* Returns 0 or an errno. */
static int finish(int fd, uint64_t deadline)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (!connect_wait(fd, POLLOUT, deadline))
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

/* Returns a descriptor; -1 with errno. */
static int try_address(const struct addrinfo *address, uint64_t deadline)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = fd < 0 ? errno : 0;

	if (!error && connect(fd, address->ai_addr, address->ai_addrlen))
		error = errno == EINPROGRESS ? finish(fd, deadline) : errno;
	if (!error) {
		set_options(fd);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

/* Each address has its share of the time, so that one that never answers leaves some to the
 * others. */
static uint64_t share(const struct addrinfo *address, uint64_t deadline)
{
	uint64_t now = connect_clock(), count = 0;

	for (; address; address = address->ai_next)
		count++;
	return deadline > now ? now + (deadline - now) / count : now;
}

static int try_all(const struct addrinfo *address, uint64_t deadline)
{
	int fd = -1;

	for (; address && fd < 0; address = address->ai_next)
		fd = try_address(address, share(address, deadline));
	return fd;
}

int connect_host(const struct redis_target *target, uint64_t deadline, struct redis_end *end)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char port[8];
	int fd, error;

	snprintf(port, sizeof(port), "%u", target->place.port);
	error = getaddrinfo(target->place.host, port, &hints, &found);
	if (error) {
		end_set(end, REDIS_NO_NAME, "cannot resolve %s: %s", target->place.host,
			gai_strerror(error));
		return -1;
	}
	fd = try_all(found, deadline);
	error = errno;
	freeaddrinfo(found);
	if (fd < 0)
		end_set(end, error == ETIMEDOUT ? REDIS_TIMEOUT : REDIS_NO_CONNECTION,
			"cannot connect to %s port %s: %s", target->place.host, port,
			strerror(error));
	return fd;
}

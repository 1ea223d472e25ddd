/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_connections NETNS SERVER FIRST COUNT GROUP: how long a server takes to accept COUNT
 * connections, and does nothing else. Its clients are in the named network namespace and group of
 * cgroup v2; each connection comes from another of their addresses, FIRST (IPv4) and those behind
 * it. Prints one JSON object.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/seconds.h"

#define PORT 7900

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Ends by RST: so many connections would leave as many sockets in TIME_WAIT. */
static void end(int connection)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(connection);
}

static void connect_all(const char *netns, struct sockaddr_in server, uint32_t first,
			uint32_t count)
{
	int namespace = open(netns, O_RDONLY | O_CLOEXEC), on = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(namespace, netns);
	must(setns(namespace, CLONE_NEWNET), "setns");
	for (uint32_t i = 0; i < count; i++) {
		struct sockaddr_in own = {.sin_family = AF_INET,
					  .sin_addr.s_addr = htonl(first + i)};
		int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		char byte;

		must(one, "socket");
		setsockopt(one, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
		must(bind(one, (struct sockaddr *)&own, sizeof(own)), "bind");
		/* Reset, or read until the server has it, and ends it: it counts them. */
		if (!connect(one, (struct sockaddr *)&server, sizeof(server)))
			while (read(one, &byte, 1) > 0)
				;
		end(one);
	}
	_exit(0);
}

/* The clients go to a group of cgroup v2 where nobody hears of their connections: they stand for
 * other machines. */
static void enter(const char *group)
{
	char path[512];
	int procs;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	procs = open(path, O_WRONLY | O_CLOEXEC);
	must(procs, path);
	must(write(procs, "0", 1) == 1 ? 0 : -1, path);
	close(procs);
}

int main(int argc, char **argv)
{
	struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	const struct timeval patience = {.tv_usec = 50000};
	uint32_t first, count, accepted = 0;
	int listener, on = 1, status;
	double start, passed;
	pid_t child;

	if (argc != 6 || inet_pton(AF_INET, argv[2], &server.sin_addr) != 1 ||
	    inet_pton(AF_INET, argv[3], &first) != 1) {
		fprintf(stderr, "usage: bench_connections NETNS SERVER FIRST COUNT GROUP\n");
		return 2;
	}
	first = ntohl(first);
	count = (uint32_t)strtoul(argv[4], NULL, 10);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(listener, "socket");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	must(bind(listener, (struct sockaddr *)&server, sizeof(server)), "bind");
	must(listen(listener, 1024), "listen");
	child = fork();
	must(child, "fork");
	if (!child) {
		enter(argv[5]);
		connect_all(argv[1], server, first, count);
	}
	start = seconds();
	passed = 0;
	/* A connection may be reset before it is accepted: the end of the client is the end. */
	do {
		int one = accept(listener, NULL, NULL);

		if (one < 0)
			continue;
		end(one);
		accepted++;
		passed = seconds() - start;
	} while (!waitpid(child, &status, WNOHANG));
	printf("{\"seconds\":%.9f,\"accepted\":%u}\n", passed, accepted);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/listener.h"

#define UNIX "unix:"

static int parse_path(const char *path, struct listen_address *address)
{
	struct sockaddr_un *to = &address->socket.path;

	if (*path != '/')
		return xb_input_error("'%s' is not an absolute path", XB_SHOW(path));
	if (strlen(path) >= sizeof(to->sun_path))
		return xb_input_error("the path of a socket has at most %zu bytes",
				      sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	strcpy(to->sun_path, path);
	address->size = sizeof(*to);
	return 0;
}

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*port = htons((uint16_t)number);
	return *text >= '0' && *text <= '9' && !*end && number && number < 65536;
}

static bool parse_host(char *host, in_port_t port, struct listen_address *address)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->socket.room;
	struct sockaddr_in *four = (struct sockaddr_in *)&address->socket.room;
	size_t size = strlen(host);

	if (*host == '[' && size > 2 && host[size - 1] == ']') {
		host[size - 1] = '\0';
		six->sin6_family = AF_INET6;
		six->sin6_port = port;
		address->size = sizeof(*six);
		return inet_pton(AF_INET6, host + 1, &six->sin6_addr) == 1;
	}
	four->sin_family = AF_INET;
	four->sin_port = port;
	address->size = sizeof(*four);
	return inet_pton(AF_INET, host, &four->sin_addr) == 1;
}

int listen_parse(const char *text, struct listen_address *address)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	in_port_t port;

	memset(address, 0, sizeof(*address));
	if (!strncmp(text, UNIX, strlen(UNIX)))
		return parse_path(text + strlen(UNIX), address);
	if (colon && (size_t)(colon - text) < sizeof(host) && parse_port(colon + 1, &port)) {
		memcpy(host, text, (size_t)(colon - text));
		host[colon - text] = '\0';
		if (parse_host(host, port, address))
			return 0;
	}
	return xb_input_error("'%s' is neither ADDRESS:PORT nor " UNIX
			      "PATH, for example 127.0.0.1:9101 or [::1]:9101",
			      XB_SHOW(text));
}

bool listen_is_local(const struct listen_address *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->socket.room;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->socket.room;

	switch (address->socket.any.sa_family) {
	case AF_INET:
		return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	default:
		return true;
	}
}

bool listen_is_same(const struct listen_address *a, const struct listen_address *b)
{
	return a->size == b->size && !memcmp(&a->socket, &b->socket, a->size);
}

/* An address that the machine does not have yet, as at boot, is taken all the same. */
static void set_options(int fd, int family)
{
	const int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
}

#define BACKLOG 64

int listen_open(const struct listen_address *address, const char *text)
{
	int family = address->socket.any.sa_family;
	int fd, error;

	if (family == AF_UNIX)
		return listener_bind(address->socket.path.sun_path, 0660);
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return xb_system_error(errno, "cannot listen on %s", text);
	set_options(fd, family);
	if (!bind(fd, &address->socket.any, address->size) && !listen(fd, BACKLOG))
		return fd;
	error = xb_system_error(errno, "cannot listen on %s", text);
	close(fd);
	return error;
}

void listen_close(int listener, const struct listen_address *address)
{
	if (listener < 0)
		return;
	if (address->socket.any.sa_family == AF_UNIX)
		unlink(address->socket.path.sun_path);
	close(listener);
}

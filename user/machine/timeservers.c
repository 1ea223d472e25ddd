/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration files, /proc/net/udp, chronyc(1). */
#include "machine/timeservers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/lifelines.h"
#include "machine/sockaddr.h"
#include "machine/sysfile.h"

#define BLANKS		" \t"
#define NTP_PORT	123
#define CHRONYC		"/usr/bin/chronyc"
#define CHRONYC_SECONDS 1

/* Names are passed over: who answers for them is not known without asking. */
static int add(struct xb_lifelines *out, const char *address, const char *why)
{
	struct xb_entry entry;

	if (!xb_address_parse(address, &entry) || xb_address_is_loopback(&entry) ||
	    xb_address_is_unspecified(&entry))
		return 0;
	return xb_lifelines_add(out, &entry, XB_LIFELINE_TIME, "%s", why);
}

/* server [-4|-6] ADDRESS options... */
static int on_ntp_line(char *line, const char *path, void *out)
{
	char *rest, *word = strtok_r(line, BLANKS, &rest);

	if (!word ||
	    (strcasecmp(word, "server") && strcasecmp(word, "pool") && strcasecmp(word, "peer")))
		return 0;
	do
		word = strtok_r(NULL, BLANKS, &rest);
	while (word && word[0] == '-');
	return word ? add(out, word, path) : 0;
}

/* NTP=ADDRESS ADDRESS... */
static int on_systemd_line(char *line, const char *path, void *out)
{
	char *rest, *word = strtok_r(line, BLANKS "=", &rest);
	int error = 0;

	if (!word || (strcmp(word, "NTP") && strcmp(word, "FallbackNTP")))
		return 0;
	while (!error && (word = strtok_r(NULL, BLANKS "=", &rest)))
		error = add(out, word, path);
	return error;
}

/* Addresses in /proc/net are 32-bit words as the machine reads them, 8 hexadecimal digits each. */
static int on_socket_line(char *line, const char *path, void *out)
{
	uint32_t words[4] = {0};
	unsigned int port, count;
	struct xb_entry entry;
	char hex[33];

	if (sscanf(line, " %*u: %*[0-9A-F]:%*x %32[0-9A-F]:%x", hex, &port) != 2 ||
	    port != NTP_PORT)
		return 0;
	count = (unsigned int)strlen(hex) / 8;
	for (unsigned int i = 0; i < count; i++)
		sscanf(hex + 8 * i, "%8x", &words[i]);
	if (!xb_address_from_bytes(count == 4 ? AF_INET6 : AF_INET, words, &entry) ||
	    xb_address_is_loopback(&entry) || xb_address_is_unspecified(&entry))
		return 0;
	return xb_lifelines_add(out, &entry, XB_LIFELINE_TIME, "socket in %s", path);
}

/* mode,state,address,... */
static int add_chrony_sources(struct xb_lifelines *out, char *text)
{
	char *line;
	int error = 0;

	while (!error && (line = strsep(&text, "\n"))) {
		char *address;

		strsep(&line, ",");
		strsep(&line, ",");
		address = strsep(&line, ",");
		if (address && line)
			error = add(out, address, "chronyc sources");
	}
	return error;
}

static int milliseconds_until(const struct timespec *end)
{
	struct timespec now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
	return left > 0 ? (int)left : 0;
}

/* Reads to the end, to the last byte of room or to the end of time; ends the text with a zero. */
static void read_in_time(int fd, char *text, size_t room, int seconds)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct timespec end;
	size_t used = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	while (used < room - 1 && poll(&ready, 1, milliseconds_until(&end)) > 0) {
		ssize_t size = read(fd, text + used, room - 1 - used);

		if (size <= 0)
			break;
		used += (size_t)size;
	}
	text[used] = '\0';
}

/* Starts chronyc with its output to fd and without our environment. 0: it did not start. */
static pid_t spawn_chronyc(int fd)
{
	char *arguments[] = {"chronyc", "-n", "-c", "sources", NULL};
	char *environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;

	if (posix_spawn_file_actions_init(&actions))
		return 0;
	if (posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO) ||
	    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
	    posix_spawn(&pid, CHRONYC, &actions, NULL, arguments, environment))
		pid = 0;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* chronyd's sockets come and go; what it asks, only it knows. No chronyd: nothing found. */
static int ask_chrony(struct xb_lifelines *out)
{
	static char text[16384];
	int ends[2];
	pid_t pid;

	if (access(CHRONYC, X_OK) || pipe2(ends, O_CLOEXEC))
		return 0;
	pid = spawn_chronyc(ends[1]);
	close(ends[1]);
	text[0] = '\0';
	if (pid) {
		read_in_time(ends[0], text, sizeof(text), CHRONYC_SECONDS);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return add_chrony_sources(out, text);
}

int xb_time_servers_find(struct xb_lifelines *out)
{
	static const struct {
		const char *pattern;
		xb_sysfile_line *each;
	} files[] = {
		{"/proc/net/udp", on_socket_line},
		{"/proc/net/udp6", on_socket_line},
		{"/etc/chrony/chrony.conf", on_ntp_line},
		{"/etc/chrony/conf.d/*.conf", on_ntp_line},
		{"/etc/chrony/sources.d/*.sources", on_ntp_line},
		{"/run/chrony-dhcp/*.sources", on_ntp_line},
		{"/etc/ntpsec/ntp.conf", on_ntp_line},
		{"/etc/ntp.conf", on_ntp_line},
		{"/etc/systemd/timesyncd.conf", on_systemd_line},
		{"/etc/systemd/timesyncd.conf.d/*.conf", on_systemd_line},
		{"/run/systemd/netif/links/*", on_systemd_line},
	};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(files) / sizeof(files[0]); i++)
		error = xb_sysfile_lines(files[i].pattern, files[i].each, out);
	return error ? error : ask_chrony(out);
}

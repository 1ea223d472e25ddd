/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Up the tree of processes by /proc; into a server's sockets by pidfd_getfd(2). */
#include "machine/ssh.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/boot.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/procfile.h"
#include "machine/sockaddr.h"

#define TICK	  (int64_t)(XB_SECOND / 100) /* USER_HZ, the same on all machines */
#define ANCESTORS 4096 /* more than a tree is deep; ids may be used anew while we go up */

struct process {
	uint32_t pid, parent;
	uint64_t started;
	char state;
	char comm[32];
};

/* PID (COMM) STATE PPID ..., with anything in COMM, parentheses too. */
static bool parse_stat(char *text, struct process *process)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (!open || !close || close < open)
		return false;
	*close = '\0';
	snprintf(process->comm, sizeof(process->comm), "%s", open + 1);
	return sscanf(close + 1,
		      " %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		      "%*d %" SCNu64,
		      &process->state, &process->parent, &process->started) == 3;
}

static bool read_process(uint32_t pid, struct process *process)
{
	char path[32], text[1024];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (xb_procfile_read(path, text, sizeof(text)) < 0)
		return false;
	process->pid = pid;
	if (!parse_stat(text, process))
		return false;
	process->started -= (uint64_t)(xb_clock_boot_shift() / TICK);
	return true;
}

/* /proc may have been mounted for another PID namespace, where we have another number or none. */
static bool proc_is_ours(void)
{
	char target[16] = "";

	return readlink("/proc/self", target, sizeof(target) - 1) > 0 && atoi(target) == getpid();
}

void xb_vantage_here(struct xb_vantage *vantage)
{
	*vantage = (struct xb_vantage){0};
	xb_boot_identity(vantage->boot);
	if (proc_is_ours())
		vantage->pid_namespace = xb_pid_namespace();
}

bool xb_session_lives(const struct xb_session *session)
{
	struct process now;

	/* /proc mounted with hidepid shows nobody else's. */
	if (!read_process(session->pid, &now))
		return kill((pid_t)session->pid, 0) < 0 && errno == EPERM;
	/* Shifts of a time namespace may round to the next tick. */
	return now.started - session->started + 1 <= 2 && now.state != 'Z' && now.state != 'X';
}

static bool is_server(const struct process *process)
{
	static const char *const servers[] = {"sshd", "dropbear", "tinysshd"};

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (!strncmp(process->comm, servers[i], strlen(servers[i])))
			return true;
	return false;
}

/* The peer, if the socket is a TCP connection. */
static bool tcp_peer(int fd, struct xb_session *session)
{
	struct sockaddr_storage peer = {0};
	socklen_t size = sizeof(int);
	int type, protocol;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_STREAM ||
	    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) || protocol != IPPROTO_TCP)
		return false;
	size = sizeof(peer);
	return !getpeername(fd, (struct sockaddr *)&peer, &size) &&
	       xb_address_from_socket(&peer, &session->peer, &session->peer_port);
}

/* Looks at descriptor number `number` of another process. */
static bool peer_of(int pidfd, int number, struct xb_session *session)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	bool found;

	if (fd < 0)
		return false;
	found = tcp_peer(fd, session);
	close(fd);
	return found;
}

static bool is_socket(DIR *listing, const char *name)
{
	char target[16] = "";

	return readlinkat(dirfd(listing), name, target, sizeof(target) - 1) > 0 &&
	       !strncmp(target, "socket:[", 8);
}

/*
 * A server has the connection of its session before it opens any other, so it is the connected TCP
 * socket with the lowest number. Forwarded connections (-L, -R, -D, -X) and those of name service
 * modules come later and get higher ones.
 */
static bool lowest_peer(int pidfd, DIR *listing, struct xb_session *session)
{
	struct dirent *item;
	int lowest = -1;

	while ((item = readdir(listing))) {
		struct xb_session candidate = *session;
		int number = atoi(item->d_name);

		if (item->d_name[0] == '.' || (lowest >= 0 && number > lowest) ||
		    !is_socket(listing, item->d_name) || !peer_of(pidfd, number, &candidate))
			continue;
		lowest = number;
		*session = candidate;
	}
	return lowest >= 0;
}

/* A session that came from this machine itself is nobody's way in. */
static bool session_of(const struct process *server, struct xb_session *session)
{
	int pidfd = (int)syscall(SYS_pidfd_open, server->pid, 0);
	bool found = false;
	DIR *listing;
	char path[32];

	if (pidfd < 0)
		return false;
	*session = (struct xb_session){.pid = server->pid, .started = server->started};
	snprintf(path, sizeof(path), "/proc/%u/fd", server->pid);
	listing = opendir(path);
	if (listing) {
		/* Still the same process: so are the descriptors. */
		found = xb_session_lives(session) && lowest_peer(pidfd, listing, session) &&
			!xb_address_is_loopback(&session->peer);
		closedir(listing);
	}
	close(pidfd);
	return found;
}

/* A server has two processes for a session, both with its connection. */
static bool is_known(const struct xb_session *sessions, size_t count,
		     const struct xb_session *session)
{
	for (size_t i = 0; i < count; i++)
		if (sessions[i].peer_port == session->peer_port &&
		    !xb_entry_compare(&sessions[i].peer, &session->peer))
			return true;
	return false;
}

/* SSH_CONNECTION is: PEER PEERPORT LOCAL LOCALPORT. */
static bool session_of_environment(const struct process *holder, struct xb_session *session)
{
	const char *text = getenv("SSH_CONNECTION");
	char address[64];
	unsigned int port;

	if (!text || sscanf(text, "%63s %u", address, &port) != 2 || !port || port > 65535)
		return false;
	*session = (struct xb_session){
		.pid = holder->pid, .started = holder->started, .peer_port = (uint16_t)port};
	return xb_address_parse(address, &session->peer) &&
	       !xb_address_is_loopback(&session->peer) &&
	       !xb_address_is_unspecified(&session->peer);
}

int xb_session_current(struct xb_session *sessions, size_t room)
{
	struct process process, holder = {0};
	uint32_t pid = (uint32_t)getppid();
	bool server_seen = false;
	size_t count = 0;

	if (!proc_is_ours())
		return xb_system_error(0, "/proc is missing or shows another PID namespace: mount "
					  "it anew (unshare --mount-proc)");
	if (!read_process((uint32_t)getpid(), &process))
		return xb_system_error(errno, "cannot read /proc/%d/stat (is /proc mounted?)",
				       getpid());
	for (int i = 0; i < ANCESTORS && count < room && pid; i++, pid = process.parent) {
		if (!read_process(pid, &process))
			break;
		if (!i || (!server_seen && is_server(&process)))
			holder = process;
		if (!is_server(&process))
			continue;
		server_seen = true;
		if (session_of(&process, &sessions[count]) &&
		    !is_known(sessions, count, &sessions[count]))
			count++;
	}
	if (!count && room && holder.pid && session_of_environment(&holder, &sessions[0]))
		count = 1;
	return (int)count;
}

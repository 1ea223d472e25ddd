/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cookies of sockets, files of /proc/PID/ns and names in /run/netns. */
#include "base/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMED "/run/netns"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/*
 * Cookies are drawn in order, the first for the initial namespace. Since Linux 6.18 they are drawn
 * together with the numbers of other kinds of namespaces, but there its inode has a number of its
 * own (NET_NS_INIT_INO).
 */
#define INITIAL_COOKIE 1
#define INITIAL_INODE  0xEFFFFFF9U

static uint64_t own_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) < 0)
		cookie = 0;
	close(fd);
	return cookie;
}

struct xb_netns xb_netns_self(void)
{
	return (struct xb_netns){own_cookie(), inode_of("/proc/self/ns/net")};
}

bool xb_netns_same(const struct xb_netns *one, const struct xb_netns *other)
{
	return !one->cookie || !other->cookie || one->cookie == other->cookie;
}

bool xb_netns_is_initial(const struct xb_netns *netns)
{
	return netns->cookie == INITIAL_COOKIE || netns->inode == INITIAL_INODE;
}

struct visit {
	int netns;
	uint64_t cookie; /* 0: cannot be determined */
};

static void *read_cookie(void *context)
{
	struct visit *visit = context;

	if (!setns(visit->netns, CLONE_NEWNET))
		visit->cookie = own_cookie();
	return NULL;
}

/* A thread of its own enters the namespace, since nothing else tells its cookie, and ends there. */
static uint64_t cookie_of(const char *path)
{
	struct visit visit = {.netns = open(path, O_RDONLY | O_CLOEXEC)};
	pthread_t thread;

	if (visit.netns < 0)
		return 0;
	if (!pthread_create(&thread, NULL, read_cookie, &visit))
		pthread_join(thread, NULL);
	close(visit.netns);
	return visit.cookie;
}

/* Whether the file is of this namespace, for all that can be seen. */
static bool leads_to(const char *path, const struct xb_netns *netns)
{
	struct xb_netns there;

	if (!netns->inode || inode_of(path) != netns->inode)
		return false;
	there = xb_netns_self();
	if (there.inode != netns->inode)
		there.cookie = cookie_of(path);
	return xb_netns_same(&there, netns);
}

/* Whether the process of this name in /proc is of it, for all that can be seen. */
static bool may_have(const char *process, const struct xb_netns *netns)
{
	char path[sizeof("/proc//ns/net") + NAME_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", process);
	if (stat(path, &st) < 0)
		return errno == EACCES || errno == EPERM;
	return leads_to(path, netns);
}

bool xb_netns_is_gone(const struct xb_netns *netns)
{
	char text[XB_NETNS_ENTER];
	struct dirent *item;
	DIR *listing;
	bool gone;

	listing = netns->inode ? opendir("/proc") : NULL;
	gone = listing && !xb_netns_enter(netns, text);
	while (gone && (item = readdir(listing)))
		gone = !may_have(item->d_name, netns);
	if (listing)
		closedir(listing);
	return gone;
}

bool xb_netns_enter(const struct xb_netns *netns, char text[XB_NETNS_ENTER])
{
	DIR *listing = netns->inode ? opendir(NAMED) : NULL;
	struct dirent *item;
	bool found = leads_to("/proc/1/ns/net", netns);

	snprintf(text, XB_NETNS_ENTER, "nsenter --net=%s",
		 found ? "/proc/1/ns/net" : NAMED "/NAME");
	while (listing && !found && (item = readdir(listing))) {
		char path[sizeof(NAMED) + sizeof(item->d_name) + 1];

		snprintf(path, sizeof(path), NAMED "/%s", item->d_name);
		found = leads_to(path, netns);
		if (found)
			snprintf(text, XB_NETNS_ENTER, "nsenter --net=%s", path);
	}
	if (listing)
		closedir(listing);
	return found;
}

bool xb_netns_hides_sys(void)
{
	uint64_t first = inode_of("/proc/1/ns/mnt"), ours = inode_of("/proc/self/ns/mnt");

	return first && ours && first != ours;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine of a test's own: interfaces, addresses and routes, empty folders in place of its files,
 * and connections. Gone with the process. */
#ifndef XB_TESTS_GROUND_H
#define XB_TESTS_GROUND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "support/cmocka.h"

static inline void run(const char *command)
{
	if (system(command)) {
		printf("failed: %s\n", command);
		exit(1);
	}
}

/* port0 - (br0 <- port0, mv1 on br0); out0 and out1 with routes; far0, far1, far2 the other ends.
 */
static const char *const network[] = {
	"ip link set lo up",
	"ip link add out0 type veth peer name far0",
	"ip link add out1 type veth peer name far1",
	"ip link add port0 index 850 type veth peer name far2",
	"ip link add br0 index 900 type bridge",
	"ip link set port0 master br0",
	"ip link add link br0 name mv1 index 800 type macvlan",
	/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one command */
	"for i in out0 far0 out1 far1 port0 far2 br0 mv1; do"
	" echo 1 >/proc/sys/net/ipv6/conf/$i/addr_gen_mode; ip link set $i up || exit 1; done",
	"ip addr add 10.77.0.1/24 dev out0",
	"ip addr add 10.77.0.2/24 dev out0 label out0:second",
	"ip addr add 10.78.0.1 peer 10.78.0.2/32 dev out0",
	"ip addr add fd00:77::1/64 dev out0 nodad",
	"ip addr add fd00:77::2/64 dev out0 nodad",
	"ip addr add 10.55.0.1/24 dev far0",
	"ip addr add 10.88.0.1/24 dev out1",
	"ip addr add fd00:88::1/64 dev out1 nodad",
	"ip addr add 10.99.0.1/24 dev br0",
	"ip addr add 10.66.0.1/24 dev mv1",
	/* Not default routes; 0.0.0.0/8 has the same address as one. */
	"ip route add 0.0.0.0/8 via 10.77.0.201",
	"ip route add 10.200.0.0/16 via 10.77.0.202",
	"ip route add 2001:db8::/32 via fd00:77::203",
	"ip route add default via 10.77.0.254",
	"ip route add default via 10.88.0.254 metric 500",
	"ip route add unreachable default metric 9000",
	"ip route add default via 10.77.0.100 table 100",
	"ip route add default table 70000"
	" nexthop via 10.77.0.101 dev out0 nexthop via 10.88.0.101 dev out1",
	"ip route add default via inet6 fd00:77::66 dev out0 table 102",
	"ip route add default table 103"
	" nexthop via 10.88.0.103 dev out1 nexthop via inet6 fd00:77::67 dev out0",
	"ip route add default via 10.99.0.254 table 104",
	"ip route add default via 10.66.0.254 table 104 metric 7",
	"ip -6 route add default via fd00:77::ff",
	"ip -6 route add default table 200"
	" nexthop via fd00:77::fe dev out0 nexthop via fd00:88::fe dev out1",
	"ip nexthop add id 5 via 10.77.0.105 dev out0",
	"ip nexthop add id 6 via 10.88.0.105 dev out1",
	"ip nexthop add id 7 group 5/6",
	"ip nexthop add id 8 via fd00:77::55 dev out0",
	"ip route add default nhid 7 table 105",
	"ip -6 route add default nhid 8 table 201",
	"for i in 100 70000 102 103 104 105; do ip rule add from 10.5.0.0/16 lookup $i; done",
};

/* Empty ones over the machine's own; gone with the mount namespace. */
static inline void cover(const char *folder)
{
	if (mount("xbt", folder, "tmpfs", 0, "mode=0755")) {
		printf("cannot mount on %s: %s\n", folder, strerror(errno));
		exit(1);
	}
}

static char notice[256];

static inline void keep_notice(enum xb_notice_kind kind, const char *message)
{
	snprintf(notice, sizeof(notice), "%s", message);
}

static inline int begin(void **state)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL)) {
		printf("cannot make namespaces: %s\n", strerror(errno));
		return -1;
	}
	cover("/etc");
	cover("/run");
	cover("/var/lib");
	unsetenv("SSH_CONNECTION");
	xb_notice_sink(keep_notice);
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
		run(network[i]);
	return 0;
}

static inline struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage made = {0};
	struct sockaddr_in6 *ipv6 = (void *)&made;
	struct sockaddr_in *ipv4 = (void *)&made;

	if (strchr(text, ':')) {
		ipv6->sin6_family = AF_INET6;
		ipv6->sin6_port = htons(port);
		assert_int_equal(inet_pton(AF_INET6, text, &ipv6->sin6_addr), 1);
	} else {
		ipv4->sin_family = AF_INET;
		ipv4->sin_port = htons(port);
		assert_int_equal(inet_pton(AF_INET, text, &ipv4->sin_addr), 1);
	}
	return made;
}

/* from: NULL: any. */
static inline int connected(int type, const char *from, const char *to, uint16_t port)
{
	struct sockaddr_storage there = address(to, port), here;
	int fd = socket(there.ss_family, type, 0);

	assert_true(fd >= 0);
	if (from) {
		here = address(from, 0);
		assert_int_equal(bind(fd, (void *)&here, sizeof(here)), 0);
	}
	assert_int_equal(connect(fd, (void *)&there, sizeof(there)), 0);
	return fd;
}

#endif

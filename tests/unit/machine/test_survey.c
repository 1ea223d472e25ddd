/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lifelines in a network and a file tree made for it; SSH sessions in process trees made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "machine/lifelines.h"
#include "machine/ssh.h"
#include "machine/survey.h"

#define ONLY(kind) (1U << XB_LIFELINE_##kind)

/* --- the machine: interfaces, routes, files --------------------------------------------------- */

static void run(const char *command)
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

static void write_file(const char *path, const char *text)
{
	char folder[256];
	FILE *file;

	snprintf(folder, sizeof(folder), "mkdir -p $(dirname '%s')", path);
	run(folder);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(1);
}

/* Empty ones over the machine's own; gone with the mount namespace. */
static void cover(const char *folder)
{
	if (mount("xbt", folder, "tmpfs", 0, "mode=0755")) {
		printf("cannot mount on %s: %s\n", folder, strerror(errno));
		exit(1);
	}
}

static char notice[256];

static void keep_notice(enum xb_notice_kind kind, const char *message)
{
	(void)kind;
	snprintf(notice, sizeof(notice), "%s", message);
}

static int begin(void **state)
{
	(void)state;
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

static struct xb_lifelines find(const char *interface, unsigned int kinds)
{
	uint32_t ifindex = if_nametoindex(interface);
	struct xb_lifelines found = {0};

	assert_int_equal(xb_lifelines_find(&ifindex, 1, kinds, &found), 0);
	return found;
}

static struct xb_lifeline *look_up(const struct xb_lifelines *found, const char *entry)
{
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(xb_entry_format(&found->item[i].entry, text), entry))
			return &found->item[i];
	return NULL;
}

/* Those and no others; frees them. */
static void expect(struct xb_lifelines found, const char *const *entries)
{
	size_t count = 0;

	for (; entries[count]; count++)
		if (!look_up(&found, entries[count]))
			fail_msg("%s was not found", entries[count]);
	for (size_t i = 0; found.count != count && i < found.count; i++) {
		char text[XB_ENTRY_TEXT];

		printf("found: %s (%s)\n", xb_entry_format(&found.item[i].entry, text),
		       found.item[i].why);
	}
	assert_int_equal(found.count, count);
	xb_lifelines_free(&found);
}

#define EXPECT(found, ...) expect(found, (const char *const[]){__VA_ARGS__, NULL})

/* --- the list --------------------------------------------------------------------------------- */

static void kinds_have_names(void **state)
{
	enum xb_lifeline_kind kind;

	(void)state;
	for (unsigned int i = 0; i < XB_LIFELINE_KINDS; i++) {
		assert_int_equal(xb_lifeline_parse(xb_lifeline_name(i), &kind), 0);
		assert_int_equal(kind, i);
	}
	assert_int_equal(xb_lifeline_parse("gate", &kind), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "link-local"));
}

static void an_entry_is_listed_once_a_kind(void **state)
{
	struct xb_lifelines list = {0};
	struct xb_entry entry = {.hi = 0x0a000001ULL << 32, .kind = XB_HOST4, .length = 32};

	(void)state;
	for (int i = 0; i < 100; i++) {
		entry.hi = (uint64_t)i % 50 << 32;
		assert_int_equal(xb_lifelines_add(&list, &entry, XB_LIFELINE_SSH, "%d", i), 0);
	}
	assert_int_equal(list.count, 50);
	assert_int_equal(xb_lifelines_add(&list, &entry, XB_LIFELINE_TIME, "a\n\xc3\xa4%s", "b"),
			 0);
	assert_int_equal(list.count, 51);
	assert_string_equal(list.item[50].why, "a?\303\244b");
	xb_lifelines_free(&list);
	assert_int_equal(xb_lifelines_add(&list, &entry, XB_LIFELINE_TIME, "%0200d", 1), 0);
	assert_int_equal(strlen(list.item[0].why), sizeof(list.item[0].why) - 1);
	xb_lifelines_free(&list);
}

static void no_kinds_find_nothing(void **state)
{
	struct xb_lifelines found = {0};

	(void)state;
	assert_int_equal(xb_lifelines_find(NULL, 0, 0, &found), 0);
	assert_int_equal(xb_lifelines_find(NULL, 0, ONLY(ADDRESS) | ONLY(GATEWAY), &found), 0);
	assert_int_equal(found.count, 0);
	xb_lifelines_free(&found);
	EXPECT(find("out0", ONLY(LOOPBACK)), "127.0.0.0/8", "::1");
	EXPECT(find("out0", ONLY(LINK_LOCAL)), "169.254.0.0/16", "fe80::/10");
}

/* --- addresses and gateways ------------------------------------------------------------------- */

static void addresses_are_those_of_the_interface(void **state)
{
	struct xb_lifelines found = find("out0", ONLY(ADDRESS));

	(void)state;
	assert_non_null(look_up(&found, "10.77.0.2"));
	assert_string_equal(look_up(&found, "10.77.0.2")->why, "on out0");
	EXPECT(found, "10.77.0.1", "10.77.0.2", "10.78.0.1", "fd00:77::1", "fd00:77::2");
}

/* What was found before and is not now: gone where the survey saw something else. */
static void a_survey_denies_where_it_looked(void **state)
{
	static const struct {
		const char *address, *why;
		enum xb_lifeline_kind kind;
		bool denied;
	} rows[] = {
		{"10.99.0.7", "on br0", XB_LIFELINE_ADDRESS, true},
		{"fd00:99::7", "on br0", XB_LIFELINE_ADDRESS, false},
		{"10.99.0.7", "on br", XB_LIFELINE_ADDRESS, false},
		{"10.99.0.7", "on br0", XB_LIFELINE_GATEWAY, false},
		{"10.99.0.7", "default route of br0", XB_LIFELINE_GATEWAY, true},
		{"fd00:99::7", "default route of br0", XB_LIFELINE_GATEWAY, false},
		/* Not attached, nor above one that is. */
		{"10.77.0.7", "on out0", XB_LIFELINE_ADDRESS, true},
		{"fd00:77::7", "on out0", XB_LIFELINE_ADDRESS, true},
		{"10.77.0.7", "default route of out0", XB_LIFELINE_GATEWAY, true},
		{"10.77.0.7", "on far1", XB_LIFELINE_ADDRESS, false},
		{"10.77.0.7", "on gone0", XB_LIFELINE_ADDRESS, false},
		{"10.77.0.7", "default route of gone0", XB_LIFELINE_GATEWAY, false},
		/* Any resolv.conf speaks for all. */
		{"10.53.0.7", "/run/systemd/resolve/resolv.conf", XB_LIFELINE_RESOLVER, true},
		{"10.53.0.7", "/run/systemd/netif/leases/7", XB_LIFELINE_DHCP, true},
		{"10.53.0.7", "/run/systemd/netif/leases/8", XB_LIFELINE_DHCP, false},
	};
	struct xb_lifelines found;

	(void)state;
	write_file("/etc/resolv.conf", "nameserver 10.53.0.1\n");
	write_file("/run/systemd/netif/leases/7", "SERVER_ADDRESS=10.53.0.2\n");
	found = find("port0", ONLY(ADDRESS) | ONLY(GATEWAY) | ONLY(RESOLVER) | ONLY(DHCP));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xb_entry entry;

		assert_int_equal(xb_entry_parse(rows[i].address, strlen(rows[i].address), NULL,
						&entry, NULL),
				 0);
		if (xb_lifelines_deny(&found, &entry, rows[i].kind, rows[i].why,
				      strlen(rows[i].why)) != rows[i].denied)
			fail_msg("row %zu: %s %s", i, rows[i].address, rows[i].why);
	}
	assert_true(found.network);
	xb_lifelines_free(&found);
	found = find("far1", ONLY(ADDRESS));
	assert_false(found.network);
	xb_lifelines_free(&found);
	run("rm -r /run/systemd /etc/resolv.conf");
}

static void what_is_stacked_on_a_port_counts(void **state)
{
	(void)state;
	EXPECT(find("port0", ONLY(ADDRESS)), "10.99.0.1", "10.66.0.1");
	EXPECT(find("port0", ONLY(GATEWAY)), "10.99.0.254", "10.66.0.254");
	EXPECT(find("mv1", ONLY(ADDRESS)), "10.66.0.1");
}

static void gateways_of_all_tables_are_found(void **state)
{
	(void)state;
	for (int compatible = 1; compatible >= 0; compatible--) {
		/* 0: routes name their next hop object and say nothing else. */
		write_file("/proc/sys/net/ipv4/nexthop_compat_mode", compatible ? "1" : "0");
		EXPECT(find("out0", ONLY(GATEWAY)), "10.77.0.254", "10.77.0.100", "10.77.0.101",
		       "10.77.0.105", "fd00:77::66", "fd00:77::67", "fd00:77::ff", "fd00:77::fe",
		       "fd00:77::55");
		EXPECT(find("out1", ONLY(GATEWAY)), "10.88.0.254", "10.88.0.101", "10.88.0.103",
		       "10.88.0.105", "fd00:88::fe");
		EXPECT(find("far0", ONLY(ADDRESS) | ONLY(GATEWAY)), "10.55.0.1");
	}
}

/* --- files ------------------------------------------------------------------------------------ */

static void resolvers_are_read(void **state)
{
	(void)state;
	assert_int_equal(find("out0", ONLY(RESOLVER)).count, 0);
	write_file("/run/systemd/resolve/resolv.conf", "nameserver 10.0.0.99\n");
	write_file("/etc/resolv.conf", "# nameserver 10.0.0.7\nsearch 10.0.0.8\n"
				       "nameserver 10.0.0.53\nnameserver\tfe80::53%eth0 \n"
				       "nameserver 10.0.0.0/8\nnameserver\nnameserver 0.0.0.0\n"
				       "nameserver 10.0.0.53\r\nnameserver ::ffff:10.0.0.54");
	EXPECT(find("out0", ONLY(RESOLVER)), "10.0.0.53", "fe80::53", "10.0.0.54");
	write_file("/etc/resolv.conf", "nameserver 127.0.0.53\nnameserver 10.0.0.53\n");
	EXPECT(find("out0", ONLY(RESOLVER)), "10.0.0.53", "10.0.0.99");
}

static void time_servers_are_read(void **state)
{
	(void)state;
	write_file("/etc/chrony/chrony.conf", "pool 10.1.0.1 iburst\n#server 10.1.1.1\nSERVER "
					      "fd00:1::1\npool debian.pool.ntp.org\n");
	write_file("/etc/chrony/sources.d/a.sources", "server 10.1.0.2\nserver 127.0.0.1\n");
	write_file("/etc/chrony/sources.d/a.other", "server 10.1.1.2\n");
	write_file("/etc/chrony/conf.d/a.conf", "peer 10.1.0.3");
	write_file("/etc/ntpsec/ntp.conf", "server -4 10.1.0.4 iburst\nrestrict 10.1.1.4\n");
	write_file("/etc/ntp.conf", "  server 10.1.0.5\nserver\nserver -4\n");
	write_file("/etc/systemd/timesyncd.conf",
		   "[Time]\nNTP=10.1.0.6 fd00:1::6 ntp.example\nFallbackNTP = 10.1.0.7\n"
		   "#NTP=10.1.1.6\nRootDistanceMaxSec=5\n");
	EXPECT(find("out0", ONLY(TIME)), "10.1.0.1", "fd00:1::1", "10.1.0.2", "10.1.0.3",
	       "10.1.0.4", "10.1.0.5", "10.1.0.6", "fd00:1::6", "10.1.0.7");
	run("rm -r /etc/chrony /etc/ntpsec /etc/ntp.conf /etc/systemd");
}

static void dhcp_servers_are_read(void **state)
{
	(void)state;
	write_file("/run/systemd/netif/leases/2",
		   "ADDRESS=10.77.0.1\nSERVER_ADDRESS=10.2.0.1\nROUTER=10.2.0.9\n");
	write_file("/var/lib/dhcp/dhclient.eth0.leases",
		   "lease {\n  option routers 10.2.0.9;\n"
		   "  option dhcp-server-identifier 10.2.0.8;\n}\n"
		   "lease {\n  option dhcp-server-identifier 10.2.0.2;\n}\n");
	write_file("/var/lib/dhcp/dhclient.eth1.leases",
		   "lease {\n  option dhcp-server-identifier 10.2.0.3;\n}\n");
	EXPECT(find("out0", ONLY(DHCP)), "10.2.0.1", "10.2.0.2", "10.2.0.3");
}

/* It is told about and does not hide the others. */
static void an_unreadable_file_is_a_notice(void **state)
{
	(void)state;
	write_file("/etc/ntp.conf", "server 10.1.0.5\n");
	run("mkdir -p /etc/chrony/conf.d; ln -s loop.conf /etc/chrony/conf.d/loop.conf");
	EXPECT(find("out0", ONLY(TIME)), "10.1.0.5");
	assert_non_null(strstr(notice, "/etc/chrony/conf.d/loop.conf"));
	run("rm -r /etc/chrony /etc/ntp.conf");
}

/* --- sockets ---------------------------------------------------------------------------------- */

static struct sockaddr_storage address(const char *text, uint16_t port)
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
static int connected(int type, const char *from, const char *to, uint16_t port)
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

static void connected_time_sockets_are_found(void **state)
{
	int fds[] = {
		connected(SOCK_DGRAM, NULL, "10.77.0.123", 123),
		connected(SOCK_DGRAM, NULL, "fd00:77::123", 123),
		connected(SOCK_DGRAM, NULL, "::ffff:10.77.0.124", 123),
		connected(SOCK_DGRAM, NULL, "10.77.0.125", 124),
		connected(SOCK_DGRAM, NULL, "127.0.0.1", 123),
	};

	(void)state;
	EXPECT(find("out0", ONLY(TIME)), "10.77.0.123", "fd00:77::123", "10.77.0.124");
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/* One that answers, sees our environment if it can, and then does not end. */
static void chronyc_is_asked_for_a_second(void **state)
{
	struct timespec before, after;
	double seconds;

	(void)state;
	run("cp -L /bin/sh /run/sh");
	write_file("/run/bin/chronyc", "#!/run/sh\n"
				       "[ \"$*\" = '-n -c sources' ] || exit\n"
				       "echo '^,*,10.3.0.1,2,6,377,12,0.1,0.1,0.1'\n"
				       "echo '=,+,fd00:3::1,2,6,377,12,0.1,0.1,0.1'\n"
				       "echo '#,*,PPS0,0,4,377,12,0.1,0.1,0.1'\n"
				       "[ -z \"$XBT_SECRET\" ] || echo '^,*,10.3.0.9,2,6'\n"
				       "echo '506 Cannot talk to daemon'\n"
				       "while :; do :; done\n");
	run("chmod 755 /run/bin/chronyc");
	setenv("XBT_SECRET", "1", 1);
	assert_int_equal(mount("/run/bin", "/usr/bin", "none", MS_BIND, NULL), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	EXPECT(find("out0", ONLY(TIME)), "10.3.0.1", "fd00:3::1");
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_int_equal(umount("/usr/bin"), 0);
	seconds = (double)(after.tv_sec - before.tv_sec) +
		  (double)(after.tv_nsec - before.tv_nsec) / 1e9;
	assert_true(seconds > 0.9 && seconds < 5);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* --- sessions --------------------------------------------------------------------------------- */

#define SPARE 100 /* descriptors from here on wait for the process they are for */
#define PIPE  200

/* valgrind 3.19 knows no pidfd_open(), Linux has it since 5.3. */
static void need_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0 && errno == ENOSYS) {
		printf("pidfd_open() is not known here\n");
		skip();
	}
	close(fd);
}

/* A process of a tree: its name, and sockets to have as descriptors 10, 11, 12. */
struct level {
	const char *name;
	int sockets[3];
};

struct report {
	int count;
	struct xb_session found[4];
	pid_t outermost;
};

static int spare(int fd)
{
	int moved = fcntl(fd, F_DUPFD, SPARE);

	assert_true(moved >= SPARE && moved < PIPE);
	close(fd);
	return moved;
}

static void take_on(const struct level *level)
{
	prctl(PR_SET_NAME, level->name);
	close_range(3, SPARE - 1, 0);
	for (int i = 0; i < 3; i++)
		if (level->sockets[i])
			dup2(level->sockets[i], 10 + i);
	close_range(SPARE, PIPE - 1, 0);
}

/* Goes on in a child of this process, which becomes what the level says before the child starts. */
static void step_down(const struct level *level)
{
	char byte = 0;
	int go[2];

	if (pipe(go))
		_exit(1);
	if (fork()) {
		dup2(go[1], PIPE + 1);
		take_on(level);
		if (write(PIPE + 1, &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	close(go[0]);
	close(go[1]);
}

/* Asks from below the levels, the outermost first, a nameless one last; they live until dismissed.
 */
static struct report ask_below(const struct level *levels, size_t room)
{
	struct report report = {0};
	pid_t outermost;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	outermost = fork();
	if (!outermost) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], PIPE);
		for (; levels->name; levels++)
			step_down(levels);
		report.count = xb_session_current(report.found, room);
		_exit(write(PIPE, &report, sizeof(report)) != sizeof(report));
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &report, sizeof(report)), sizeof(report));
	close(ends[0]);
	report.outermost = outermost;
	return report;
}

static void dismiss(const struct report *report)
{
	kill(report->outermost, SIGKILL);
	waitpid(report->outermost, NULL, 0);
}

struct connection {
	int client, server; /* server: a spare descriptor */
	uint16_t port;	    /* of the client */
};

/* family: of the listener; AF_INET6 sees IPv4 as mapped. */
static struct connection make_connection(int family, const char *from, const char *to)
{
	int listener = socket(family, SOCK_STREAM, 0);
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family}, name;
	struct sockaddr_in *ipv4 = (void *)&name;
	socklen_t size = sizeof(name);
	struct connection made;

	assert_int_equal(bind(listener, (void *)&any, sizeof(any)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (void *)&name, &size), 0);
	/* The port is at the same place in both families. NOLINTNEXTLINE(clang-analyzer-*): set */
	made.client = spare(connected(SOCK_STREAM, from, to, ntohs(ipv4->sin_port)));
	made.server = spare(accept(listener, NULL, NULL));
	size = sizeof(name);
	assert_int_equal(getsockname(made.client, (void *)&name, &size), 0);
	made.port = ntohs(ipv4->sin_port);
	close(listener);
	return made;
}

static void drop(struct connection *connection)
{
	close(connection->client);
	close(connection->server);
}

static void expect_peer(const struct xb_session *session, const char *peer,
			const struct connection *connection)
{
	char text[XB_ENTRY_TEXT];

	assert_string_equal(xb_entry_format(&session->peer, text), peer);
	assert_int_equal(session->peer_port, connection->port);
}

static void a_session_is_found_and_dies(void **state)
{
	static const struct {
		int family;
		const char *peer, *local, *name;
	} rows[] = {
		{AF_INET, "10.77.0.2", "10.77.0.1", "sshd"},
		{AF_INET6, "10.77.0.2", "10.77.0.1", "sshd-session"},
		{AF_INET6, "fd00:77::2", "fd00:77::1", "dropbear"},
		{AF_INET, "10.77.0.2", "10.77.0.1", "sshd: a) (b 1"},
	};

	(void)state;
	need_pidfd();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct connection way =
			make_connection(rows[i].family, rows[i].peer, rows[i].local);
		struct level levels[] = {
			{rows[i].name, {way.server}}, {"bash", {0}}, {"su", {0}}, {0}};
		struct report report = ask_below(levels, 4);
		struct xb_session other;

		assert_int_equal(report.count, 1);
		expect_peer(&report.found[0], rows[i].peer, &way);
		assert_int_equal(report.found[0].pid, report.outermost);
		assert_true(xb_session_lives(&report.found[0]));
		other = report.found[0];
		/* A time namespace may shift it by part of a tick. */
		other.started++;
		assert_true(xb_session_lives(&other));
		other.started++;
		assert_false(xb_session_lives(&other));
		other.started -= 4;
		assert_false(xb_session_lives(&other));
		kill(report.outermost, SIGKILL);
		waitid(P_PID, (id_t)report.outermost, NULL, WEXITED | WNOWAIT);
		assert_false(xb_session_lives(&report.found[0]));
		dismiss(&report);
		assert_false(xb_session_lives(&report.found[0]));
		drop(&way);
	}
}

/* Below it a listening and a local socket, above it one that the server opened for a tunnel. */
static void the_lowest_connection_is_the_session(void **state)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection tunnel = make_connection(AF_INET, "10.77.0.1", "10.88.0.1");
	int listener = spare(socket(AF_INET, SOCK_STREAM, 0)), pair[2];
	struct level levels[] = {{"sshd", {0, way.server, tunnel.client}}, {"sh", {0}}, {0}};
	struct report report;

	(void)state;
	need_pidfd();
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pair[0] = spare(pair[0]);
	pair[1] = spare(pair[1]);
	for (int i = 0; i < 2; i++) {
		levels[0].sockets[0] = i ? listener : pair[0];
		report = ask_below(levels, 4);
		assert_int_equal(report.count, 1);
		expect_peer(&report.found[0], "10.77.0.2", &way);
		dismiss(&report);
	}
	close(listener);
	close(pair[0]);
	close(pair[1]);
	drop(&way);
	drop(&tunnel);
}

static void nested_sessions_are_all_found(void **state)
{
	struct connection outer = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection inner = make_connection(AF_INET, "10.88.0.1", "10.77.0.1");
	struct level levels[] = {{"sshd", {outer.server}}, {"sh", {0}}, {"sshd", {inner.server}},
				 {"sshd", {inner.server}}, {"sh", {0}}, {0}};
	struct report report;

	(void)state;
	need_pidfd();
	report = ask_below(levels, 4);
	assert_int_equal(report.count, 2);
	expect_peer(&report.found[0], "10.88.0.1", &inner);
	expect_peer(&report.found[1], "10.77.0.2", &outer);
	assert_int_equal(report.found[1].pid, report.outermost);
	dismiss(&report);
	report = ask_below(levels, 1);
	assert_int_equal(report.count, 1);
	expect_peer(&report.found[0], "10.88.0.1", &inner);
	dismiss(&report);
	drop(&outer);
	drop(&inner);
}

static void without_a_session_there_is_none(void **state)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection local = make_connection(AF_INET, "127.0.0.1", "127.0.0.1");
	struct level other[] = {{"nginx", {way.server}}, {"sh", {0}}, {0}};
	struct level listener[] = {{"sshd", {0}}, {"sh", {0}}, {0}};
	struct level looped[] = {{"sshd", {local.server, way.server}}, {"sh", {0}}, {0}};
	struct level *const trees[] = {other, listener, looped};
	struct xb_session session;

	(void)state;
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct report report = ask_below(trees[i], 4);

		assert_int_equal(report.count, 0);
		dismiss(&report);
	}
	assert_int_equal(xb_session_current(&session, 1), 0);
	assert_int_equal(xb_session_current(NULL, 0), 0);
	drop(&way);
	drop(&local);
}

static void the_environment_is_the_last_resort(void **state)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection told = {.port = 4444};
	struct level found[] = {{"sshd", {way.server}}, {"sh", {0}}, {0}};
	struct level hidden[] = {{"sshd", {0}}, {"sh", {0}}, {"sh", {0}}, {0}};
	struct level none[] = {{"tmux", {0}}, {0}};
	static const char *const bad[] = {"", "127.0.0.1 5 10.0.0.1 22", "host 5 10.0.0.1 22",
					  "10.9.9.9 70000 10.0.0.1 22", "10.9.9.9"};
	struct report report;

	(void)state;
	need_pidfd();
	setenv("SSH_CONNECTION", "10.9.9.9 4444 10.77.0.1 22", 1);
	report = ask_below(found, 4);
	assert_int_equal(report.count, 1);
	expect_peer(&report.found[0], "10.77.0.2", &way);
	dismiss(&report);
	for (int i = 0; i < 2; i++) {
		report = ask_below(i ? none : hidden, 4);
		assert_int_equal(report.count, 1);
		expect_peer(&report.found[0], "10.9.9.9", &told);
		assert_int_equal(report.found[0].pid, report.outermost);
		assert_true(xb_session_lives(&report.found[0]));
		dismiss(&report);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("SSH_CONNECTION", bad[i], 1);
		report = ask_below(none, 4);
		assert_int_equal(report.count, 0);
		dismiss(&report);
	}
	unsetenv("SSH_CONNECTION");
	drop(&way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(an_entry_is_listed_once_a_kind),
		cmocka_unit_test(no_kinds_find_nothing),
		cmocka_unit_test(addresses_are_those_of_the_interface),
		cmocka_unit_test(a_survey_denies_where_it_looked),
		cmocka_unit_test(what_is_stacked_on_a_port_counts),
		cmocka_unit_test(gateways_of_all_tables_are_found),
		cmocka_unit_test(resolvers_are_read),
		cmocka_unit_test(time_servers_are_read),
		cmocka_unit_test(dhcp_servers_are_read),
		cmocka_unit_test(an_unreadable_file_is_a_notice),
		cmocka_unit_test(connected_time_sockets_are_found),
		cmocka_unit_test(chronyc_is_asked_for_a_second),
		cmocka_unit_test(a_session_is_found_and_dies),
		cmocka_unit_test(the_lowest_connection_is_the_session),
		cmocka_unit_test(nested_sessions_are_all_found),
		cmocka_unit_test(without_a_session_there_is_none),
		cmocka_unit_test(the_environment_is_the_last_resort),
	};

	return cmocka_run_group_tests_name("lifeline", tests, begin, NULL);
}

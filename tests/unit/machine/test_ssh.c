/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sessions over ssh from which a command comes, found in trees of processes with sockets. */
#include <stdio.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/ssh.h"
#include "support/cmocka.h"
#include "support/ground.h"

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

/* NULL: no session is found below these levels, otherwise this one alone, that lives. */
static void expect_one(const struct level *levels, const char *peer, const struct connection *way)
{
	struct report report = ask_below(levels, 4);

	assert_int_equal(report.count, peer != NULL);
	if (peer) {
		expect_peer(&report.found[0], peer, way);
		assert_int_equal(report.found[0].pid, report.outermost);
		assert_true(xb_session_lives(&report.found[0]));
	}
	dismiss(&report);
}

TEST(a_session_is_found_and_dies)
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
TEST(the_lowest_connection_is_the_session)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection tunnel = make_connection(AF_INET, "10.77.0.1", "10.88.0.1");
	int listener = spare(socket(AF_INET, SOCK_STREAM, 0)), pair[2];
	struct level levels[] = {{"sshd", {0, way.server, tunnel.client}}, {"sh", {0}}, {0}};

	need_pidfd();
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pair[0] = spare(pair[0]);
	pair[1] = spare(pair[1]);
	for (int i = 0; i < 2; i++) {
		levels[0].sockets[0] = i ? listener : pair[0];
		expect_one(levels, "10.77.0.2", &way);
	}
	close(listener);
	close(pair[0]);
	close(pair[1]);
	drop(&way);
	drop(&tunnel);
}

TEST(nested_sessions_are_all_found)
{
	struct connection outer = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection inner = make_connection(AF_INET, "10.88.0.1", "10.77.0.1");
	struct level levels[] = {{"sshd", {outer.server}}, {"sh", {0}}, {"sshd", {inner.server}},
				 {"sshd", {inner.server}}, {"sh", {0}}, {0}};
	struct report report;

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

TEST(without_a_session_there_is_none)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection local = make_connection(AF_INET, "127.0.0.1", "127.0.0.1");
	struct level other[] = {{"nginx", {way.server}}, {"sh", {0}}, {0}};
	struct level listener[] = {{"sshd", {0}}, {"sh", {0}}, {0}};
	struct level looped[] = {{"sshd", {local.server, way.server}}, {"sh", {0}}, {0}};
	struct xb_session session;

	expect_one(other, NULL, &way);
	expect_one(listener, NULL, &way);
	expect_one(looped, NULL, &way);
	assert_int_equal(xb_session_current(&session, 1), 0);
	assert_int_equal(xb_session_current(NULL, 0), 0);
	drop(&way);
	drop(&local);
}

TEST(the_environment_is_the_last_resort)
{
	struct connection way = make_connection(AF_INET, "10.77.0.2", "10.77.0.1");
	struct connection told = {.port = 4444};
	struct level found[] = {{"sshd", {way.server}}, {"sh", {0}}, {0}};
	struct level hidden[] = {{"sshd", {0}}, {"sh", {0}}, {"sh", {0}}, {0}};
	struct level none[] = {{"tmux", {0}}, {0}};
	static const char *const bad[] = {"", "127.0.0.1 5 10.0.0.1 22", "host 5 10.0.0.1 22",
					  "10.9.9.9 70000 10.0.0.1 22", "10.9.9.9"};

	need_pidfd();
	setenv("SSH_CONNECTION", "10.9.9.9 4444 10.77.0.1 22", 1);
	expect_one(found, "10.77.0.2", &way);
	expect_one(hidden, "10.9.9.9", &told);
	expect_one(none, "10.9.9.9", &told);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("SSH_CONNECTION", bad[i], 1);
		expect_one(none, NULL, &told);
	}
	unsetenv("SSH_CONNECTION");
	drop(&way);
}

ALL_TESTS(begin, NULL);

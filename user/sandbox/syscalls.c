/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls of a client of TLS with a resolver in a thread. All others fail with EPERM: no
 * exec, no process, no bpf, no ptrace, no mount, no executable memory, and of sockets only IPv4 and
 * IPv6 and a connected pair, so none that reaches the sockets of bloomd. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "sandbox/sandbox.h"

static const int plain[] = {
	/* descriptors that it has */
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(fcntl),
	SCMP_SYS(dup),
	SCMP_SYS(pipe2),
	SCMP_SYS(eventfd2),
	/* files that it may see: /etc/resolv.conf and the like */
	SCMP_SYS(openat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(stat),
	SCMP_SYS(statx),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	/* the network */
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendmmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(shutdown),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(select),
	SCMP_SYS(pselect6),
	/* memory, threads, signals, time */
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(getrandom),
	SCMP_SYS(uname),
	SCMP_SYS(sysinfo),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

struct conditional {
	int call;
	struct scmp_arg_cmp condition;
};

#define MASKED(argument, mask, value)                                                              \
	{                                                                                          \
		argument, SCMP_CMP_MASKED_EQ, mask, value                                          \
	}
#define EQUAL(argument, value)                                                                     \
	{                                                                                          \
		argument, SCMP_CMP_EQ, value, 0                                                    \
	}

static const struct conditional conditional[] = {
	{SCMP_SYS(mmap), MASKED(2, PROT_EXEC, 0)},
	{SCMP_SYS(mprotect), MASKED(2, PROT_EXEC, 0)},
	{SCMP_SYS(clone), MASKED(0, CLONE_THREAD, CLONE_THREAD)},
	/* A datagram socket of a pair could still be connected to another. */
	{SCMP_SYS(socketpair), MASKED(1, 0xf, SOCK_STREAM)},
	{SCMP_SYS(ioctl), EQUAL(1, FIONBIO)},
	{SCMP_SYS(ioctl), EQUAL(1, FIONREAD)},
};

static const struct conditional sockets[] = {
	{SCMP_SYS(socket), EQUAL(0, AF_INET)},
	{SCMP_SYS(socket), EQUAL(0, AF_INET6)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* libcurl 7.88 connects also a socket that it is told to be connected: the call succeeds, and
 * nothing happens. */
static int fill_network(scmp_filter_ctx filter, bool connected)
{
	int error = seccomp_rule_add(filter, connected ? SCMP_ACT_ERRNO(0) : SCMP_ACT_ALLOW,
				     SCMP_SYS(connect), 0);

	for (size_t i = 0; !error && !connected && i < COUNT(sockets); i++)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, sockets[i].call, 1,
					       &sockets[i].condition);
	return error;
}

static int fill(scmp_filter_ctx filter, bool connected)
{
	int error = fill_network(filter, connected);

	for (size_t i = 0; !error && i < COUNT(plain); i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain[i], 0);
	for (size_t i = 0; !error && i < COUNT(conditional); i++)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, conditional[i].call, 1,
					       &conditional[i].condition);
	/* Its arguments are in memory, where no filter sees them: libc goes back to clone(). */
	return error ?: seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

const char *syscalls_restrict(bool connected)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int error = filter ? fill(filter, connected) : -ENOMEM;

	if (!error)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error ? "cannot give up system calls" : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534 /* user and group, also the kernel's overflow identity */

#define DESCRIPTORS 64

static bool limit(int resource, rlim_t most)
{
	return !setrlimit((__rlimit_resource_t)resource, &(struct rlimit){most, most});
}

static const char *limit_all(const struct sandbox_terms *terms)
{
	return limit(RLIMIT_AS, terms->memory) &&
			       (!terms->processor || limit(RLIMIT_CPU, terms->processor)) &&
			       limit(RLIMIT_FSIZE, terms->max_bytes) &&
			       limit(RLIMIT_NOFILE, DESCRIPTORS) && limit(RLIMIT_CORE, 0)
		       ? NULL
		       : "cannot limit itself";
}

/* False: it stays root, because bloomd has no CAP_SETUID, or because there is no such user in its
 * user namespace. */
static bool drop_user(void)
{
	if (geteuid())
		return true;
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY);
}

static const char *drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &header, none))
		return "cannot give up its capabilities";
	return NULL;
}

/* Before the user changes, while it may; what is not in it can never come back. */
static void drop_bounds(void)
{
	for (int one = 0; !prctl(PR_CAPBSET_DROP, one, 0, 0, 0); one++)
		;
}

/* The structure of the newest kernel known here; older ones take its beginning. */
struct ruleset {
	uint64_t files, net, scope;
};

#define NET_BIND_TCP   1U
#define SCOPE_ABSTRACT 1U
#define SCOPE_SIGNAL   2U

static size_t describe(int abi, struct ruleset *rules)
{
	/* Bits of files: 13 at first, then REFER, TRUNCATE, and from 5 on IOCTL_DEV. */
	int bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi == 2 ? 14 : 13;

	*rules = (struct ruleset){.files = (1U << bits) - 1,
				  .net = abi >= 4 ? NET_BIND_TCP : 0,
				  .scope = abi >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0};
	return abi >= 6 ? sizeof(*rules) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

/* Files that the resolver of libc reads. Certificates are in memory by now. */
static bool permit_files(int ruleset)
{
	static const char *const files[] = {"/etc/resolv.conf",	  "/etc/hosts",
					    "/etc/nsswitch.conf", "/etc/gai.conf",
					    "/etc/host.conf",	  "/etc/services"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct landlock_path_beneath_attr rule = {
			.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
			.parent_fd = open(files[i], O_PATH | O_CLOEXEC)};

		if (rule.parent_fd < 0)
			continue;
		if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
			return false;
		close(rule.parent_fd);
	}
	return true;
}

/* needed: to go on without it is not safe. */
static const char *drop_files(bool needed)
{
	static const char failed[] = "cannot give up the file system";
	int abi =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset rules;
	bool done;
	int ruleset;

	if (abi < 0)
		return needed ? "it cannot become another user, and the kernel has no Landlock"
			      : NULL;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, describe(abi, &rules), 0);
	if (ruleset < 0)
		return failed;
	done = permit_files(ruleset) && !syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
	return done ? NULL : failed;
}

const char *sandbox_enter(const struct sandbox_terms *terms)
{
	pid_t parent = getppid();
	const char *failed;
	bool other;

	drop_bounds();
	failed = limit_all(terms);
	other = drop_user();
	if (!failed)
		failed = drop_capabilities();
	/* A change of the user has cleared the first of these. */
	if (!failed && (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent ||
			prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)))
		failed = "cannot end with its parent";
	if (!failed)
		failed = drop_files(!other);
	return failed ?: syscalls_restrict(terms->connected);
}

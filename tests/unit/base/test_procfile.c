/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the kernel, read at once; and the PID namespace, of which a child may have another. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfile.h"
#include "support/cmocka.h"

/* A file with these bytes: under valgrind this thread has another name of its own. */
static const char *named(const char *name)
{
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	return "/proc/thread-self/comm";
}

TEST(a_file_is_read)
{
	char text[64];

	assert_int_equal(xb_procfile_read(named("a name"), text, sizeof(text)), 7);
	assert_string_equal(text, "a name\n");
}

TEST(a_small_room)
{
	char text[5];

	assert_int_equal(xb_procfile_read(named("a name"), text, sizeof(text)), 4);
	assert_string_equal(text, "a na");
}

TEST(what_cannot_be_read)
{
	char text[8] = "before";

	assert_int_equal(xb_procfile_read("/proc/self/nothing", text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(text, "");
	assert_int_equal(xb_procfile_read("/proc/self", text, sizeof(text)), -1);
	assert_int_equal(errno, EISDIR);
	assert_string_equal(text, "");
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

TEST(the_pid_namespace_is_ours)
{
	uint64_t ours = inode_of("/proc/self/ns/pid");

	for (int i = 0; i < 2; i++)
		assert_int_equal(xb_pid_namespace(), ours);
}

/* Of a child that is in another one, while its parent has asked for its own. */
static int ask_in_another(void)
{
	uint64_t former = xb_pid_namespace();
	pid_t child;
	int status;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		return 77;
	child = fork();
	if (!child)
		_exit(xb_pid_namespace() == former);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TEST(a_child_has_its_own)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(ask_in_another());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no other PID namespace can be made\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

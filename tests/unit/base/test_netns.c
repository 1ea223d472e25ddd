/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Network namespaces: which are the same, how to enter one, and which are gone. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/netns.h"
#include "support/cmocka.h"

#define EXAMPLE "nsenter --net=/run/netns/NAME"

static const char *const name = "xbt'name";

/* A mount namespace, which goes with the process. */
static int begin(void **state)
{
	return unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	       mount("xbt", "/run", "tmpfs", 0, "mode=0755") || mkdir("/run/netns", 0755);
}

/* A child in a namespace of its own, until it is killed. */
static pid_t another(struct xb_netns *netns)
{
	int told[2];
	pid_t child;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (!unshare(CLONE_NEWNET)) {
			*netns = xb_netns_self();
			if (write(told[1], netns, sizeof(*netns)) == sizeof(*netns))
				pause();
		}
		_exit(1);
	}
	close(told[1]);
	assert_int_equal(read(told[0], netns, sizeof(*netns)), sizeof(*netns));
	close(told[0]);
	return child;
}

static void end_of(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

TEST(the_same_and_others)
{
	struct xb_netns self = xb_netns_self(), again = xb_netns_self(), other;
	pid_t child = another(&other);

	assert_true(self.cookie != 0 && self.inode != 0);
	assert_true(xb_netns_same(&self, &again));
	assert_false(xb_netns_same(&self, &other));
	assert_false(xb_netns_same(&other, &self));
	assert_false(xb_netns_is_initial(&other));
	end_of(child);
	/* By the cookie alone: an inode may be used again. */
	other.inode = self.inode;
	assert_false(xb_netns_same(&self, &other));
	again.inode++;
	assert_true(xb_netns_same(&self, &again));
	/* What cannot be determined is not held against it. */
	other.cookie = 0;
	assert_true(xb_netns_same(&self, &other));
	assert_true(xb_netns_same(&other, &self));
}

TEST(the_initial_one)
{
	const struct xb_netns first = {1, 77}, numbered = {77, 0xEFFFFFF9U}, none = {0, 0};

	assert_true(xb_netns_is_initial(&first));
	assert_true(xb_netns_is_initial(&numbered));
	assert_false(xb_netns_is_initial(&none));
}

TEST(no_name_is_an_example)
{
	struct xb_netns none = {0}, other;
	char text[XB_NETNS_ENTER];
	pid_t child = another(&other);

	assert_false(xb_netns_enter(&none, text));
	assert_string_equal(text, EXAMPLE);
	assert_false(xb_netns_enter(&other, text));
	assert_string_equal(text, EXAMPLE);
	end_of(child);
}

static void bind_name(pid_t child, const char *path)
{
	char source[64];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
	snprintf(source, sizeof(source), "/proc/%d/ns/net", (int)child);
	assert_int_equal(mount(source, path, "none", MS_BIND, NULL), 0);
}

TEST(a_named_one_is_entered)
{
	char path[300], text[XB_NETNS_ENTER], expected[XB_NETNS_ENTER], longest[256];
	struct xb_netns other, former, unknown;
	pid_t child = another(&other);

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	bind_name(child, path);
	assert_true(xb_netns_enter(&other, text));
	snprintf(expected, sizeof(expected), "nsenter --net=%s", path);
	assert_string_equal(text, expected);
	end_of(child);
	/* The name keeps it. */
	assert_false(xb_netns_is_gone(&other));
	assert_true(xb_netns_enter(&other, text));
	unknown = former = other;
	/* Another one had its inode before. */
	former.cookie++;
	assert_false(xb_netns_enter(&former, text));
	assert_string_equal(text, EXAMPLE);
	assert_true(xb_netns_is_gone(&former));
	unknown.cookie = 0;
	assert_true(xb_netns_enter(&unknown, text));
	assert_false(xb_netns_is_gone(&unknown));
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_false(xb_netns_enter(&other, text));
	assert_true(xb_netns_is_gone(&other));

	child = another(&other);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	snprintf(path, sizeof(path), "/run/netns/%s", longest);
	bind_name(child, path);
	assert_true(xb_netns_enter(&other, text));
	assert_int_equal(strlen(text), strlen("nsenter --net=") + strlen(path));
	end_of(child);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

TEST(gone_with_its_last_process)
{
	struct xb_netns other, self = xb_netns_self(), unknown = {0};
	pid_t child = another(&other);
	struct xb_netns former = {other.cookie + 1, other.inode};

	assert_false(xb_netns_is_gone(&other));
	assert_true(xb_netns_is_gone(&former));
	end_of(child);
	assert_true(xb_netns_is_gone(&other));
	assert_false(xb_netns_is_gone(&self));
	assert_false(xb_netns_is_gone(&unknown));
	/* Ours has its inode by now. */
	other.inode = self.inode;
	assert_true(xb_netns_is_gone(&other));
	self.cookie = 0;
	assert_false(xb_netns_is_gone(&self));
}

ALL_TESTS(begin, NULL);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks between processes, their numbers, and what is said where they cannot be had. */
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/patience.h"
#include "support/child.h"

/* A mount of its own, which goes with the process. */
static const char folder[] = "/mnt";

static int refused; /* errno of every flock(2); 0: the kernel answers */

int flock(int fd, int operation)
{
	if (refused) {
		errno = refused;
		return -1;
	}
	return (int)syscall(SYS_flock, fd, operation);
}

static int mounted(void **state)
{
	umask(0);
	return own_mounts();
}

static int begin(void **state)
{
	xb_patience_set(0);
	xb_error_clear();
	return mount("xbt", folder, "tmpfs", 0, "mode=0755");
}

static int end(void **state)
{
	refused = 0;
	xb_locks_drop();
	return umount2(folder, MNT_DETACH);
}

/* A child that holds the lock until it is killed. */
static struct child holder_of(const char *name)
{
	struct child child = child_begin();
	char byte;

	if (!child.pid) {
		int lock = xb_lock(folder, name);

		if (lock < 0 || xb_lock_note(lock, 4711))
			_exit(1);
		child_tell(&child, "x", 1);
		pause();
	}
	assert_true(child_told(&child, &byte, 1));
	return child;
}

static void read_only(void)
{
	assert_int_equal(mount("none", folder, "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
}

TEST(taken_and_given_back)
{
	uint64_t number = 1;
	int lock = xb_lock(folder, XB_WRITER_LOCK);

	assert_true(lock >= 0);
	assert_int_equal(fcntl(lock, F_GETFD), FD_CLOEXEC);
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_int_equal(number, 0);
	assert_int_equal(xb_try_lock(folder, XB_WRITER_LOCK), -EWOULDBLOCK);
	assert_string_equal(xb_error_message(), "");
	assert_int_equal(xb_lock_note(lock, UINT64_MAX), 0);
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_true(number == UINT64_MAX);
	xb_unlock(lock);
	assert_false(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	/* The locks do not know each other. */
	assert_false(xb_lock_is_held(folder, XB_BUILDER_LOCK, &number));
	assert_int_equal(number, 0);
	lock = xb_try_lock(folder, XB_WRITER_LOCK);
	assert_true(lock >= 0);
	xb_unlock(lock);
	xb_unlock(-1);
}

TEST(gone_with_the_process)
{
	struct child child = holder_of(XB_WRITER_LOCK);
	uint64_t number;
	int lock;

	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_int_equal(number, 4711);
	child_end(&child, SIGKILL);
	assert_false(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	lock = xb_lock(folder, XB_WRITER_LOCK);
	assert_true(lock >= 0);
	xb_unlock(lock);
}

TEST(whoever_is_in_the_way_is_named)
{
	struct child child = holder_of(XB_WRITER_LOCK);
	char expected[64], text[256];

	snprintf(expected, sizeof(expected), "process %d (`", (int)child.pid);
	assert_int_equal(xb_lock(folder, XB_WRITER_LOCK), -EBUSY);
	assert_non_null(strstr(xb_error_message(), expected));
	assert_non_null(strstr(xb_error_message(), "holds /mnt/writer.lock"));
	xb_patience_set(1);
	assert_int_equal(xb_lock(folder, XB_WRITER_LOCK), -EBUSY);
	assert_non_null(strstr(xb_error_message(), "gave up after waiting 1 s: process "));
	assert_true(xb_lock_holder(folder, XB_WRITER_LOCK, text, sizeof(text)));
	assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
	child_end(&child, SIGKILL);
	assert_false(xb_lock_holder(folder, XB_WRITER_LOCK, text, sizeof(text)));
}

/* Who only looks makes no file. */
TEST(looking_makes_nothing)
{
	char text[64], path[64];

	assert_false(xb_lock_holder(folder, XB_WRITER_LOCK, text, sizeof(text)));
	snprintf(path, sizeof(path), "%s/%s", folder, XB_WRITER_LOCK);
	assert_int_equal(access(path, F_OK), -1);
	xb_locks_make(folder);
	assert_int_equal(access(path, F_OK), 0);
	assert_false(xb_lock_holder(folder, XB_WRITER_LOCK, text, sizeof(text)));
	xb_locks_make("/mnt/missing");
	assert_string_equal(xb_error_message(), "");
}

TEST(another_kind_of_file_is_no_lock)
{
	char text[64];
	uint64_t number = 1;

	assert_int_equal(mkfifo("/mnt/" XB_WRITER_LOCK, 0660), 0);
	assert_true(xb_lock(folder, XB_WRITER_LOCK) < 0);
	assert_non_null(strstr(xb_error_message(), "not a regular file"));
	assert_true(xb_try_lock(folder, XB_WRITER_LOCK) < 0);
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_int_equal(number, 0);
	assert_false(xb_lock_holder(folder, XB_WRITER_LOCK, text, sizeof(text)));
}

TEST(kept_for_several_steps)
{
	int first = xb_lock(folder, XB_WRITER_LOCK), second;
	uint64_t number;

	xb_lock_keep(XB_WRITER_LOCK, first);
	xb_lock_keep(XB_BUILDER_LOCK, -1);
	second = xb_lock(folder, XB_WRITER_LOCK);
	assert_true(second >= 0 && second != first);
	assert_int_equal(fcntl(second, F_GETFD), FD_CLOEXEC);
	/* One is enough: the other descriptor of it goes. */
	xb_lock_keep(XB_WRITER_LOCK, second);
	assert_int_equal(fcntl(second, F_GETFD), -1);
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	first = xb_lock(folder, XB_BUILDER_LOCK);
	assert_true(first >= 0);
	xb_lock_keep(XB_BUILDER_LOCK, first);
	assert_true(xb_lock_is_held(folder, XB_BUILDER_LOCK, &number));
	xb_locks_drop();
	assert_false(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_false(xb_lock_is_held(folder, XB_BUILDER_LOCK, &number));
	xb_locks_drop();
}

#define TURNS 20

/* Takes it as soon as it has given it back. */
static void take_again_and_again(volatile uint32_t *times)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	xb_patience_set(60);
	for (;;) {
		int lock = xb_lock(folder, XB_WRITER_LOCK);

		(*times)++;
		usleep(2000);
		xb_unlock(lock);
	}
}

TEST(those_who_wait_have_their_turn)
{
	volatile uint32_t *times = mmap(NULL, sizeof(*times), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sigaction before, after;
	uint32_t passed = 0;
	struct child child;

	assert_ptr_not_equal(times, MAP_FAILED);
	assert_int_equal(sigaction(SIGALRM, NULL, &before), 0);
	child = child_begin();
	if (!child.pid)
		take_again_and_again(times);
	for (int i = 0; i < TURNS; i++) {
		uint32_t seen = *times;
		int lock;

		while (*times == seen) /* the other one has had it again */
			usleep(1000);
		seen = *times;
		xb_patience_set(10);
		lock = xb_lock(folder, XB_WRITER_LOCK);
		assert_true(lock >= 0);
		passed += *times - seen;
		xb_unlock(lock);
	}
	child_end(&child, SIGKILL);
	printf("%u times somebody else first\n", passed);
	assert_true(passed <= 4 * TURNS);
	/* The library installs no handler to end a wait: the program may. */
	assert_int_equal(sigaction(SIGALRM, NULL, &after), 0);
	assert_ptr_equal(before.sa_handler, after.sa_handler);
}

/* Others get as far as they would without a front. */
TEST(a_lock_that_cannot_be_written_has_no_front)
{
	int lock;

	xb_locks_make(folder);
	read_only();
	xb_patience_set(1);
	lock = xb_lock(folder, XB_WRITER_LOCK);
	assert_true(lock >= 0);
	assert_string_equal(xb_error_message(), "");
	xb_unlock(lock);
}

TEST(the_directory_is_a_lock)
{
	int lock = xb_lock_opening(folder);

	assert_true(lock >= 0);
	assert_int_equal(xb_lock_opening(folder), -EBUSY);
	assert_non_null(strstr(xb_error_message(), folder));
	xb_unlock(lock);
	read_only();
	lock = xb_lock_opening(folder);
	assert_true(lock >= 0);
	xb_unlock(lock);
	assert_int_equal(xb_lock_opening("/mnt/missing"), -ENOENT);
	assert_non_null(strstr(xb_error_message(), "/mnt/missing"));
}

TEST(readers_keep_writers_out_together)
{
	uint64_t number;
	int one, two;

	assert_int_equal(xb_lock_out_writers(folder, &one), 0);
	assert_int_equal(xb_lock_out_writers(folder, &two), 0);
	assert_int_equal(xb_lock(folder, XB_WRITER_LOCK), -EBUSY);
	xb_unlock(one);
	assert_int_equal(xb_lock(folder, XB_WRITER_LOCK), -EBUSY);
	xb_unlock(two);
	one = xb_lock(folder, XB_WRITER_LOCK);
	assert_true(one >= 0);
	assert_int_equal(xb_lock_out_writers(folder, &two), -EBUSY);
	assert_int_equal(two, -1);
	xb_lock_keep(XB_WRITER_LOCK, one);
	assert_int_equal(xb_lock_out_writers(folder, &two), 0);
	assert_true(two >= 0);
	xb_unlock(two);
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
}

TEST(nothing_to_lock_where_nothing_is_written)
{
	int lock = 77;

	read_only();
	assert_int_equal(xb_lock_out_writers(folder, &lock), 0);
	assert_int_equal(lock, -1);
	lock = 77;
	assert_int_equal(xb_lock_pid_namespace(folder, &lock), 0);
	assert_int_equal(lock, -1);
}

TEST(errors_give_no_lock)
{
	int lock = 77;

	assert_int_equal(xb_lock_out_writers("/mnt/missing", &lock), -ENOENT);
	assert_int_equal(lock, -1);
	lock = 77;
	assert_int_equal(xb_lock_pid_namespace("/mnt/missing", &lock), -ENOENT);
	assert_int_equal(lock, -1);
}

/* As on a file system without locks: nobody knows who has one. */
TEST(what_cannot_be_determined_is_held)
{
	uint64_t number = 1;
	int lock = 77;

	refused = ENOLCK;
	assert_true(xb_lock_is_held(folder, XB_WRITER_LOCK, &number));
	assert_int_equal(number, 0);
	assert_int_equal(xb_lock(folder, XB_WRITER_LOCK), -ENOLCK);
	assert_string_equal(xb_error_message(), "cannot lock /mnt/writer.lock: No locks available");
	assert_int_equal(xb_try_lock(folder, XB_WRITER_LOCK), -ENOLCK);
	assert_int_equal(xb_lock_opening(folder), -ENOLCK);
	assert_int_equal(xb_lock_pid_namespace(folder, &lock), -ENOLCK);
	assert_int_equal(lock, -1);
}

TEST(one_namespace_shares_a_directory)
{
	int first, second;

	assert_int_equal(xb_lock_pid_namespace(folder, &first), 0);
	assert_int_equal(xb_lock_pid_namespace(folder, &second), 0);
	assert_true(first >= 0 && second >= 0);
	xb_unlock(first);
	xb_unlock(second);
}

/* Returns what it says in a PID namespace of its own. */
static int from_another_namespace(char *message, size_t size)
{
	struct child child = child_begin();
	ssize_t got;

	if (!child.pid) {
		pid_t inner = unshare(CLONE_NEWPID | CLONE_NEWNS) ? -1 : fork();
		int lock = 77, error, status;

		if (inner)
			_exit(inner < 0 || waitpid(inner, &status, 0) < 0 ? 100
									  : WEXITSTATUS(status));
		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(102);
		error = xb_lock_pid_namespace(folder, &lock);
		child_tell(&child, xb_error_message(), strlen(xb_error_message()));
		_exit(error ? lock == -1 ? 1 : 2 : 0);
	}
	got = read(child.told, message, size - 1);
	message[got > 0 ? got : 0] = '\0';
	return child_end(&child, 0);
}

TEST(another_namespace_is_refused_meanwhile)
{
	char message[256];
	int lock;

	assert_int_equal(xb_lock_pid_namespace(folder, &lock), 0);
	assert_int_equal(from_another_namespace(message, sizeof(message)), 1);
	assert_string_equal(message, "/mnt is in use from another PID namespace; use one namespace "
				     "per state directory");
	xb_unlock(lock);
	assert_int_equal(from_another_namespace(message, sizeof(message)), 0);
	assert_int_equal(xb_lock_pid_namespace(folder, &lock), 0);
	xb_unlock(lock);
}

EACH_TEST(begin, end);
ALL_TESTS(mounted, NULL);

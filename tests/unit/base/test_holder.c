/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes in lock files: believed of a process that is there since before they were written, of no
 * other, and safe for a terminal whatever they hold. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/holder.h"
#include "base/text.h"
#include "support/cmocka.h"

static int lock = -1;

static int open_lock(void **state)
{
	char path[] = "/tmp/xb-holder-XXXXXX";

	lock = mkostemp(path, O_CLOEXEC);
	return lock < 0 || unlink(path);
}

static int close_lock(void **state)
{
	return close(lock);
}

static void sign(int argc, ...)
{
	char *argv[64] = {NULL};
	va_list arguments;

	va_start(arguments, argc);
	for (int i = 0; i < argc; i++)
		argv[i] = va_arg(arguments, char *);
	va_end(arguments);
	xb_holder_sign(argc, argv);
}

/* What a note of this process shows between the back quotes. */
static const char *noted(void)
{
	static char text[512];
	char *begin, *end;

	xb_holder_note(lock);
	xb_holder_describe(lock, text, sizeof(text));
	begin = strchr(text, '`');
	end = begin ? strchr(begin + 1, '`') : NULL;
	if (end) {
		*end = '\0';
		return begin + 1;
	}
	fail_msg("no command in \"%s\"", text);
	return "";
}

TEST_WITH(the_command_is_shown, open_lock, close_lock)
{
	char text[512], prefix[64];

	sign(3, "import", "-r", "file");
	assert_string_equal(noted(), "xdp-bloom import -r file");
	xb_holder_describe(lock, text, sizeof(text));
	snprintf(prefix, sizeof(prefix), "process %d (`xdp-bloom import -r file`, since 2",
		 (int)getpid());
	if (strncmp(text, prefix, strlen(prefix)) != 0 || strcmp(strchr(text, 0) - 2, "Z)") != 0)
		fail_msg("%s", text);
}

/* A program that does one task after another signs each. */
TEST_WITH(the_last_signature_counts, open_lock, close_lock)
{
	sign(2, "import", "a-long-name-of-a-file");
	sign(1, "up");
	assert_string_equal(noted(), "xdp-bloom up");
	sign(0);
	assert_string_equal(noted(), "xdp-bloom");
	sign(1, "");
	assert_string_equal(noted(), "xdp-bloom ");
}

TEST_WITH(long_commands_are_cut, open_lock, close_lock)
{
	char word[400];

	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	sign(2, word, "more");
	assert_int_equal(strlen(noted()), XB_COMMAND_TEXT - 1);
	for (size_t size = XB_COMMAND_TEXT - 14; size < XB_COMMAND_TEXT; size++) {
		word[size] = '\0';
		sign(3, word, "x", "y");
		assert_in_range(strlen(noted()), size, XB_COMMAND_TEXT - 1);
		word[size] = 'w';
	}
}

TEST_WITH(nothing_breaks_the_terminal, open_lock, close_lock)
{
	sign(2, "\033[2J`", "\xff\n");
	assert_string_equal(noted(), "xdp-bloom ?[2J? ??");
}

/* Without a note of its own: by the kernel's table of locks. */
TEST_WITH(a_lock_without_a_note, open_lock, close_lock)
{
	char text[512], prefix[64];

	assert_string_equal(xb_holder_describe(lock, text, sizeof(text)), "another process");
	assert_int_equal(flock(lock, LOCK_EX), 0);
	xb_holder_describe(lock, text, sizeof(text));
	snprintf(prefix, sizeof(prefix), "process %d (`", (int)getpid());
	assert_int_equal(strncmp(text, prefix, strlen(prefix)), 0);
	assert_null(strstr(text, "since"));
}

/* As in user/base/holder.c. */
struct note {
	uint64_t magic, namespace, taken;
	int64_t since;
	uint32_t process;
	char command[XB_COMMAND_TEXT];
};

#define PLACE 64

static struct note read_note(void)
{
	struct note note;

	sign(1, "up");
	xb_holder_note(lock);
	assert_int_equal(pread(lock, &note, sizeof(note), PLACE), sizeof(note));
	return note;
}

static const char *with(const struct note *note)
{
	static char text[512];

	assert_int_equal(pwrite(lock, note, sizeof(*note), PLACE), sizeof(*note));
	return xb_holder_describe(lock, text, sizeof(text));
}

TEST_WITH(notes_that_are_not_believed, open_lock, close_lock)
{
	const struct note good = read_note();
	struct note note = good;

	assert_non_null(strstr(with(&note), "`xdp-bloom up`"));
	note.magic ^= 1;
	assert_string_equal(with(&note), "another process");
	note = good;
	note.taken = 0; /* before this process was started */
	assert_string_equal(with(&note), "another process");
	note = good;
	note.process = UINT32_MAX; /* is not there */
	assert_string_equal(with(&note), "another process");
	note = good;
	note.since = INT64_MAX; /* no year */
	assert_string_equal(with(&note), "another process");
	note.since = INT64_MIN;
	assert_string_equal(with(&note), "another process");
	assert_int_equal(ftruncate(lock, PLACE + sizeof(note) - 1), 0);
	{
		char text[64];

		assert_string_equal(xb_holder_describe(lock, text, sizeof(text)),
				    "another process");
	}
}

TEST_WITH(a_note_of_another_namespace, open_lock, close_lock)
{
	struct note note = read_note();

	note.namespace ++;
	note.process = 812;
	note.since = 0;
	memset(note.command, '\033', sizeof(note.command)); /* without an end */
	assert_non_null(strstr(with(&note), "process 812 of another PID namespace (`????"));
	assert_non_null(strstr(with(&note), "?`, since 1970-01-01T00:00:00Z)"));
	/* Where it cannot be known, the process is looked for. */
	note = read_note();
	note.namespace = 0;
	assert_non_null(strstr(with(&note), "`xdp-bloom up`"));
	assert_null(strstr(with(&note), "another"));
}

TEST_WITH(small_rooms, open_lock, close_lock)
{
	char text[64];

	sign(1, "up");
	xb_holder_note(lock);
	for (size_t size = 1; size < 40; size++) {
		memset(text, 'z', sizeof(text));
		xb_holder_describe(lock, text, size);
		assert_int_equal(strlen(text), size - 1);
		assert_int_equal(text[size], 'z');
		xb_process_describe((uint32_t)getpid(), text, size);
		assert_int_equal(strlen(text), size - 1);
		assert_int_equal(text[size], 'z');
	}
}

TEST(a_process_that_is_not_there)
{
	struct xb_process process;
	char text[64];

	assert_false(xb_process_look(0, &process));
	assert_int_equal(process.number, 0);
	assert_string_equal(process.command, "");
	assert_false(xb_process_look(UINT32_MAX, &process));
	assert_false(process.stopped);
	assert_string_equal(xb_process_describe(UINT32_MAX, text, sizeof(text)),
			    "process 4294967295");
}

/* Its name has what ends a name in /proc/PID/stat; it stands still. */
TEST(a_process_that_stands_still)
{
	pid_t child = fork();
	struct xb_process process;
	char text[256];
	int status;

	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_NAME, ") R 1 (");
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(xb_process_look((uint32_t)child, &process));
	assert_true(process.stopped);
	assert_int_equal(process.number, child);
	assert_int_equal(strlen(process.since), strlen("2026-11-22T14:00:00Z"));
	xb_process_describe((uint32_t)child, text, sizeof(text));
	assert_non_null(strstr(text, "Z, stopped)"));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(xb_process_look((uint32_t)child, &process));
}

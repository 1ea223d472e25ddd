/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All bytes are written, or errno says why not. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/writeall.h"
#include "support/cmocka.h"

#define BYTES 1000000 /* a pipe takes 64 KiB at once */

TEST(through_a_pipe)
{
	char *bytes = malloc(BYTES), got[4096];
	size_t count = 0;
	ssize_t size;
	int ends[2], status;
	pid_t child;

	assert_non_null(bytes);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i % 251);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (!child)
		_exit(!xb_write_all(ends[1], bytes, BYTES));
	close(ends[1]);
	while ((size = read(ends[0], got, sizeof(got))) > 0) {
		assert_memory_equal(got, bytes + count, size);
		count += (size_t)size;
	}
	assert_int_equal(count, BYTES);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(ends[0]);
	free(bytes);
}

TEST(what_fails)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	assert_false(xb_write_all(full, "text", 4));
	assert_int_equal(errno, ENOSPC);
	assert_true(xb_write_all(full, "", 0));
	close(full);
	assert_false(xb_write_all(-1, "text", 4));
	assert_int_equal(errno, EBADF);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomset/entries.h"
#include "bloomset/lines.h"
#include "bloomset/number.h"
#include "lists/packing.h"
#include "lists/unpack.h"

#define SAMPLE_BYTES 65536

static bool is_packed(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[6];
	bool packed;

	if (fd < 0)
		return false;
	packed = read(fd, head, sizeof(head)) == sizeof(head) && xb_packing_of(head, sizeof(head));
	close(fd);
	return packed;
}

/* A pipe is not opened: its writer would lose what it writes until it is read. */
int input_look(struct input *input)
{
	bool is_stdin = !strcmp(input->path, "-");
	struct stat about;

	input->name = is_stdin ? "stdin" : input->path;
	if (is_stdin ? fstat(STDIN_FILENO, &about) : stat(input->path, &about)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return xb_input_error("%s: %s", input->name, strerror(errno));
		return xb_system_error(errno, "%s", input->name);
	}
	if (S_ISDIR(about.st_mode))
		return xb_input_error("%s: this is a directory, not a list", input->name);
	if (!S_ISREG(about.st_mode))
		return 0;
	input->again = !is_stdin;
	input->size = (uint64_t)about.st_size;
	input->packed = !is_stdin && is_packed(input->path);
	return 0;
}

/* Unpacked, as far as it can be: an error will come again when the file is read. */
static size_t read_sample(const struct input *input, char *text)
{
	int fd = open(input->path, O_RDONLY | O_CLOEXEC);
	struct xb_unpack *unpack = fd < 0 ? NULL : xb_unpack_open(fd, input->name, UINT64_MAX >> 1);
	size_t held = 0;
	ssize_t got = 1;

	if (unpack) {
		xb_unpack_bound(unpack, INPUT_UNPACKING_LEAST);
		xb_unpack_as_is(unpack);
	}
	while (unpack && got > 0 && SAMPLE_BYTES - held >= XB_UNPACK_ROOM) {
		got = xb_unpack_read(unpack, text + held, SAMPLE_BYTES - held);
		held += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		xb_error_clear();
	xb_unpack_close(unpack);
	if (fd >= 0)
		close(fd);
	return held;
}

int input_sample(const struct input *input, struct input_sample *sample)
{
	char *text = malloc(SAMPLE_BYTES), *end, *line;
	uint32_t number;
	size_t held;

	*sample = (struct input_sample){0};
	if (!text)
		return xb_out_of_memory();
	held = read_sample(input, text);
	end = held ? memrchr(text, '\n', held) : NULL;
	for (line = text; end && line <= end; line = (char *)memchr(line, '\n', SAMPLE_BYTES) + 1) {
		sample->lines++;
		sample->addresses += number_of_address(line, &number) != NULL;
		sample->integers += number_of_integer(line, &number) != NULL;
	}
	sample->bytes = (uint64_t)(line - text);
	free(text);
	return 0;
}

static int open_again(const struct input *input)
{
	if (!strcmp(input->path, "-"))
		return STDIN_FILENO;
	return open(input->path, O_RDONLY | O_CLOEXEC);
}

int input_read(struct input *input, const struct input_terms *terms, batch_taker *take, void *to)
{
	uint64_t until = input->readings ? input->bytes : 0;
	struct input_result result = {0};
	int error, fd;

	if (input->readings && !input->bytes)
		return 0;
	fd = open_again(input);
	if (fd < 0)
		return xb_system_error(errno, "%s", input->name);
	if (input->size)
		posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	error = (terms->lines ? lines_read : entries_read)(input, fd, until, terms, take, to,
							   &result);
	if (fd != STDIN_FILENO)
		close(fd);
	if (!error && input->readings && (result.bytes != input->bytes || result.sum != input->sum))
		error = xb_input_error("%s changed while it was read", input->name);
	if (!input->readings++) {
		input->bytes = result.bytes;
		input->sum = result.sum;
	}
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define BUFFER_BYTES (1U << 18)

static bool is_other(const char *path)
{
	struct stat about;

	return !stat(path, &about) && !S_ISREG(about.st_mode);
}

int output_open(struct output *output)
{
	int error;

	output->fd = STDOUT_FILENO;
	output->buffer = malloc(BUFFER_BYTES);
	if (!output->buffer)
		return xb_out_of_memory();
	if (!output->path || output->silent)
		return 0;
	if (!*output->path)
		return xb_input_error("the file to be written has an empty name");
	if (is_other(output->path)) {
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
		return output->fd < 0 ? xb_system_error(errno, "%s", output->path) : 0;
	}
	output->aside = true;
	error = xb_newfile_open(&output->file, output->path);
	output->fd = output->file.fd;
	return error;
}

static const char *name_of(const struct output *output)
{
	return output->path ?: "stdout";
}

static int write_out(struct output *output)
{
	size_t done = 0;

	while (done < output->used) {
		ssize_t wrote = write(output->fd, output->buffer + done, output->used - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0 && errno == EPIPE)
			return OUTPUT_UNREAD;
		if (wrote < 0)
			return xb_system_error(errno, "cannot write %s", name_of(output));
		done += (size_t)wrote;
	}
	output->bytes += output->used;
	output->used = 0;
	return 0;
}

static int put(struct output *output, const char *bytes, size_t size)
{
	while (size) {
		size_t part = BUFFER_BYTES - output->used;
		int error = part ? 0 : write_out(output);

		if (error)
			return error;
		part = part ?: BUFFER_BYTES;
		part = part < size ? part : size;
		memcpy(output->buffer + output->used, bytes, part);
		output->used += part;
		bytes += part;
		size -= part;
	}
	return 0;
}

int output_line(struct output *output, const char *text, size_t size)
{
	int error;

	output->lines++;
	if (output->silent)
		return 0;
	error = put(output, text, size);
	return error ?: put(output, "\n", 1);
}

/* The digits of a number, at `at`; returns what is behind them. */
static char *digits(char *at, uint32_t number)
{
	char text[10];
	size_t size = 0;

	do {
		text[size++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (size)
		*at++ = text[--size];
	return at;
}

#define LINE_BYTES 16

static int make_room(struct output *output)
{
	return output->used + LINE_BYTES > BUFFER_BYTES ? write_out(output) : 0;
}

int output_address(struct output *output, uint32_t address)
{
	int error;
	char *at;

	output->lines++;
	if (output->silent)
		return 0;
	error = make_room(output);
	if (error)
		return error;
	at = output->buffer + output->used;
	for (unsigned int shift = 32; shift;) {
		shift -= 8;
		at = digits(at, address >> shift & 0xff);
		*at++ = shift ? '.' : '\n';
	}
	output->used = (size_t)(at - output->buffer);
	return 0;
}

int output_integer(struct output *output, uint32_t integer)
{
	int error;
	char *at;

	output->lines++;
	if (output->silent)
		return 0;
	error = make_room(output);
	if (error)
		return error;
	at = digits(output->buffer + output->used, integer);
	*at++ = '\n';
	output->used = (size_t)(at - output->buffer);
	return 0;
}

int output_finish(struct output *output)
{
	int error = write_out(output);

	return error || !output->aside ? error : xb_newfile_finish(&output->file);
}

void output_close(struct output *output)
{
	if (output->aside)
		xb_newfile_close(&output->file);
	else if (output->fd > STDERR_FILENO)
		close(output->fd);
	free(output->buffer);
}

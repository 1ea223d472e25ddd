/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool is_other(const char *path)
{
	struct stat about;

	return !stat(path, &about) && !S_ISREG(about.st_mode);
}

int output_open(struct output *output)
{
	int error;

	error = behind_open(&output->behind, output->memory);
	if (error)
		return error;
	output->behind.fd = STDOUT_FILENO;
	if (!output->path || output->silent)
		return 0;
	if (!*output->path)
		return xb_input_error("the file to be written has an empty name");
	if (is_other(output->path)) {
		output->behind.fd = open(output->path, O_WRONLY | O_CLOEXEC);
		return output->behind.fd < 0 ? xb_system_error(errno, "%s", output->path) : 0;
	}
	output->aside = true;
	error = xb_newfile_open(&output->file, output->path);
	output->behind.fd = output->file.fd;
	return error;
}

static const char *name_of(const struct output *output)
{
	return output->path ?: "stdout";
}

static int check(const struct output *output, int failure)
{
	if (failure == EPIPE)
		return OUTPUT_UNREAD;
	return failure ? xb_system_error(failure, "cannot write %s", name_of(output)) : 0;
}

int output_line(struct output *output, const char *text, size_t size)
{
	int failure;

	output->lines++;
	if (output->silent)
		return 0;
	failure = behind_append(&output->behind, text, size);
	return check(output, failure ?: behind_append(&output->behind, "\n", 1));
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
	struct behind *behind = &output->behind;
	bool full = behind->used + LINE_BYTES > behind->room;

	return full ? check(output, behind_pass(behind)) : 0;
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
	at = output->behind.bytes + output->behind.used;
	for (unsigned int shift = 32; shift;) {
		shift -= 8;
		at = digits(at, address >> shift & 0xff);
		*at++ = shift ? '.' : '\n';
	}
	output->behind.used = (size_t)(at - output->behind.bytes);
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
	at = digits(output->behind.bytes + output->behind.used, integer);
	*at++ = '\n';
	output->behind.used = (size_t)(at - output->behind.bytes);
	return 0;
}

int output_finish(struct output *output)
{
	int error = check(output, behind_settle(&output->behind));

	return error || !output->aside ? error : xb_newfile_finish(&output->file);
}

void output_close(struct output *output)
{
	int fd = output->behind.fd;

	behind_close(&output->behind);
	if (output->aside)
		xb_newfile_close(&output->file);
	else if (fd > STDERR_FILENO)
		close(fd);
}

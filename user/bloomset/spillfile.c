/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/spillfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writeall.h"

/* In the file: extents, and where those before them are. */
struct index {
	uint64_t before;
	struct spill_extent extents[];
};

static uint64_t extent_bytes(const struct spillfile *file)
{
	return file->extents * sizeof(struct spill_extent);
}

const char *spill_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

int spill_file(void)
{
	const char *folder = spill_folder();
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	if (asprintf(&name, "%s/bloomset-XXXXXX", folder) < 0)
		return xb_out_of_memory();
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd >= 0 ? fd : xb_system_error(errno, "cannot make a file in %s (TMPDIR)", folder);
}

static int open_behind(struct spillfile *file)
{
	int error;

	file->behind = calloc(1, sizeof(*file->behind));
	if (!file->behind)
		return xb_out_of_memory();
	budget_use(file->budget, file->memory);
	error = behind_open(file->behind, file->memory);
	file->behind->fd = file->fd;
	return error;
}

static int open_file(struct spillfile *file)
{
	file->fd = spill_file();
	if (file->fd < 0)
		return file->fd;
	return file->memory ? open_behind(file) : 0;
}

void spillfile_close(struct spillfile *file)
{
	if (file->behind) {
		behind_close(file->behind);
		budget_return(file->budget, file->memory);
	}
	free(file->behind);
	file->behind = NULL;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static int check(int failure)
{
	return failure ? xb_system_error(failure, "cannot write to %s (TMPDIR)", spill_folder())
		       : 0;
}

int spillfile_settle(const struct spillfile *file)
{
	return file->behind ? check(behind_settle(file->behind)) : 0;
}

static int write_bytes(struct spillfile *file, const void *bytes, size_t size)
{
	file->end += size;
	file->written += size;
	if (file->behind)
		return check(behind_append(file->behind, bytes, size));
	return xb_write_all(file->fd, bytes, size) ? 0 : check(errno);
}

/* So that what tells where chunks are does not grow with them. */
static int write_index(struct spillfile *file, struct spill_chain *chain)
{
	struct index index = {chain->index};
	uint64_t at = file->end;
	int error = write_bytes(file, &index, sizeof(index));

	if (!error)
		error = write_bytes(file, chain->extents, extent_bytes(file));
	if (error)
		return error;
	chain->index = at;
	chain->indexes++;
	chain->count = 0;
	return 0;
}

static int make_extents(struct spillfile *file, struct spill_chain *chain)
{
	chain->extents = malloc(extent_bytes(file));
	if (!chain->extents)
		return xb_out_of_memory();
	budget_use(file->budget, extent_bytes(file));
	return 0;
}

int spillfile_put(struct spillfile *file, struct spill_chain *chain, const void *bytes, size_t size)
{
	struct spill_extent extent;
	int error = file->fd < 0 ? open_file(file) : 0;

	if (!error && !chain->extents)
		error = make_extents(file, chain);
	if (!error && chain->count == file->extents)
		error = write_index(file, chain);
	if (error)
		return error;
	extent = (struct spill_extent){file->end, size};
	error = write_bytes(file, bytes, size);
	if (error)
		return error;
	chain->extents[chain->count++] = extent;
	file->longest = size > file->longest ? size : file->longest;
	return 0;
}

static int read_bytes(const struct spillfile *file, uint64_t offset, void *out, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got =
			pread(file->fd, (uint8_t *)out + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return xb_system_error(got ? errno : 0,
					       "cannot read what was written to %s",
					       spill_folder());
		done += (size_t)got;
	}
	return 0;
}

struct reading {
	const struct spillfile *file;
	spillfile_taker *take;
	void *to;
	uint8_t *buffer;
	uint64_t *indexes; /* where they are, the first one first */
	struct spill_extent *extents;
};

static int give_extents(const struct reading *reading, const struct spill_extent *extents,
			uint32_t count)
{
	int stop = 0;

	for (uint32_t i = 0; !stop && i < count; i++) {
		stop = read_bytes(reading->file, extents[i].offset, reading->buffer,
				  extents[i].size);
		if (!stop)
			stop = reading->take(reading->to, reading->buffer, extents[i].size);
	}
	return stop;
}

/* Each index knows the one before. */
static int find_indexes(const struct reading *reading, const struct spill_chain *chain)
{
	uint64_t at = chain->index;
	int error = 0;

	for (uint32_t i = chain->indexes; !error && i--;) {
		reading->indexes[i] = at;
		error = read_bytes(reading->file, at, &at, sizeof(at));
	}
	return error;
}

static int give_indexes(const struct reading *reading, const struct spill_chain *chain)
{
	const struct spillfile *file = reading->file;
	int stop = find_indexes(reading, chain);

	for (uint32_t i = 0; !stop && i < chain->indexes; i++) {
		stop = read_bytes(file, reading->indexes[i] + sizeof(struct index),
				  reading->extents, extent_bytes(file));
		if (!stop)
			stop = give_extents(reading, reading->extents, file->extents);
	}
	return stop;
}

int spillfile_read(const struct spillfile *file, const struct spill_chain *chain,
		   spillfile_taker *take, void *to)
{
	struct reading reading = {
		.file = file,
		.take = take,
		.to = to,
		.buffer = malloc(file->longest),
		.indexes = calloc(chain->indexes + 1, sizeof(*reading.indexes)),
		.extents = malloc(extent_bytes(file)),
	};
	int stop = spillfile_settle(file);

	if (!reading.buffer || !reading.indexes || !reading.extents)
		stop = xb_out_of_memory();
	if (!stop)
		stop = give_indexes(&reading, chain);
	if (!stop)
		stop = give_extents(&reading, chain->extents, chain->count);
	free(reading.buffer);
	free(reading.indexes);
	free(reading.extents);
	return stop;
}

uint64_t spillfile_reading(const struct spillfile *file)
{
	return file->longest + (file->fd < 0 ? 0 : extent_bytes(file));
}

void spillfile_forget(struct spillfile *file, struct spill_chain *chain)
{
	if (chain->extents)
		budget_return(file->budget, extent_bytes(file));
	free(chain->extents);
	chain->extents = NULL;
	chain->count = chain->indexes = 0;
}

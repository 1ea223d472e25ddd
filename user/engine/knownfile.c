/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bits may change while they are written. Each word carries its date, so any moment of it will
 * do; and a source that was put in before the file was begun is in it whole. */
#include "engine/knownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/boot.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/memory.h"
#include "base/plainfile.h"
#include "base/writeall.h"

#define NEW_FILE "known.new"
#define MAGIC	 0x316e776f6e4b6258ULL /* "XbKnown1" */
#define CHUNK	 4096		       /* lines that are written at once */

/* Behind it the lines of all sets, and a CRC-32 of all before it. */
struct header {
	uint64_t magic;
	uint64_t written; /* seconds since 1970 */
	uint32_t up;	  /* the same moment in seconds since the boot */
	uint32_t layout;  /* XB_KNOWN_LAYOUT */
	uint8_t boot[16];
	struct xb_known state;
};
_Static_assert(sizeof(struct header) == 424, "read by every version");

/* What is read or written, and its checksum. */
struct stream {
	int fd;
	const char *path;
	uint32_t checksum;
};

static int put(struct stream *stream, const void *bytes, size_t size)
{
	stream->checksum = (uint32_t)crc32_z(stream->checksum, bytes, size);
	if (xb_write_all(stream->fd, bytes, size))
		return 0;
	return xb_system_error(errno, "cannot write %s", stream->path);
}

static int damaged(const char *path)
{
	xb_system_error(0, "%s is damaged, or no file of this program", path);
	return -EUCLEAN;
}

static int get(struct stream *stream, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	for (size_t left = size; left;) {
		ssize_t count = read(stream->fd, to, left);

		if (count < 0 && errno != EINTR)
			return xb_system_error(errno, "cannot read %s", stream->path);
		if (!count)
			return damaged(stream->path);
		to += count > 0 ? count : 0;
		left -= count > 0 ? (size_t)count : 0;
	}
	stream->checksum = (uint32_t)crc32_z(stream->checksum, bytes, size);
	return 0;
}

/* What is older than the period before is cleared in the kernel as well: so no date comes round as
 * long as somebody saves. */
static void tidy(struct xb_known_line *lines, uint32_t count, uint32_t now)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < XB_KNOWN_WORDS; j++) {
			uint64_t *word = (uint64_t *)&lines[i].word[j];
			uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

			if (!xb_known_is_current(old, now) && xb_known_age(old, now) != 1)
				__atomic_compare_exchange_n(word, &old, xb_known_turned(old, now),
							    false, __ATOMIC_SEQ_CST,
							    __ATOMIC_RELAXED);
		}
	}
}

static int put_set(struct stream *stream, struct xb_knownpins *known, uint32_t set, uint32_t count,
		   uint32_t now)
{
	struct xb_known_line *lines = xb_knownpins_lines(known, set);
	struct xb_known_line *chunk = malloc(CHUNK * sizeof(*chunk));
	int error = 0;

	if (!chunk)
		return xb_out_of_memory();
	for (uint32_t i = 0; !error && i < count; i += CHUNK) {
		uint32_t some = count - i < CHUNK ? count - i : CHUNK;

		tidy(&lines[i], some, now);
		memcpy(chunk, &lines[i], some * sizeof(*chunk));
		error = put(stream, chunk, some * sizeof(*chunk));
		xb_fault("known-half-written");
	}
	free(chunk);
	return error;
}

/* What the header says has to be in the file. So the sets are mapped first: one that comes later is
 * not among them, and the bits of one that ends stay. */
static int copy_state(struct xb_knownpins *known, struct xb_known *state)
{
	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++)
		if (known->set[i] >= 0)
			xb_knownpins_lines(known, i);
	*state = *known->known;
	return xb_knownpins_have(known, state)
		       ? 0
		       : xb_system_error(EAGAIN, "known sources are being changed");
}

__attribute__((noinline)) static int write_all(struct stream *stream, struct xb_knownpins *known)
{
	struct header header = {.magic = MAGIC,
				.written = (uint64_t)time(NULL),
				.up = xb_clock_boot(),
				.layout = XB_KNOWN_LAYOUT};
	uint32_t checksum, now = xb_known_turn(known->known, header.up);
	int error;

	xb_boot_identity(header.boot);
	error = copy_state(known, &header.state);
	if (!error)
		error = put(stream, &header, sizeof(header));
	for (uint32_t i = 0; !error && i < XB_KNOWN_SETS; i++)
		if (header.state.lines[i])
			error = put_set(stream, known, i, header.state.lines[i], now);
	checksum = stream->checksum;
	if (!error)
		error = put(stream, &checksum, sizeof(checksum));
	if (!error && fsync(stream->fd) < 0)
		error = xb_system_error(errno, "cannot write %s", stream->path);
	return error;
}

static int sync_directory(const char *state)
{
	int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;

	if (fd < 0 || fsync(fd) < 0)
		error = xb_system_error(errno, "cannot sync %s", state);
	if (fd >= 0)
		close(fd);
	return error;
}

int xb_knownfile_save(const struct xb_paths *paths, struct xb_knownpins *known)
{
	char staged[XB_PATH_MAX], final[XB_PATH_MAX];
	struct stream stream = {.path = staged};
	int error = xb_path_join(staged, paths->state, NEW_FILE);

	if (!error)
		error = xb_path_join(final, paths->state, XB_KNOWN_FILE);
	if (!error)
		error = xb_plainfile_check(final);
	if (error)
		return error;
	unlink(staged);
	stream.fd = open(staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
	if (stream.fd < 0)
		return xb_system_error(errno, "cannot create %s", staged);
	error = write_all(&stream, known);
	close(stream.fd);
	xb_fault("known-written");
	if (!error && rename(staged, final) < 0)
		error = xb_system_error(errno, "cannot rename %s", staged);
	if (error)
		unlink(staged);
	return error ? error : sync_directory(paths->state);
}

static uint64_t lines_of(const struct xb_known *state)
{
	uint64_t lines = 0;

	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++)
		lines += state->lines[i];
	return lines;
}

static bool is_sound(const struct header *header, uint64_t size)
{
	const struct xb_known *state = &header->state;

	return header->magic == MAGIC && header->layout == XB_KNOWN_LAYOUT &&
	       state->layout == XB_KNOWN_LAYOUT && state->remember &&
	       state->learner < XB_KNOWN_SETS && state->lines[state->learner] &&
	       size == sizeof(*header) + lines_of(state) * sizeof(struct xb_known_line) +
			       sizeof(uint32_t);
}

/* Seconds since the file was written: by the clock that runs while the machine sleeps, if it has
 * not booted since. */
static uint64_t passed_since(const struct header *header)
{
	uint64_t now = (uint64_t)time(NULL);
	uint32_t up = xb_clock_boot();
	uint8_t boot[16];

	xb_boot_identity(boot);
	if (!memcmp(boot, header->boot, sizeof(boot)) && up >= header->up)
		return up - header->up;
	return now > header->written ? now - header->written : 0;
}

/* The period that the file has, on the clock of this boot. */
static void move_to_now(const struct header *header, struct xb_known *state)
{
	uint64_t passed = passed_since(header), over;
	uint32_t end = (uint32_t)(state->period >> 32), number = (uint32_t)state->period,
		 up = xb_clock_boot();
	uint64_t left = end > header->up ? end - header->up : 0;

	left = left < state->remember ? left : state->remember;
	if (left > passed) {
		state->period = (uint64_t)(up + (uint32_t)(left - passed)) << 32 | number;
		return;
	}
	over = (passed - left) % state->remember;
	/* As if the turns had come one by one, and the last of them so long ago. */
	for (uint64_t turns = (passed - left) / state->remember + 1, i = 0; i < turns && i < 3;
	     i++) {
		number++;
		for (uint32_t set = 0; set < XB_KNOWN_SETS; set++)
			state->set[set].fresh[number & 1] = 0;
	}
	state->period = (uint64_t)(up + state->remember - (uint32_t)over) << 32 | number;
}

static int get_sets(struct stream *stream, struct xb_knownpins *known)
{
	uint32_t expected, checksum = 0;
	int error = 0;

	for (uint32_t i = 0; !error && i < XB_KNOWN_SETS; i++) {
		struct xb_known_line *lines;

		if (!known->known->lines[i])
			continue;
		lines = xb_knownpins_lines(known, i);
		error = lines ? get(stream, lines, (size_t)known->known->lines[i] * sizeof(*lines))
			      : -EIO;
	}
	expected = stream->checksum;
	if (!error)
		error = get(stream, &checksum, sizeof(checksum));
	return error || checksum == expected ? error : damaged(stream->path);
}

static int load(const struct xb_paths *paths, struct stream *stream, struct xb_knownpins *known)
{
	struct header header;
	struct stat st;
	int error = fstat(stream->fd, &st) < 0
			    ? xb_system_error(errno, "cannot read %s", stream->path)
			    : 0;

	if (!error && st.st_size < (off_t)sizeof(header))
		return damaged(stream->path);
	if (!error)
		error = get(stream, &header, sizeof(header));
	if (error)
		return error;
	if (!is_sound(&header, (uint64_t)st.st_size))
		return damaged(stream->path);
	if ((uint64_t)st.st_size > xb_memory_available())
		return xb_system_error(ENOMEM, "cannot load %s", stream->path);
	move_to_now(&header, &header.state);
	error = xb_knownpins_create(paths->pins, &header.state, known);
	if (!error)
		error = get_sets(stream, known);
	if (error)
		xb_knownpins_close(known);
	return error;
}

int xb_knownfile_load(const struct xb_paths *paths, struct xb_knownpins *known)
{
	char path[XB_PATH_MAX];
	struct stream stream = {.path = path};
	int error = xb_path_join(path, paths->state, XB_KNOWN_FILE);

	*known = xb_no_knownpins;
	if (!error)
		error = xb_plainfile_check(path);
	if (error)
		return error;
	stream.fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (stream.fd < 0)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot open %s", path);
	error = load(paths, &stream, known);
	close(stream.fd);
	return error;
}

int xb_knownfile_remove(const struct xb_paths *paths)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, paths->state, XB_KNOWN_FILE);

	if (error)
		return error;
	if (unlink(path) < 0)
		return errno == ENOENT ? 0 : xb_system_error(errno, "cannot remove %s", path);
	return sync_directory(paths->state);
}

uint64_t xb_knownfile_saved(const struct xb_paths *paths)
{
	struct header header;
	char path[XB_PATH_MAX];
	int fd;
	bool ours;

	if (xb_path_join(path, paths->state, XB_KNOWN_FILE))
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ours = read(fd, &header, sizeof(header)) == sizeof(header) && header.magic == MAGIC;
	close(fd);
	return ours ? header.written : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two layers: the first unpacks, the second knows UTF-16 by its mark of byte order. A file that is
 * neither packed nor UTF-16 is read into the caller's memory. */
#include "lists/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lists/packing.h"
#include "lists/utf16.h"

#define INPUT_BYTES 65536
#define HEAD_BYTES  6
#define WIDE_BYTES  16384

struct xb_unpack {
	int fd;
	const char *name;
	uint64_t done;			  /* read */
	uint64_t left;			  /* that may come out */
	const struct xb_packing *packing; /* NULL: not packed */
	struct xb_packed packed;
	uint8_t *input; /* what was read and not unpacked, or the head of a file that is not packed
			 */
	size_t head, head_at;
	bool begun, told_width;
	enum { NARROW, LITTLE, BIG } width;
	unsigned char wide[WIDE_BYTES];
	size_t wide_bytes;
};

struct xb_unpack *xb_unpack_open(int fd, const char *name, uint64_t most)
{
	struct xb_unpack *unpack = calloc(1, sizeof(*unpack));

	if (unpack)
		unpack->input = malloc(INPUT_BYTES);
	if (!unpack || !unpack->input) {
		free(unpack);
		xb_out_of_memory();
		return NULL;
	}
	unpack->fd = fd;
	unpack->name = name;
	unpack->left = most ?: XB_UNPACK_MOST;
	return unpack;
}

void xb_unpack_bound(struct xb_unpack *unpack, uint64_t memory)
{
	unpack->packed.memory = memory;
}

void xb_unpack_as_is(struct xb_unpack *unpack)
{
	unpack->told_width = true;
}

void xb_unpack_close(struct xb_unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->packing && unpack->packing->end)
		unpack->packing->end(&unpack->packed);
	free(unpack->input);
	free(unpack);
}

uint64_t xb_unpack_done(const struct xb_unpack *unpack)
{
	return unpack->done;
}

static ssize_t read_raw(struct xb_unpack *unpack, void *out, size_t room)
{
	ssize_t got = TEMP_FAILURE_RETRY(read(unpack->fd, out, room));

	if (got < 0)
		return xb_system_error(errno, "%s: reading", unpack->name);
	unpack->done += (uint64_t)got;
	return got;
}

/* Enough to see how the file is packed. */
static int read_head(struct xb_unpack *unpack)
{
	ssize_t got = 1;
	int error;

	while (unpack->head < HEAD_BYTES && got > 0) {
		got = read_raw(unpack, unpack->input + unpack->head, INPUT_BYTES - unpack->head);
		if (got < 0)
			return (int)got;
		unpack->head += (size_t)got;
	}
	unpack->begun = true;
	unpack->packing = xb_packing_of(unpack->input, unpack->head);
	if (!unpack->packing)
		return 0;
	if (!unpack->packing->begin)
		return xb_input_error("%s: packed by %s: unpack it first", unpack->name,
				      unpack->packing->name);
	unpack->packed.in = unpack->input;
	unpack->packed.in_bytes = unpack->head;
	error = unpack->packing->begin(&unpack->packed);
	return error ? xb_error_prefix(error, "%s", unpack->name) : 0;
}

static ssize_t read_plain(struct xb_unpack *unpack, uint8_t *out, size_t room)
{
	size_t held = unpack->head - unpack->head_at;

	if (!held)
		return read_raw(unpack, out, room);
	held = held < room ? held : room;
	memcpy(out, unpack->input + unpack->head_at, held);
	unpack->head_at += held;
	return (ssize_t)held;
}

static int fill_input(struct xb_unpack *unpack, bool *ended)
{
	ssize_t got;

	*ended = false;
	if (unpack->packed.in_bytes)
		return 0;
	got = read_raw(unpack, unpack->input, INPUT_BYTES);
	if (got < 0)
		return (int)got;
	unpack->packed.in = unpack->input;
	unpack->packed.in_bytes = (size_t)got;
	*ended = !got;
	return 0;
}

/* At least a byte, unless the stream has ended. */
static ssize_t read_packed(struct xb_unpack *unpack, uint8_t *out, size_t room)
{
	struct xb_packed *packed = &unpack->packed;
	bool ended;
	int error = 0;

	packed->out = out;
	packed->out_bytes = room;
	while (!error && packed->out == out) {
		error = fill_input(unpack, &ended);
		if (error)
			return error;
		if (ended && packed->between)
			return 0;
		error = unpack->packing->step(packed);
		if (!error && ended && packed->out == out && !packed->between)
			error = xb_input_error("the %s stream ends early: the file may have been "
					       "cut off",
					       unpack->packing->name);
	}
	if (error)
		return xb_error_prefix(error, "%s", unpack->name);
	if ((uint64_t)(packed->out - out) > unpack->left)
		return xb_input_error("%s: unpacked, it has more bytes than are allowed",
				      unpack->name);
	unpack->left -= (uint64_t)(packed->out - out);
	return packed->out - out;
}

static ssize_t read_bytes(struct xb_unpack *unpack, void *out, size_t room)
{
	int error = unpack->begun ? 0 : read_head(unpack);

	if (error)
		return error;
	return unpack->packing ? read_packed(unpack, out, room) : read_plain(unpack, out, room);
}

/* Looks for the mark of byte order; what was read for that is kept. */
static int find_width(struct xb_unpack *unpack)
{
	ssize_t got = 1;

	while (unpack->wide_bytes < 2 && got > 0) {
		got = read_bytes(unpack, unpack->wide + unpack->wide_bytes, 2 - unpack->wide_bytes);
		if (got < 0)
			return (int)got;
		unpack->wide_bytes += (size_t)got;
	}
	unpack->told_width = true;
	if (unpack->wide_bytes < 2)
		return 0;
	if (unpack->wide[0] == 0xff && unpack->wide[1] == 0xfe)
		unpack->width = LITTLE;
	else if (unpack->wide[0] == 0xfe && unpack->wide[1] == 0xff)
		unpack->width = BIG;
	if (unpack->width != NARROW)
		unpack->wide_bytes = 0;
	return 0;
}

static ssize_t read_wide(struct xb_unpack *unpack, char *out, size_t room)
{
	size_t most = room / 3 < WIDE_BYTES ? room / 3 : WIDE_BYTES, used = 0, written = 0;

	while (!written) {
		ssize_t got = read_bytes(unpack, unpack->wide + unpack->wide_bytes,
					 most - unpack->wide_bytes);

		if (got < 0)
			return got;
		if (!got && unpack->wide_bytes)
			return xb_input_error("%s: the UTF-16 text ends within a character",
					      unpack->name);
		if (!got)
			return 0;
		unpack->wide_bytes += (size_t)got;
		written = xb_utf16_convert(unpack->wide, unpack->wide_bytes,
					   unpack->width == LITTLE, &used, out);
		unpack->wide_bytes -= used;
		memmove(unpack->wide, unpack->wide + used, unpack->wide_bytes);
	}
	return (ssize_t)written;
}

ssize_t xb_unpack_read(struct xb_unpack *unpack, char *out, size_t room)
{
	size_t held;
	int error = unpack->told_width ? 0 : find_width(unpack);

	if (error)
		return error;
	if (unpack->width != NARROW)
		return read_wide(unpack, out, room);
	held = unpack->wide_bytes;
	if (!held)
		return read_bytes(unpack, out, room);
	memcpy(out, unpack->wide, held);
	unpack->wide_bytes = 0;
	return (ssize_t)held;
}

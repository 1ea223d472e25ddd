/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libz is part of every start anyway, as libelf needs it; libzstd is loaded with the first file
 * that is packed by it. */
#include "lists/packing.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

/* --- gzip: one member or several (RFC 1952), then perhaps zeros --- */

static int begin_gzip(struct xb_packed *packed)
{
	z_stream *stream = calloc(1, sizeof(*stream));

	if (stream && inflateInit2(stream, 15 + 16) != Z_OK) {
		free(stream);
		stream = NULL;
	}
	packed->state = stream;
	return stream ? 0 : xb_out_of_memory();
}

static int step_gzip(struct xb_packed *packed)
{
	z_stream *stream = packed->state;
	int code;

	while (packed->between && packed->in_bytes && !*packed->in) {
		packed->in++;
		packed->in_bytes--;
	}
	if (!packed->in_bytes)
		return 0;
	packed->between = false;
	stream->next_in = (uint8_t *)(uintptr_t)packed->in;
	stream->avail_in = (uInt)packed->in_bytes;
	stream->next_out = packed->out;
	stream->avail_out = (uInt)packed->out_bytes;
	code = inflate(stream, Z_NO_FLUSH);
	if (code == Z_STREAM_END)
		packed->between = inflateReset(stream) == Z_OK;
	else if (code != Z_OK && code != Z_BUF_ERROR)
		return xb_input_error("the gzip stream is damaged");
	packed->in = stream->next_in;
	packed->in_bytes = stream->avail_in;
	packed->out = stream->next_out;
	packed->out_bytes = stream->avail_out;
	return 0;
}

static void end_gzip(struct xb_packed *packed)
{
	if (packed->state)
		inflateEnd(packed->state);
	free(packed->state);
}

/* --- zstd: one frame or several (RFC 8878) --- */

#define LIBRARY "libzstd.so.1"

static struct {
	typeof(&ZSTD_createDCtx) create;
	typeof(&ZSTD_decompressStream) step;
	typeof(&ZSTD_isError) failed;
	typeof(&ZSTD_getErrorCode) code;
	typeof(&ZSTD_DCtx_setParameter) set;
	typeof(&ZSTD_freeDCtx) free;
} zstd;

static int load_zstd(void)
{
	void *handle;

	if (zstd.free)
		return 0;
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return xb_system_error(0, "a file packed by zstd needs libzstd: %s", dlerror());
	*(void **)&zstd.create = dlsym(handle, "ZSTD_createDCtx");
	*(void **)&zstd.step = dlsym(handle, "ZSTD_decompressStream");
	*(void **)&zstd.failed = dlsym(handle, "ZSTD_isError");
	*(void **)&zstd.code = dlsym(handle, "ZSTD_getErrorCode");
	*(void **)&zstd.set = dlsym(handle, "ZSTD_DCtx_setParameter");
	*(void **)&zstd.free = dlsym(handle, "ZSTD_freeDCtx");
	if (zstd.create && zstd.step && zstd.failed && zstd.code && zstd.set && zstd.free)
		return 0;
	zstd.free = NULL;
	return xb_system_error(0, "%s is of another version", LIBRARY);
}

/* Nearly all that it takes is the window, whose size is a power of two. */
static void bound_zstd(const struct xb_packed *packed)
{
	int most = 10; /* the least there is */

	if (!packed->memory)
		return;
	while (most < 27 && (uint64_t)2 << most <= packed->memory)
		most++;
	zstd.set(packed->state, ZSTD_d_windowLogMax, most);
}

static int begin_zstd(struct xb_packed *packed)
{
	int error = load_zstd();

	if (error)
		return error;
	packed->state = zstd.create();
	if (!packed->state)
		return xb_out_of_memory();
	bound_zstd(packed);
	return 0;
}

static int step_zstd(struct xb_packed *packed)
{
	ZSTD_inBuffer in = {packed->in, packed->in_bytes, 0};
	ZSTD_outBuffer out = {packed->out, packed->out_bytes, 0};
	size_t code = zstd.step(packed->state, &out, &in);

	if (zstd.failed(code) && zstd.code(code) == ZSTD_error_frameParameter_windowTooLarge)
		return xb_input_error("this zstd stream takes more memory than is allowed: unpack "
				      "it first");
	if (zstd.failed(code))
		return xb_input_error("the zstd stream is damaged");
	packed->between = !code;
	packed->in += in.pos;
	packed->in_bytes -= in.pos;
	packed->out += out.pos;
	packed->out_bytes -= out.pos;
	return 0;
}

static void end_zstd(struct xb_packed *packed)
{
	if (packed->state)
		zstd.free(packed->state);
}

/* --- which --- */

static const struct xb_packing packings[] = {
	{"gzip", {0x1f, 0x8b}, 2, begin_gzip, step_gzip, end_gzip},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, begin_zstd, step_zstd, end_zstd},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, NULL, NULL, NULL},
	{"bzip2", {'B', 'Z', 'h', 0, 0x31, 0x41}, 6, NULL, NULL, NULL},
	{"zip", {'P', 'K', 3, 4}, 4, NULL, NULL, NULL},
	{"7-Zip", {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c}, 6, NULL, NULL, NULL},
};

/* 0 in the magic stands for any byte. */
static bool has_magic(const struct xb_packing *packing, const uint8_t *bytes, size_t size)
{
	if (size < packing->magic_bytes)
		return false;
	for (size_t i = 0; i < packing->magic_bytes; i++)
		if (packing->magic[i] && packing->magic[i] != bytes[i])
			return false;
	return true;
}

const struct xb_packing *xb_packing_of(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++)
		if (has_magic(&packings[i], bytes, size))
			return &packings[i];
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a file, unpacked if it is packed, and in UTF-8 if it says that it is UTF-16. */
#ifndef XB_LISTS_UNPACK_H
#define XB_LISTS_UNPACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xb_unpack;

/* name: for messages. most: bytes that may come out of a packed file, 0: XB_UNPACK_MOST. NULL with
 * a message. */
#define XB_UNPACK_MOST ((uint64_t)4 << 30)
struct xb_unpack *xb_unpack_open(int fd, const char *name, uint64_t most);

/* Both before the first byte is read. How much memory unpacking may take; unless told, as much as
 * zstd takes by itself, 128 MiB. A stream that needs more is an input error. */
void xb_unpack_bound(struct xb_unpack *unpack, uint64_t memory);
/* Bytes that are not text for certain: a mark of UTF-16 has no meaning. */
void xb_unpack_as_is(struct xb_unpack *unpack);

/* As read(2), but for errors, which have a message and are negative. room: XB_UNPACK_ROOM or more.
 */
#define XB_UNPACK_ROOM 64
ssize_t xb_unpack_read(struct xb_unpack *unpack, char *out, size_t room);

/* Bytes of the file itself that were read. */
uint64_t xb_unpack_done(const struct xb_unpack *unpack);

/* NULL is allowed. The descriptor stays open. */
void xb_unpack_close(struct xb_unpack *unpack);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XB_BASE_WRITEALL_H
#define XB_BASE_WRITEALL_H

#include <stdbool.h>
#include <stddef.h>

/* As write(2) to a file that waits, until all bytes are written or one cannot be. False: errno says
 * why. */
bool xb_write_all(int fd, const void *bytes, size_t size);

#endif

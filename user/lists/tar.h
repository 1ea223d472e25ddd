/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives of tar (POSIX's ustar), in which some publishers pack a single file that counts. */
#ifndef XB_LISTS_TAR_H
#define XB_LISTS_TAR_H

#include <stdbool.h>
#include <stddef.h>

#define XB_TAR_HEAD 512 /* bytes that show whether it is one */

bool xb_tar_suits(const char *bytes, size_t size);

/* The bytes of the one file whose name ends so. Returns 0, or an input error if there is none, if
 * there are several, or if the archive is damaged. */
int xb_tar_find(const char *bytes, size_t size, const char *ending, const char **file,
		size_t *file_size);

#endif

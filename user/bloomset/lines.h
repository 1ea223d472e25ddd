/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines as they are: the bytes up to a line end, or to the end of the file. */
#ifndef XB_BLOOMSET_LINES_H
#define XB_BLOOMSET_LINES_H

#include "bloomset/source.h"

/* until: as many bytes count, 0: all. */
int lines_read(struct input *input, int fd, uint64_t until, const struct input_terms *terms,
	       batch_taker *take, void *to, struct input_result *result);

#endif

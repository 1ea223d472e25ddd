/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of a list in any format that `import` reads, as their canonical texts. */
#ifndef XB_BLOOMSET_ENTRIES_H
#define XB_BLOOMSET_ENTRIES_H

#include "bloomset/source.h"

/* As lines_read(). */
int entries_read(struct input *input, int fd, uint64_t until, const struct input_terms *terms,
		 batch_taker *take, void *to, struct input_result *result);

#endif

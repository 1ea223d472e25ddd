/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of entries or lines, read from its beginning, perhaps several times. */
#ifndef XB_BLOOMSET_INPUT_H
#define XB_BLOOMSET_INPUT_H

#include "bloomset/source.h"

/* Memory for unpacking that is there in any case: what every reader of zstd has to have (RFC 8878).
 */
#define INPUT_UNPACKING_LEAST ((uint64_t)8 << 20)

/* Finds out what can be known without reading. */
int input_look(struct input *input);

/* How many of the first lines are of each form: of a file that can be read again. */
struct input_sample {
	uint64_t lines, bytes, addresses, integers;
};
int input_sample(const struct input *input, struct input_sample *sample);

/* Reads it; a file that grew since the first time ends where it ended then. */
int input_read(struct input *input, const struct input_terms *terms, batch_taker *take, void *to);

#endif

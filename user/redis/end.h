/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a connection ended. */
#ifndef XB_REDIS_END_H
#define XB_REDIS_END_H

#include "redis/wire.h"

/* Sets outcome and text; characters of the text that wire_text_ok() refuses become '?'. Returns
 * false, for functions that tell so whether they failed. */
__attribute__((format(printf, 3, 4))) bool
end_set(struct redis_end *end, enum redis_outcome outcome, const char *format, ...);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the outcome of a fetch is filled in. */
#ifndef XB_FETCH_RESULT_H
#define XB_FETCH_RESULT_H

#include "fetch/wire.h"

/* Sets outcome and detail; the detail loses what wire_text_ok() refuses. */
__attribute__((format(printf, 3, 4))) void
result_set(struct fetch_result *result, enum fetch_outcome outcome, const char *format, ...);

/* Keeps a text that came from the server if it is fit for a header of ours. */
void result_keep(char out[FETCH_HEADER_MAX], const char *text, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page shows, as JSON: the figures of the metrics, for a person. */
#ifndef XB_BLOOMD_PAGEJSON_H
#define XB_BLOOMD_PAGEJSON_H

#include <jansson.h>

#include "bloomd/http/look.h"

/* NULL: out of memory. */
json_t *status_json(const struct look *look);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents that cscli of CrowdSec writes, for whoever finds out what a JSON document is. */
#ifndef XB_LISTS_CROWDSEC_H
#define XB_LISTS_CROWDSEC_H

#include "lists/format.h"

struct json_t;

/* Whether it has alerts with their decisions, or decisions. */
bool xb_crowdsec_is(const struct json_t *root);

/* Takes the decisions of the document. Returns 0 or an input error. */
int xb_crowdsec_take(struct json_t *root, struct xb_reading *reading);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of [postfix]. */
#ifndef XB_BLOOMD_POSTFIXCONFIG_H
#define XB_BLOOMD_POSTFIXCONFIG_H

#include "bloomd/base/config.h"

/* After all keys: an error with its message if they do not go together. */
int postfix_config_check(const struct postfix_config *config);
void postfix_config_free(struct postfix_config *config);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the options that every command takes, in front of it or behind. */
#ifndef XB_CLI_GLOBALOPTIONS_H
#define XB_CLI_GLOBALOPTIONS_H

#include "bloomctl/options.h"

/* Ids of those that have no letter. */
enum { OPTION_STATE = 256, OPTION_PIN, OPTION_RUN, OPTION_WAIT };

/* Ended by one without a name. */
extern const struct option_spec global_options[];

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of each family; the last of each has no name. */
#ifndef XB_BLOOMD_COMMANDS_FAMILIES_H
#define XB_BLOOMD_COMMANDS_FAMILIES_H

#include "bloomd/api/command.h"

extern const struct command commands_connection[], commands_sets[], commands_zsets[],
	commands_bloom[], commands_hashes[], commands_keys[], commands_refused[];

#endif

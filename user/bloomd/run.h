/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of bloomd: starts its parts, runs the loop, reloads and ends. */
#ifndef XB_BLOOMD_RUN_H
#define XB_BLOOMD_RUN_H

#include <stdbool.h>

#include "base/paths.h"
#include "bloomd/base/config.h"

/* What the command line says. */
struct settings {
	struct xb_paths paths;
	const char *file; /* of the configuration */
	bool needed;	  /* the file was asked for, so it must be there */
};

/* Returns 0 after SIGTERM or SIGINT, with the filter as it is, or an error with its message. */
int run(const struct settings *settings);

#endif

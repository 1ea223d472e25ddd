/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the configuration: one table of sections over inih. */
#ifndef XB_BLOOMD_CONFIGFILE_H
#define XB_BLOOMD_CONFIGFILE_H

#include "bloomd/base/config.h"

#define CONFIG_FILE "/etc/xdp-bloom/bloomd.conf"

/*
 * Reads the file, then FILE.d's *.conf in the order of their names (bloomd.conf.d for bloomd.conf);
 * later values replace earlier ones. A file that is not there is an error only if needed. On
 * success, the caller frees *config. An error names file, line and cause, and *config is NULL.
 */
int config_read(const char *file, bool needed, struct config **config);
void config_free(struct config *config);

#endif

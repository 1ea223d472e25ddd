/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the programs of bloomd that meet the network in its place: bloomd-fetch, bloomd-redis. */
#ifndef XB_BLOOMD_HELPER_H
#define XB_BLOOMD_HELPER_H

#include <stddef.h>
#include <sys/types.h>

#define HELPER_FETCH "bloomd-fetch" /* asks servers of feeds, and CrowdSec's */
#define HELPER_REDIS "bloomd-redis" /* asks the server of a fleet */

#define HELPER_FILES_MAX 8
#define HELPER_KEPT_MAX	 8

struct helper {
	const char *name;	     /* of the program, see helper_check() */
	int files[HELPER_FILES_MAX]; /* become its descriptors from 3 on; -1: that one is closed */
	size_t count;
	const char *kept[HELPER_KEPT_MAX]; /* variables of the environment, up to a NULL */
};

/* Whether there is such a program: 0, or a negative errno with its message. */
int helper_check(const char *name);

/* It ends with bloomd, and has no other descriptor but /dev/null as 0 to 2. Returns its number, or
 * a negative errno with its message. */
pid_t helper_start(const struct helper *helper);

/* An empty file in memory, for a request or an answer. A descriptor, or a negative errno with its
 * message. */
int helper_file(const char *name);

#endif

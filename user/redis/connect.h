/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection by TCP to the first address of a name that takes one. */
#ifndef XB_REDIS_CONNECT_H
#define XB_REDIS_CONNECT_H

#include "redis/end.h"

/* CLOCK_MONOTONIC, ms. */
uint64_t connect_clock(void);

/* As poll() for one descriptor, until the deadline. Returns 1; 0: the deadline has passed. */
int connect_wait(int fd, short events, uint64_t deadline);

/* Returns a descriptor that does not wait; -1: end says what failed. */
int connect_host(const struct redis_target *target, uint64_t deadline, struct redis_end *end);

#endif

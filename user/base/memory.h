/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory this process can still have, kernel memory and memory-backed files included. */
#ifndef XB_BASE_MEMORY_H
#define XB_BASE_MEMORY_H

#include <stdint.h>

/* Bytes: what the machine has available, or what is left to the memory cgroups we are in, whichever
 * is less. */
uint64_t xb_memory_available(void);

/* In a memory cgroup: makes allocations fail at the limit of the cgroup, so that the command can
 * say what is missing. Otherwise the kernel would kill it at the limit without a message. Does
 * nothing in a process that has not said that it is one command, whose memory is to be bounded. */
void xb_memory_bound(void);

/* Says that this process is one command: xb_memory_bound() bounds it, which is called by whoever is
 * about to take much memory. */
void xb_memory_bound_soon(void);

#endif

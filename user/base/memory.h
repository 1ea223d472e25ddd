/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory this process can still have, kernel memory and memory-backed files included. */
#ifndef XB_BASE_MEMORY_H
#define XB_BASE_MEMORY_H

#include <stdint.h>

/* Bytes: what the machine has available, or what is left to the memory cgroups we are in, whichever
 * is less. */
uint64_t xb_memory_available(void);

/* In a memory cgroup: lets allocations fail where its limit is, so that a command says what it
 * lacks. At the limit itself the kernel would kill it without a word. */
void xb_memory_bound(void);

#endif

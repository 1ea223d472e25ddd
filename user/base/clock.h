/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks that programs in the kernel read; in a time namespace, those of a process differ
 * from them. */
#ifndef XB_BASE_CLOCK_H
#define XB_BASE_CLOCK_H

#include <stdint.h>

#define XB_SECOND 1000000000ULL /* ns */

/* What bpf_ktime_get_ns() says now: CLOCK_MONOTONIC of the initial time namespace, ns. */
uint64_t xb_clock(void);

/* CLOCK_BOOTTIME of the initial time namespace, seconds: bpf_ktime_get_boot_ns(). */
uint32_t xb_clock_boot(void);

/* By how much this process sees the time since boot (/proc/PID/stat, CLOCK_BOOTTIME) shifted, in
 * ns. */
int64_t xb_clock_boot_shift(void);

/* Returns 0 if xb_clock() works, or an error that says why not. */
int xb_clock_check(void);

#endif

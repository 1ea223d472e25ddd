/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a command waits for others, in all, and what it says of them. */
#ifndef XB_BASE_PATIENCE_H
#define XB_BASE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define XB_PATIENCE	60 /* seconds, unless the command says otherwise */
#define XB_PATIENCE_MAX 86400

/* Sets how many seconds this process waits for others, all its waits together; 0: not at all. */
void xb_patience_set(uint32_t seconds);

/* Begins the time anew, for a program that does one task after another. */
void xb_patience_renew(void);

/* Whether the time is not used up. */
bool xb_patience_left(void);

/* One wait; all zero is one that has not begun. */
struct xb_wait {
	uint64_t begun;	 /* xb_clock(); 0: not waiting now */
	uint64_t before; /* ns it took until xb_wait_end() */
	bool told;
};

/*
 * Called again and again while something is in the way. whom: a clause that names it ("process 812
 * holds ..."). Prints it once, as a notice, after a second. False when the time is used up; that is
 * then recorded as an error.
 */
bool xb_wait_on(struct xb_wait *wait, const char *whom);

/* Ends a wait: the obstacle is gone, or the caller will look at it again. */
void xb_wait_end(struct xb_wait *wait);

/* For main(): sets what interrupts system calls of this thread every second, which then fail with
 * EINTR (wake true), and stops that (false). */
void xb_wait_waker(void (*waker)(bool wake));

/* Calls it. Returns false if the program set none: then no call may wait for long. */
bool xb_wait_wake(bool wake);

#endif

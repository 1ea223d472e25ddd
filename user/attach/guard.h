/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a trial, and of interfaces that are left, as pinned: see bpf/guard.bpf.c. */
#ifndef XB_ATTACH_GUARD_H
#define XB_ATTACH_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

#define XB_GUARD_PINS "trial" /* directory below the pin directory */

struct xb_guard {
	int program, sides, cell; /* program -1: there is none */
	int only;		  /* -1: this trial was begun by a version that did not pin it */
	struct xb_trial_cell state;
};

#define XB_NO_GUARD                                                                                \
	{                                                                                          \
		.program = -1, .sides = -1, .cell = -1, .only = -1                                 \
	}

extern const struct xb_guard xb_no_guard;

/* Opens the guard that has this program identity. -ENOENT without a message: none has. */
int xb_guard_open(const char *pins, uint32_t program, struct xb_guard *guard);
void xb_guard_close(struct xb_guard *guard);

/* Whether the interface that had this number when the trial began is on trial; always false for a
 * trial that is not of interfaces. */
bool xb_guard_tries(const struct xb_guard *guard, uint32_t ifindex);

/* The interface with this number is not on trial: another one, which is gone, had the number when
 * the trial began. */
int xb_guard_release(const struct xb_guard *guard, uint32_t ifindex);

/* Whether the interface is left: detached, though the kernel did not take the program off. */
bool xb_guard_has_left(const struct xb_guard *guard, uint32_t ifindex);
bool xb_guard_any_left(const struct xb_guard *guard);

/* Lets everything pass on the interface from now on. */
int xb_guard_leave(struct xb_guard *guard, uint32_t ifindex);

/* Ends the trial, but not what is left: interfaces on trial are none any more. */
int xb_guard_end_trial(struct xb_guard *guard);

/* The next ifindex of an interface on trial or left, behind this one; 0: the first. Returns 0
 * behind the last. */
uint32_t xb_guard_next(const struct xb_guard *guard, uint32_t ifindex);

/* Unpins it. It must not stand in the slot any more. */
void xb_guard_remove(const char *pins);

/* *id: identity of the program on a side; 0: none. */
int xb_guard_side(const struct xb_guard *guard, enum xb_trial_side side, uint32_t *id);
int xb_guard_set_side(const struct xb_guard *guard, enum xb_trial_side side, int program);
int xb_guard_clear_side(const struct xb_guard *guard, enum xb_trial_side side);

/* The deadline of the trial is over from now on. */
int xb_guard_expire(struct xb_guard *guard);

#endif

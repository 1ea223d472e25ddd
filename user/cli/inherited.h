/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XB_INHERITED_H
#define XB_INHERITED_H

/* Makes what a command does independent of descriptors, signals and limits of its parent. First
 * thing in main. */
void inherited_settle(void);

/* Lets the stack grow to what verbs need, or is an error. */
int inherited_stack(void);

#endif

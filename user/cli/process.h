/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process gets from whoever starts it. */
#ifndef XB_CLI_PROCESS_H
#define XB_CLI_PROCESS_H

/* Makes what a command does independent of descriptors, signals and limits of its parent. First
 * thing in main. */
void process_settle(void);

/* Lets the stack grow to what verbs need, or is an error. */
int process_stack(void);

#endif

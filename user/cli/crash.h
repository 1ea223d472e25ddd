/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process says of a damaged file at which it ends (base/mapfault.h). */
#ifndef XB_CLI_CRASH_H
#define XB_CLI_CRASH_H

/*
 * From now on, SIGSEGV and SIGBUS in a mapped file of which somebody expects damage end the process
 * with its message on stderr and this exit code; so do these and SIGABRT in a library that reads
 * it. The interrupted work is as after kill -9. Faults elsewhere take the default action.
 */
void crash_watch(int code);

/* Sets what is called before such an end, in a signal handler; NULL: nothing. A program that has
 * changed its terminal restores it. */
void crash_before_end(void (*undo)(void));

#endif

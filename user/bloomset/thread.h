/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that reads or writes for the one that computes. */
#ifndef XB_BLOOMSET_THREAD_H
#define XB_BLOOMSET_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* It gets no signals. False: there is none, and the caller does the work itself. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Ends it, also while it waits for a file, and waits for that. It must hold no lock but in
 * thread_wait(). */
void thread_end(pthread_t thread);

/* As pthread_cond_wait(), where the thread may be ended: then the lock is given back. */
void thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/thread.h"

#include <signal.h>
#include <stddef.h>

bool thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

void thread_end(pthread_t thread)
{
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

void thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	pthread_cleanup_push(unlock, lock);
	pthread_cond_wait(changed, lock);
	pthread_cleanup_pop(0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One budget of time for all that a process waits for. */
#include "base/patience.h"

#include <signal.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/error.h"

static uint64_t allowed = XB_PATIENCE * XB_SECOND, spent;

void xb_patience_set(uint32_t seconds)
{
	allowed = seconds * XB_SECOND;
	spent = 0;
}

static unsigned long long seconds_of(uint64_t time)
{
	return (time + XB_SECOND / 2) / XB_SECOND;
}

bool xb_wait_on(struct xb_wait *wait, const char *whom)
{
	uint64_t now = xb_clock(), waited;

	if (!wait->begun)
		wait->begun = now;
	waited = now - wait->begun;
	if (spent + waited >= allowed) {
		xb_wait_end(wait);
		xb_system_error(0, "gave up after waiting %llu s (--wait SECONDS changes that): %s",
				seconds_of(spent), whom);
		return false;
	}
	if (!wait->told && wait->before + waited >= XB_SECOND) {
		wait->told = true;
		xb_notice("waiting, for another %llu s at most: %s",
			  seconds_of(allowed - spent - waited), whom);
	}
	return true;
}

void xb_wait_end(struct xb_wait *wait)
{
	uint64_t waited = wait->begun ? xb_clock() - wait->begun : 0;

	spent += waited;
	wait->before += waited;
	wait->begun = 0;
}

static void ignore(int number)
{
	(void)number;
}

void xb_wait_wake(bool wake)
{
	const struct itimerval every = {.it_value.tv_sec = wake, .it_interval.tv_sec = wake};
	const struct sigaction action = {.sa_handler = wake ? ignore : SIG_DFL};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (!wake)
		setitimer(ITIMER_REAL, &every, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	if (wake)
		setitimer(ITIMER_REAL, &every, NULL);
}

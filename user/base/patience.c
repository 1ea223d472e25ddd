/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One budget of time for all that a process waits for. */
#include "base/patience.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/program.h"

static uint64_t allowed = XB_PATIENCE * XB_SECOND, spent;
static void (*waker_of_program)(bool wake);

void xb_patience_set(uint32_t seconds)
{
	allowed = seconds * XB_SECOND;
	spent = 0;
}

void xb_patience_renew(void)
{
	spent = 0;
}

bool xb_patience_left(void)
{
	return spent < allowed;
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
		xb_system_error(0, "gave up after waiting %llu s%s: %s", seconds_of(spent),
				xb_advice(XB_ADVICE_WAIT_LONGER), whom);
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

void xb_wait_waker(void (*waker)(bool wake))
{
	waker_of_program = waker;
}

bool xb_wait_wake(bool wake)
{
	if (waker_of_program)
		waker_of_program(wake);
	return waker_of_program != NULL;
}

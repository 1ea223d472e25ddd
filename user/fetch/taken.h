/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a test: what somebody could do who has taken over bloomd-fetch. Only in a build with
 * -DXB_FETCH_TAKEN_OVER. */
#ifndef XB_FETCH_TAKEN_H
#define XB_FETCH_TAKEN_H

#include "fetch/wire.h"

#ifdef XB_FETCH_TAKEN_OVER
/* Tries it all, and says in the detail of the result what was possible. True: nothing is to be
 * fetched. */
bool taken_over(struct fetch_result *result);

/* False to see that without the sandbox it is all possible. */
bool sandbox_wanted(void);
#else
static inline bool taken_over(struct fetch_result *result)
{
	(void)result;
	return false;
}

static inline bool sandbox_wanted(void)
{
	return true;
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a change is to be made: to last, on trial, or as the commit of a trial. */
#ifndef XB_ENGINE_WISH_H
#define XB_ENGINE_WISH_H

#include "model/request.h"

/* What a write leaves to who asked for it, see engine/writepath.h. May be NULL where it is asked
 * for.
 */
struct xb_written;

struct xb_wish {
	const struct xb_request *request;
	uint32_t seconds; /* on trial for so long; 0: it is to last */
	/* Identity of the trial that this makes lasting, of which it is the request; 0: none. */
	uint64_t commits;
	/* With seconds: a copy of the text that was read, by name and as a descriptor; see
	 * store/trialtext.h. NULL: none. */
	const char *input;
	int input_fd;
};

#endif

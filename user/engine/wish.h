/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A wish says how to carry out a request: to last, on trial, or as the commit of a trial. */
#ifndef XB_ENGINE_WISH_H
#define XB_ENGINE_WISH_H

#include "model/request.h"

/* The outcome of a write, see engine/writepath.h. */
struct xb_written;

struct xb_wish {
	const struct xb_request *request;
	uint32_t seconds; /* length of the trial; 0: the change lasts */
	/* Identity of the trial that has this request and is committed; 0: none. */
	uint64_t commits;
	/* On trial: name and descriptor of a copy of the text that the command has read; see
	 * store/trialtext.h. NULL: there is none. */
	const char *input;
	int input_fd;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces that are to be protected from now on, or on trial. */
#ifndef XB_ENGINE_ATTACHMENT_H
#define XB_ENGINE_ATTACHMENT_H

#include "attach/netdev.h"
#include "base/paths.h"
#include "engine/wish.h"

#define XB_ATTACHMENT_MAX 255

/* What came of it, for one interface after the other. Too large for the stack. */
struct xb_attachment {
	const struct xb_attach_request *asked;
	char *names[XB_ATTACHMENT_MAX]; /* as the kernel calls them, each once */
	int count;
	struct xb_netdev device[XB_ATTACHMENT_MAX];
	enum xb_mode got[XB_ATTACHMENT_MAX], had[XB_ATTACHMENT_MAX];
	bool had_any[XB_ATTACHMENT_MAX]; /* our filter, in mode `had` */
	uint64_t
		open[XB_ATTACHMENT_MAX]; /* microseconds that a change of mode left it unfiltered */
	bool renamed;			 /* one was wanted by another name, and is so no more */
};

/* Makes a request to attach. */
int xb_attach_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_attachment *attachment, struct xb_written *written);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaches interfaces, for good or on trial. */
#ifndef XB_ENGINE_ATTACHMENT_H
#define XB_ENGINE_ATTACHMENT_H

#include "attach/netdev.h"
#include "base/paths.h"
#include "engine/wish.h"

#define XB_ATTACHMENT_MAX 255

/* A request to attach, and its outcome for each interface. Too large for the stack. */
struct xb_attachment {
	const struct xb_attach_request *asked;
	bool commits;			/* makes the trial of these interfaces lasting */
	char *names[XB_ATTACHMENT_MAX]; /* as the kernel calls them, each once */
	int count;
	struct xb_netdev device[XB_ATTACHMENT_MAX];
	enum xb_mode got[XB_ATTACHMENT_MAX], had[XB_ATTACHMENT_MAX];
	bool had_any[XB_ATTACHMENT_MAX];  /* our filter was on it before, in mode `had` */
	uint64_t open[XB_ATTACHMENT_MAX]; /* microseconds for which a change of mode left it
					     unfiltered */
	bool untried; /* a trial was asked for, and none began: all were attached already */
	bool renamed; /* an interface was wanted by another name, which is dropped */
};

/* Carries out the request of the wish, of kind XB_REQUEST_ATTACH, and fills in the attachment.
 * Returns 0, or an error with its message. */
int xb_attach_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_attachment *attachment, struct xb_written *written);

#endif

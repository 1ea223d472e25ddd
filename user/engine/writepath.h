/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The write path: carries a change from the store to the kernel. */
#ifndef XB_ENGINE_WRITEPATH_H
#define XB_ENGINE_WRITEPATH_H

#include "engine/context.h"
#include "engine/wish.h"

/* The outcome of writes. All zero before the first; each write adds to it. Who has answered calls
 * xb_write_settle(): until then a full filter stays full. */
struct xb_written {
	bool growth_due; /* the filter is full */
	bool overdue;	 /* the last write was brief, and left some of what has expired */
	bool shuts_out;	 /* the last write left allow-only nobody to admit, and has warned */
	bool looked;	 /* `interfaces` is valid: the last write succeeded and looked at them */
	struct xb_interfaces interfaces;
};
void xb_written_free(struct xb_written *written);

/*
 * Takes the locks, repairs, runs the body in a write transaction (NULL: changes nothing), commits,
 * and brings the change into force. The body returns 0 to commit; any other value gives up the
 * transaction and is returned. The body may run twice, so it must not rely on an earlier run. how:
 * XB_WRITE_ bits. Returns 0, XB_UNMET, what the body returned, or an error with its message.
 */
int xb_write(const struct xb_paths *paths, unsigned int how,
	     int (*body)(struct xb_writer *writer, void *context), void *context,
	     struct xb_written *written) __attribute__((nonnull(1, 5)));

/*
 * Does the same as the wish says. With wish->seconds, the store stays as it was, and the kernel
 * undoes the change after that time, unless the trial is committed. For a request to attach, the
 * changes of the body last; only the filtering of its interfaces, which the caller attaches
 * afterwards, is on trial.
 */
int xb_write_wish(const struct xb_paths *paths, unsigned int how, const struct xb_wish *wish,
		  int (*body)(struct xb_writer *writer, void *context), void *context,
		  struct xb_written *written) __attribute__((nonnull(1, 3, 6)));

/*
 * Releases the locks that a successful write with XB_WRITE_FIRST has left taken, so that no other
 * command comes between the steps of this one. Until then the process keeps them (xb_lock_keep()),
 * and can open the store between the steps. No step may wait for the end of a trial.
 */
void xb_write_last(void);

/*
 * Warns of each interface that is wanted but not filtered, as it was at the end of the last write
 * if that succeeded, and says why. Then forgets the interfaces, so each warning comes once. Returns
 * how many they are.
 */
uint32_t xb_write_tell_open(struct xb_written *written);

#endif

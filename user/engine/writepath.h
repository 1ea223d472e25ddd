/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One change of what is listed, from store to kernel: durable, in force, acknowledged. */
#ifndef XB_ENGINE_WRITEPATH_H
#define XB_ENGINE_WRITEPATH_H

#include "engine/context.h"
#include "engine/wish.h"

/* What a write leaves to who asked for it. All zero before the first; each write adds to it. */
struct xb_written {
	bool growth_due; /* the filter is full: see xb_write_settle() */
	bool looked;	 /* the last write went well and knows how interfaces stand */
	struct xb_interfaces interfaces;
};
void xb_written_free(struct xb_written *written);

/*
 * Runs the body in a write transaction, with the kernel made to match the store before, as far as
 * that is possible. The body returns 0 to commit; anything else gives up the transaction and is
 * returned. The body may run twice, so it must begin from nothing. how: XB_WRITE_ bits.
 * written: may be NULL.
 */
int xb_write(const struct xb_paths *paths, unsigned int how,
	     int (*body)(struct xb_writer *writer, void *context), void *context,
	     struct xb_written *written);

/*
 * The same as the wish says. With wish->seconds the store stays as it was, and the change goes back
 * by itself after that time, unless the same request is made again as the commit of the trial. Of a
 * request to attach the body's changes are lasting ones, and what is on trial is filtering its
 * interfaces, which are attached after it.
 */
int xb_write_wish(const struct xb_paths *paths, unsigned int how, const struct xb_wish *wish,
		  int (*body)(struct xb_writer *writer, void *context), void *context,
		  struct xb_written *written);

/*
 * After a write that went well with XB_WRITE_FIRST its locks stay taken, so that nobody comes
 * between the steps of a command; until this is called. The process has them, see xb_lock_keep(),
 * for those who open the store between the steps need them, too. No step may wait for the end of a
 * trial.
 */
void xb_write_last(void);

/*
 * Says of each interface that is wanted and not protected why, as it was at the end of the last
 * write, if that went well; once. How many there are.
 */
uint32_t xb_write_tell_open(struct xb_written *written);

#endif

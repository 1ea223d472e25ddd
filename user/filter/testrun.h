/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the filter in force what it would do, with a frame that no interface sees. */
#ifndef XB_FILTER_TESTRUN_H
#define XB_FILTER_TESTRUN_H

#include "attach/anchor.h"
#include "model/entry.h"
#include "model/scope.h"

enum xb_testrun_verdict {
	XB_TESTRUN_NONE,
	XB_TESTRUN_PASS,
	XB_TESTRUN_DROP,
	XB_TESTRUN_REFUSED, /* sent back: the answers to a query */
	XB_TESTRUN_NXDOMAIN,
	XB_TESTRUN_TRUNCATED,
	XB_TESTRUN_ANSWERED, /* in another way */
};

/*
 * A frame of a single address to this service: the SYN of a connection, a datagram, an echo
 * request. to: NULL for a packet of no service, which says what holds for all of them.
 * XB_TESTRUN_NONE: no filter is in force. The frame is counted with those of interfaces that are
 * not attached.
 */
int xb_testrun(const struct xb_anchor *anchor, const struct xb_entry *entry,
	       const struct xb_service *to, enum xb_testrun_verdict *verdict);

/* The same with a DNS query for the name, sent by an IPv4 address to that port. */
int xb_testrun_name(const struct xb_anchor *anchor, const struct xb_entry *source, uint16_t port,
		    const struct xb_entry *name, enum xb_testrun_verdict *verdict);

#endif

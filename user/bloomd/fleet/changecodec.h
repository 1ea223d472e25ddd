/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One change of a shared list as bytes: what log entries and chunks share. */
#ifndef XB_BLOOMD_CHANGECODEC_H
#define XB_BLOOMD_CHANGECODEC_H

#include "bloomd/fleet/bytes.h"
#include "store/outbox.h"

#define CHANGE_BYTES_MAX 640
#define ENTRY_BYTES_MAX	 (XB_ENTRY_KEY_BYTES + 1)

/* Whether a fleet shares the entry, and it has the form that lists have: 0, or an error with its
 * message. */
int change_check_entry(const struct xb_entry *entry);

/* An entry by itself; at most ENTRY_BYTES_MAX bytes. A name that is read points into the bytes, and
 * is still to be checked. */
void change_write_entry(const struct xb_entry *entry, struct bytes_out *out);
void change_read_entry(struct bytes_in *in, struct xb_entry *entry);

/* Whether the change can be written and read again: 0, or an error with its message. The name of
 * its list is not asked for. */
int change_check(const struct xb_shared_change *change);

/* Writes a change that change_check() allows; list: a number that stands for the name of its list.
 * At most CHANGE_BYTES_MAX bytes. */
void change_write(const struct xb_shared_change *change, uint32_t list, struct bytes_out *out);

/*
 * Reads one of untrusted bytes, with the checks of change_check(). A name and the comment point
 * into the bytes; change->list stays as it is. *list: below `lists`. Returns 0, or an error with
 * its message.
 */
int change_read(struct bytes_in *in, uint32_t lists, struct xb_shared_change *change,
		uint32_t *list);

#endif

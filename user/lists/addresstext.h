/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How lists write addresses: one, a prefix, a range, with a netmask or with a port. */
#ifndef XB_LISTS_ADDRESSTEXT_H
#define XB_LISTS_ADDRESSTEXT_H

#include <stdbool.h>

#include "lists/span.h"

/* A dotted quad in front, by the rules of inet_pton. Returns its end, NULL if there is none. */
const char *xb_ipv4_read(const char *text, struct xb_entry *entry);

/* The same in decimal, with zeros in front: 001.009.096.105. */
const char *xb_ipv4_read_padded(const char *text, struct xb_entry *entry);

/* An address or prefix, with its host bits cut off and noted: xb_line_address(), which takes longer
 * for IPv4 addresses. */
int xb_addresses_read(struct xb_listfile *file, const char *text, struct xb_entry *entry);

/* "ADDRESS-ADDRESS" of one family, the first not above the last; or one address or prefix. */
int xb_addresses_span(struct xb_listfile *file, const char *text, struct xb_span *span);

/*
 * Keeps what the text says; a range becomes the fewest prefixes that cover it and nothing else:
 *
 *   192.0.2.1  192.0.2.0/24  2001:db8::/32    as everywhere
 *   192.0.2.1-192.0.2.9                       from the first to the last, with blanks or without
 *   192.0.2.0/255.255.255.0                   a netmask
 *   192.0.2.1:80  [2001:db8::1]  [2001:db8::1]:80   what is listed is the address
 *   192.0.2.1|80  2001:db8::1|80              the same, as MISP writes it
 *   Ip:192.0.2.1  Range:192.0.2.0/24          as cscli of CrowdSec writes them
 *
 * like: the timeout of the items; its entry is overwritten. The text may be cut up.
 */
int xb_addresses_keep(struct xb_listfile *file, char *text, struct xb_item *like,
		      const char *comment);

/* The parts of such a text in columns of their own: the last address, a prefix length or netmask,
 * or how many addresses there are. */
int xb_addresses_keep_to(struct xb_listfile *file, const char *first, const char *last,
			 const struct xb_item *like);
int xb_addresses_keep_mask(struct xb_listfile *file, const char *address, const char *mask,
			   struct xb_item *like);
int xb_addresses_keep_count(struct xb_listfile *file, const char *first, const char *count,
			    const struct xb_item *like);

/* From one address to another, of one family and in order. */
int xb_addresses_keep_between(struct xb_listfile *file, const struct xb_entry *first,
			      const struct xb_entry *last, const struct xb_item *like,
			      const char *comment);

/* Whether xb_addresses_keep() takes the text, which stays as it is; no message. */
bool xb_addresses_can_keep(const char *text);

/* The prefix length that a netmask such as 255.255.255.0 says; -1: it is none. */
int xb_addresses_mask_length(const char *text);

#endif

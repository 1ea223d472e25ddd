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

/* How two texts beside each other say addresses. */
enum xb_pair {
	XB_PAIR_NONE,  /* the first says it all, as above */
	XB_PAIR_TO,    /* FIRST..LAST: from one address to the other */
	XB_PAIR_MASK,  /* ADDRESS/LENGTH: or a netmask, or a wildcard mask such as 0.0.0.255 */
	XB_PAIR_COUNT, /* FIRST+COUNT: so many addresses of IPv4 */
};
#define XB_PAIR_MARK                                                                               \
	3 /* bytes of what stands between the names of the two, terminator included                \
	   */
extern const char xb_pair_marks[][XB_PAIR_MARK];

/* The pair whose mark begins here. */
enum xb_pair xb_pair_find(const char *text);

/* Keeps what they say, or of XB_PAIR_NONE the first, which may be cut up. */
int xb_pair_keep(struct xb_listfile *file, enum xb_pair pair, char *first, const char *second);

/* What the second seems to be to an address beside it: "netmask". NULL: nothing. */
struct xb_pair_guess {
	const char *what;
	enum xb_pair pair;
	bool wider; /* together they say more than the address */
	bool sure;  /* it is a mask, and nothing else looks like one */
};

struct xb_pair_guess xb_pair_guess(const char *first, const char *second);

/* From one address to another, of one family and in order. */
int xb_addresses_keep_between(struct xb_listfile *file, const struct xb_entry *first,
			      const struct xb_entry *last, const struct xb_item *like,
			      const char *comment);

/* Whether xb_addresses_keep() takes the text, which stays as it is; no message. */
bool xb_addresses_can_keep(const char *text);

/* The prefix length that a netmask such as 255.255.255.0 says; -1: it is none. */
int xb_addresses_mask_length(const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meta record: what the store says of itself and of what is wanted, but for lists and entries.
 */
#ifndef XB_STORE_META_H
#define XB_STORE_META_H

#include <lmdb.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

#define XB_SCHEMA 7

/*
 * Rate of the Bloom stage, per packet, when none is asked for. Alone it decides, so few may be hit
 * wrongly; with confirm behind it a wrong hit only costs time, and memory counts: see
 * docs/design.md for the measurement.
 */
#define XB_DEFAULT_RATE	  1e-4
#define XB_CONFIRMED_RATE 1e-2

/* How much is listed; kept with every change so that sizing needs no scan. */
struct xb_totals {
	uint64_t prefix4;    /* entries */
	uint64_t host4;	     /* entries */
	uint64_t host4_keys; /* addresses they expand to */
	uint64_t net6;	     /* entries */
	uint64_t allow;	     /* entries of the allowlist, names too */
	uint64_t names;	     /* entries */
};

/* The single record of the store. */
struct xb_meta {
	uint32_t schema;
	uint32_t next_list;
	uint64_t identity; /* random, never 0: what is built from this store carries it */
	uint64_t sequence; /* of the last change to what is listed */
	uint64_t capacity; /* wanted, in keys; 0: by what is listed */
	double rate; /* wanted false-positive rate of the Bloom stage per packet; 0: the default */
	struct xb_totals totals;
	uint32_t policy;      /* enum xb_policy */
	uint32_t unconfirmed; /* 1: no confirm stage is wanted */
	uint32_t refused;     /* kinds of lifelines not to be allowed, a bit each */
	uint32_t seal;	      /* of the record, see store/checksum.h */
	struct xb_name_ports ports;
	uint64_t mark; /* random, drawn with each sequence number: of two stores that went different
			  ways from the same one, the numbers may agree, the marks do not */
	uint64_t transaction;  /* LMDB's number of the one that wrote this, the last that committed
				  anything: an older page in place of a newer one shows */
	uint32_t answer_limit; /* answers a second on each CPU; 0: any number */
	uint32_t reserved;
};

#define XB_META_WITHOUT_MARK  offsetof(struct xb_meta, mark) /* bytes, of earlier schemas */
#define XB_META_WITHOUT_LIMIT offsetof(struct xb_meta, answer_limit)

#define XB_DNS_PORT 53 /* by default the only one */

/* By default. Of listed names a network of a thousand clients asks for less, even where a single
 * CPU takes all queries; and nobody forges sources to have so little sent to them. */
#define XB_ANSWER_LIMIT	    1000
#define XB_ANSWER_LIMIT_MAX 1000000 /* more than this is none */

double xb_meta_rate(const struct xb_meta *meta);

/* A random number, never 0. */
int xb_meta_draw(uint64_t *number);

/* Of a store that has none yet. */
int xb_meta_new(struct xb_meta *meta);

/* Puts the check sum into the record, and returns it. */
uint32_t xb_meta_seal(struct xb_meta *meta);

/* The record of an earlier version as if it were today's. Of one that had its size, *meta is what
 * is stored. */
int xb_meta_upgrade(struct xb_meta *meta, const MDB_val *value);

/* The same of schema 6, which only lacked the limit of answers: its seal is looked at. */
int xb_meta_upgrade_unlimited(struct xb_meta *meta, const MDB_val *value);

#endif

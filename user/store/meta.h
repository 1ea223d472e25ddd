/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meta record: the store's identity, settings and totals; everything except lists and
 * entries. */
#ifndef XB_STORE_META_H
#define XB_STORE_META_H

#include <lmdb.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

/* A program that does not know exceptions must not write a store that has some. */
#define XB_SCHEMA 13
/* Of the store of a host in a fleet, and of no other: a program that does not know fleets must not
 * write there, since it would change shared lists without the fleet. */
#define XB_SCHEMA_FLEET 14

/*
 * The default rate of the Bloom stage, per packet. Without confirm this rate alone decides who is
 * dropped, so it must be low. With confirm a wrong hit only costs time, and memory counts:
 * docs/design.md has the measurement.
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
	uint64_t exceptions; /* entries: names that their lists let pass */
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
	uint32_t checksum;    /* of the record, see store/checksum.h */
	struct xb_name_ports ports;
	uint64_t mark;	       /* random, drawn with each sequence number: two stores that developed
				  differently from one copy may have the same numbers, but not the same
				  marks */
	uint64_t transaction;  /* number of the LMDB transaction that wrote this record; as every
				  transaction writes it, it shows an older page in place of a newer
				  one */
	uint32_t answer_limit; /* answers a second on each CPU; 0: any number */
	uint32_t admits_known; /* 1: allow-only admits known sources as well */
};

#define XB_DNS_PORT 53 /* by default the only one */

/* The default. A network of a thousand clients asks for fewer listed names than this, even if a
 * single CPU takes all queries; and so few answers are not worth forging sources for. */
#define XB_ANSWER_LIMIT	    1000
#define XB_ANSWER_LIMIT_MAX 1000000 /* larger numbers are not accepted */

double xb_meta_rate(const struct xb_meta *meta);

/* A random number, never 0. */
int xb_meta_draw(uint64_t *number);

/* Fills in the record of a store that has none yet. */
int xb_meta_new(struct xb_meta *meta);

/* Puts the checksum into the record, and returns it. */
uint32_t xb_meta_checksum(struct xb_meta *meta);

/* Takes a record of this version as it is. An error if it is damaged, or of another version. */
int xb_meta_decode(const MDB_val *value, struct xb_meta *meta);

#endif

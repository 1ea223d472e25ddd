/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has to become of a frame, by docs/domains.md and docs/design.md: a parser of its own, and
 * lists that are searched entry by entry. It knows of no filter and shares nothing with the program
 * but the numbers of the counters.
 */
#ifndef XB_PACKETS_REFERENCE_H
#define XB_PACKETS_REFERENCE_H

#include "domains.h"
#include "sources.h"
#include "xdp_bloom/reason.h"

#define FRAME_BYTES 4096

struct frame {
	uint8_t byte[FRAME_BYTES];
	uint32_t size;
	uint32_t first; /* bytes that are in its first buffer */
};

enum reference_policy { POLICY_ENFORCE, POLICY_MONITOR, POLICY_ALLOW_ONLY };

/* What takes the place of a filter. */
enum reference_slot { SLOT_FILTER, SLOT_EMPTY, SLOT_ROLLED_BACK };

#define REFERENCE_PORTS 4

/* Addresses that are listed for services. */
#define SCOPED_LISTS	3
#define SCOPED_SERVICES 3

struct scoped {
	struct sources *sources;
	struct {
		uint8_t protocol; /* 6, 17, or 1 for both ICMP; 0: none */
		uint16_t port;	  /* 0: of no port */
	} service[SCOPED_SERVICES];
	bool all;    /* of all packets */
	bool counts; /* its packets pass */
};

struct rules {
	enum reference_slot slot;
	struct sources *sources;
	struct scoped scoped[SCOPED_LISTS]; /* those that drop come first */
	bool has_scopes;
	struct sources *known; /* that allow-only admits as well; NULL: none */
	struct domains listed, exempt;
	enum reference_policy policy;
	uint32_t limit; /* answers a second on each CPU; 0: any number */
	uint16_t dns[REFERENCE_PORTS], tls[REFERENCE_PORTS], http[REFERENCE_PORTS]; /* 0: none */
};

enum reference_verdict { VERDICT_PASS, VERDICT_DROP, VERDICT_ANSWER };

struct outcome {
	enum xb_reason reason;
	enum reference_verdict verdict;
	uint64_t counted;    /* bytes */
	struct frame answer; /* what an answered frame has become; no other is changed */
	bool may_hit; /* it is XB_UNCONFIRMED if a Bloom filter hits the source by accident */
};

void reference(const struct rules *rules, const struct frame *frame, struct outcome *outcome);

/* The frame has an answer by the outcome: what becomes of it when it is one too many. */
void reference_limited(const struct frame *frame, struct outcome *outcome);

/* ---- Between its files ---- */

static inline uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* A packet whose source passes. */
struct packet {
	const struct rules *rules;
	const struct frame *frame;
	bool ipv6;
	uint32_t network;      /* offset of the IP header */
	uint32_t session;      /* offset of a PPPoE header; 0: there is none */
	uint32_t claimed;      /* where the packet ends, by that header's length */
	uint32_t end;	       /* the same, or of the frame for one that says 0 by RFC 2675 */
	enum xb_reason passes; /* unless there is a name in it */
};

/* Its reason if its source is listed for the service it asks for, or that this cannot be told;
 * XB_CLEAN: neither. *asked: some list has the service. */
enum xb_reason reference_service(const struct packet *packet, const struct address *source,
				 bool *asked);

/* What becomes of it for the name in it. */
enum xb_reason reference_names(const struct packet *packet, struct frame *answer);

/* The question of the message that follows a UDP header at `udp`. plain: right behind the IP header
 * without options. */
enum xb_reason reference_query(const struct packet *packet, uint32_t udp, bool plain,
			       struct frame *answer);

/* XB_NAME_CLEAN or _ALLOWED, or the reason of its verdict. */
enum xb_reason reference_name(const struct rules *rules, const uint8_t *wire, uint32_t size);

/* Makes the frame of a query its answer. Lengths: of the query's message, and of the header with
 * the question. False: it cannot be answered rightly. */
bool reference_answer(const struct packet *packet, uint32_t udp, uint32_t size, uint32_t question,
		      enum xb_reason reason, struct frame *answer);

#endif

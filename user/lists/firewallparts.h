/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readers make of a file of rules, as firewalljudge.c goes through it. */
#ifndef XB_LISTS_FIREWALLPARTS_H
#define XB_LISTS_FIREWALLPARTS_H

#include "lists/firewall.h"
#include "lists/firstmatch.h"

#define XB_FIREWALL_NONE UINT32_MAX

struct xb_firewall_source {
	struct xb_span span;
	uint32_t timeout, comment, line;
	uint32_t next; /* of its set */
};

struct xb_firewall_set {
	uint32_t first, last; /* of its sources */
	bool expires;	      /* some of them do */
	bool is_any;	      /* one is a whole family: it names nobody */
	bool listed;	      /* rules refuse its sources */
};

struct xb_firewall_kept {
	struct xb_firewall_rule is;
	uint32_t next; /* of its chain */
	bool told;     /* or there is nothing to tell of it any more */
	bool reached;
	uint64_t spared; /* entries of which it lets some packets pass */
};

/* A part of a chain: rules that decide by themselves, or a call of another chain. */
struct xb_firewall_step {
	struct xb_outcome outcome;
	uint32_t rule, end;	  /* from that one up to that one, by `next` */
	bool calls;		  /* then rule does */
	bool expires;		  /* the sources of the rule do, and it drops them */
	struct xb_sources surely; /* of a call, who goes there, and who may */
	struct xb_sources perhaps;
};

struct xb_firewall_chain {
	struct xb_firewall_hook hook;
	uint32_t first, last;
	bool is_base;
	enum { UNSEEN, BEING_SEEN, SEEN } state;
	unsigned int effects, families; /* for whomever comes, if that is uniform */
	bool uniform;
	struct xb_firewall_step *steps; /* made when it is first gone through */
	size_t step_count, step_room;
};

/* Elements of a set that expire, and who of them is dropped until then. */
struct xb_firewall_expiring {
	uint32_t set;
	struct xb_sources dropped;
};

struct xb_firewall {
	struct xb_listfile *file;
	struct xb_firewall_source *sources;
	struct xb_firewall_set *sets;
	struct xb_firewall_kept *rules;
	struct xb_firewall_chain *chains;
	struct xb_firewall_expiring *expiring;
	size_t source_count, source_room, set_count, set_room, rule_count, rule_room;
	size_t chain_count, chain_room, expiring_count, expiring_room;

	/* While it is judged. */
	struct xb_sources passed;  /* the base chain that is gone through; tags: rules + 1 */
	struct xb_sources dropped; /* by it, of those that the file names */
	struct xb_sources refused; /* by any base chain */
	struct xb_sources spared;  /* that would be, but for a condition */
	uint64_t work;
	uint64_t left_out;  /* entries that are dropped under a condition */
	bool leaves_others; /* so are all others */
};

/* Makes room for one more in the array, and counts it: its number. Returns 0 or an error, also
 * where the file may take only so much memory. */
int xb_firewall_grow(const struct xb_firewall *firewall, void *array, size_t *count, size_t *room,
		     size_t size, uint32_t *number);

#endif

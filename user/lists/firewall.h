/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of a packet filter, as chains, and what they surely refuse: the sources of which no packet
 * passes, whatever else it says. A reader makes sets, chains and rules of a file; judging them puts
 * into the list what the file names and refuses, and notes what was left out, each with its line.
 *
 * The rules are gone through for all sources at once, with those of which some packet is still
 * undecided. A rule that has conditions besides its sources may match or not: what it accepts
 * passes, and what it drops is not sure to be dropped. A packet has to pass every base chain.
 */
#ifndef XB_LISTS_FIREWALL_H
#define XB_LISTS_FIREWALL_H

#include "lists/sources.h"

struct xb_firewall;

/* Allocates; the rules are of that file, into which the entries and notes go. NULL with a message.
 */
struct xb_firewall *xb_firewall_new(struct xb_listfile *file);

void xb_firewall_free(struct xb_firewall *firewall);

/* --- sets --- */

/* Makes an empty set of sources. */
int xb_firewall_add_set(struct xb_firewall *firewall, uint32_t *set);

/* like: timeout, comment (its offset, see xb_line_store_comment()) and line of an entry that is
 * listed if its set is what a rule refuses. Sources may overlap. */
int xb_firewall_add_source(struct xb_firewall *firewall, uint32_t set, const struct xb_span *span,
			   const struct xb_item *like);

/* --- chains --- */

/* Makes a chain without rules; what comes to its end goes back to where it came from. */
int xb_firewall_add_chain(struct xb_firewall *firewall, uint32_t *chain);

/* Makes it a base chain, through which every packet of the families goes. Called again, it sets
 * the policy anew. */
struct xb_firewall_hook {
	unsigned int families; /* XB_FAMILY bits */
	bool drops;	       /* the policy */
	uint64_t line;	       /* of the policy */
	const char *text;      /* it, for messages */
	const char *only_for;  /* NULL: for every packet that arrives; else what its packets have in
				  common, such as "an interface": it refuses none of another */
};
void xb_firewall_set_hook(struct xb_firewall *firewall, uint32_t chain,
			  const struct xb_firewall_hook *hook);

/* --- rules --- */

enum xb_firewall_verdict {
	XB_FIREWALL_CONTINUE, /* or something that decides nothing: a log, a counter, a mark */
	XB_FIREWALL_ACCEPT,   /* or something that may let it pass: a queue, an unknown target */
	XB_FIREWALL_DROP,
	XB_FIREWALL_RETURN,
	XB_FIREWALL_JUMP, /* what comes out of the chain goes on behind the rule */
	XB_FIREWALL_GOTO, /* what comes out goes on where this chain was called */
};

#define XB_FIREWALL_MATCHES 4

struct xb_firewall_rule {
	enum xb_firewall_verdict verdict;
	uint32_t chain; /* to which it jumps */
	/* All must match: the source is in the set, or is not. None: any source. */
	struct xb_firewall_match {
		uint32_t set;
		bool negated;
	} matches[XB_FIREWALL_MATCHES];
	unsigned int match_count;
	unsigned int families; /* of the packets that it can match, XB_FAMILY bits */
	/* What it asks for besides, in words such as "a port", "the set 'friends', which is not in
	 * the file"; NULL: nothing. If it is known never to hold, leave the rule out. */
	const char *condition;
	bool for_service; /* a list with a scope can have that condition: a protocol, a port */
	bool again;	  /* it repeats another rule, which is told where it drops */
	uint64_t line;
	/* The rule as the file writes it, for messages. Texts are those of literals, or stay until
	 * the file is freed. */
	const char *text;
};

/* Puts it in front of the rule that has this number in the chain, from 1; 0, or one more than there
 * are: behind all. Returns -ENOENT without a message if there are fewer. */
int xb_firewall_add_rule(struct xb_firewall *firewall, uint32_t chain, uint32_t number,
			 const struct xb_firewall_rule *rule);

/* Removes the rule of that number, 0: all. Returns -ENOENT without a message if there is none. */
int xb_firewall_remove_rule(struct xb_firewall *firewall, uint32_t chain, uint32_t number);

/*
 * Goes through all base chains, keeps what is surely refused as items, and notes what was left out.
 * The items are in store order then. Returns 0, or an input error where the rules cannot be judged:
 * chains that lead back to themselves, or that call each other too often.
 */
int xb_firewall_judge(struct xb_firewall *firewall);

#endif

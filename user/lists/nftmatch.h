/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who matches a rule of nft: its sources, and what it asks for besides. */
#ifndef XB_LISTS_NFTMATCH_H
#define XB_LISTS_NFTMATCH_H

#include "lists/firewall.h"
#include "lists/nft.h"
#include "lists/nftoperand.h"

/* Who an expression matches: all that surely do, and all that may. */
struct xb_nft_sources {
	uint32_t surely, perhaps; /* sets; perhaps: if `differs` */
	bool differs;
	bool open; /* anybody may */
};

struct xb_nft_set {
	const json_t *is;
	struct xb_nft_sources of[2]; /* as sources of IPv4, IPv6 */
	bool made[2];
	bool gains, loses; /* elements by packets */
};

struct xb_nft_ruleset {
	struct xb_reading *reading;
	struct xb_listfile *file;
	struct xb_firewall *firewall;
	json_t *tables; /* family -> table -> {"live": bool, "chain"|"set": name -> number} */
	struct xb_nft_set *sets;
	size_t set_count, set_room;
	const json_t **chains; /* by their numbers */
	size_t chain_count, chain_room;
	bool has_nat;
};

/* The number of a chain or set of the object's table; kind: "chain" or "set". False: there is none.
 */
bool xb_nft_find(const struct xb_nft_ruleset *rules, const json_t *object, const char *kind,
		 const char *name, uint32_t *number);

/* What is so far known of who comes to a statement of a rule. */
struct xb_nft_condition {
	unsigned int families;
	struct xb_nft_term {
		struct xb_nft_sources are;
		bool negated;
	} terms[XB_FIREWALL_MATCHES / 2];
	size_t count;
	const char *also; /* as struct xb_firewall_rule has it */
	bool for_service;
};

/* also: in words such as "a port"; the first that was needed is told. */
void xb_nft_need_also(struct xb_nft_condition *condition, const char *also, bool for_service);

void xb_nft_add_term(struct xb_nft_condition *condition, const struct xb_nft_sources *sources,
		     bool negated);

/* XB_FAMILY bit of "ipv4" of nfproto, of "ip" of protocol, or of the number; 0: of neither family.
 */
unsigned int xb_nft_family_bit(const json_t *value);

/* Where the elements come from. */
struct xb_nft_origin {
	const struct xb_nft_operand *operand;
	const struct xb_nft_set *set; /* NULL: of the rule itself */
	const char *comment;	      /* of the rule */
};

/* Makes the sets of who has one of the elements, an array or one. */
int xb_nft_make_sources(struct xb_nft_ruleset *rules, const struct xb_nft_origin *origin,
			const json_t *elements, struct xb_nft_sources *sources);

/* The set that "@NAME" means in the table of the rule; NULL: there is none, an input error. */
struct xb_nft_set *xb_nft_find_set(struct xb_nft_ruleset *rules, const json_t *rule,
				   const char *name);

/* Takes a match of the rule into the condition. */
int xb_nft_take_match(struct xb_nft_ruleset *rules, const json_t *rule, const json_t *match,
		      struct xb_nft_condition *condition);

#endif

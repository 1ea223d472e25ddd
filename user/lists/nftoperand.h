/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an expression in a rule of nft looks at: the source of a packet, its family, or what else.
 */
#ifndef XB_LISTS_NFTOPERAND_H
#define XB_LISTS_NFTOPERAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct xb_nft_operand {
	enum {
		XB_NFT_SOURCE,
		XB_NFT_FAMILY,
		XB_NFT_INTERFACE, /* through which it comes */
		XB_NFT_OTHER,
	} kind;
	unsigned int families; /* of packets that have it, XB_FAMILY bits */
	int mask;	       /* the prefix length that is left of a source; -1: all */
	bool in_parts;	       /* several expressions, of which this one is number `part` */
	size_t part;
	const char *words; /* for messages */
	bool for_service;
};

struct xb_nft_operand xb_nft_operand_of(const json_t *expression);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons that a DNS message may be counted as: it is read with ldns, and names are looked up
 * in sorted arrays. The test fills and sorts them. */
#ifndef XB_TESTS_NAMES_REFERENCE_H
#define XB_TESTS_NAMES_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ldns/ldns.h>

#include "xdp_bloom/layout.h"

#define LISTED	6000
#define ALLOWED 600

/* ---- What is listed, as the reference has it ---- */

struct known {
	uint8_t name[256]; /* as ldns writes it, small letters, with the root */
	uint32_t size;
	bool exact;
	int verdict;
	char text[260]; /* without the '=' */
};

static struct known listed[LISTED], allowed[ALLOWED];

static inline int compare_known(const void *a, const void *b)
{
	const struct known *left = a, *right = b;

	if (left->exact != right->exact)
		return left->exact - right->exact;
	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return memcmp(left->name, right->name, left->size);
}

static inline void known_set(struct known *known, const ldns_rdf *name)
{
	known->size = (uint32_t)ldns_rdf_size(name);
	memcpy(known->name, ldns_rdf_data(name), known->size);
}

/* Of all equal ones the strictest verdict; XB_DOMAIN_VERDICTS: it is not there. */
static inline int known_find(const struct known *all, size_t count, const struct known *wanted)
{
	const struct known *found = bsearch(wanted, all, count, sizeof(*all), compare_known);
	int verdict = XB_DOMAIN_VERDICTS;

	if (!found)
		return verdict;
	while (found > all && !compare_known(found - 1, wanted))
		found--;
	for (; found < all + count && !compare_known(found, wanted); found++)
		if (found->verdict < verdict)
			verdict = found->verdict;
	return verdict;
}

/* The strictest of the name itself and all that it lies in. */
static inline int reference_look_up(const struct known *all, size_t count, const ldns_rdf *name)
{
	ldns_rdf *at = ldns_rdf_clone(name), *next;
	struct known wanted = {.exact = true};
	int strictest;

	ldns_dname2canonical(at);
	known_set(&wanted, at);
	strictest = known_find(all, count, &wanted);
	wanted.exact = false;
	while (ldns_dname_label_count(at)) {
		int verdict;

		known_set(&wanted, at);
		verdict = known_find(all, count, &wanted);
		if (verdict < strictest)
			strictest = verdict;
		next = ldns_dname_left_chop(at);
		ldns_rdf_deep_free(at);
		at = next;
	}
	ldns_rdf_deep_free(at);
	return strictest;
}

/* ---- The reference ---- */

/* Which of several reasons may come: a bit each. */
#define ONE(reason) (1ULL << (reason))
#define UNREADABLE                                                                                 \
	(ONE(XB_DNS_SHORT) | ONE(XB_DNS_LABEL) | ONE(XB_DNS_LONG) | ONE(XB_DNS_COMPRESSED))

/* Nothing behind the question, or an OPT record of version 0 to the end. */
static inline bool reference_answerable(const uint8_t *message, size_t size, size_t at)
{
	size_t start = at;
	ldns_rdf *owner;
	bool root;

	if (LDNS_ANCOUNT(message) || LDNS_NSCOUNT(message) || LDNS_ARCOUNT(message) > 1)
		return false;
	if (!LDNS_ARCOUNT(message))
		return at == size;
	if (ldns_wire2dname(&owner, message, size, &at) != LDNS_STATUS_OK)
		return false;
	root = !ldns_dname_label_count(owner) && at == start + 1;
	ldns_rdf_deep_free(owner);
	if (!root || at + 10 > size || ldns_read_uint16(message + at) != LDNS_RR_TYPE_OPT)
		return false;
	return !message[at + 5] && at + 10 + ldns_read_uint16(message + at + 8) == size;
}

static inline uint64_t reference_judge(const uint8_t *message, size_t size, size_t at,
				       const ldns_rdf *name)
{
	int verdict = reference_look_up(listed, LISTED, name);

	if (verdict == XB_DOMAIN_VERDICTS)
		return ONE(XB_NAME_CLEAN);
	if (reference_look_up(allowed, ALLOWED, name) != XB_DOMAIN_VERDICTS)
		return ONE(XB_NAME_ALLOWED);
	switch (verdict) {
	case XB_DOMAIN_DROP:
		return ONE(XB_NAME_DROPPED);
	case XB_DOMAIN_COUNT:
		return ONE(XB_NAME_COUNTED);
	}
	if (!reference_answerable(message, size, at))
		return ONE(XB_NAME_UNANSWERED);
	return ONE(verdict == XB_DOMAIN_REFUSED	   ? XB_NAME_REFUSED
		   : verdict == XB_DOMAIN_NXDOMAIN ? XB_NAME_NXDOMAIN
						   : XB_NAME_TRUNCATED);
}

static inline uint64_t reference(const uint8_t *message, size_t size)
{
	size_t at = LDNS_HEADER_SIZE;
	ldns_rdf *name = NULL;
	uint64_t reasons;

	if (size < LDNS_HEADER_SIZE)
		return ONE(XB_DNS_SHORT);
	if (LDNS_QR_WIRE(message))
		return ONE(XB_DNS_RESPONSE);
	if (LDNS_OPCODE_WIRE(message) != LDNS_PACKET_QUERY)
		return ONE(XB_DNS_OPCODE);
	if (LDNS_QDCOUNT(message) != 1)
		return ONE(XB_DNS_QUESTIONS);
	if (ldns_wire2dname(&name, message, size, &at) != LDNS_STATUS_OK)
		return UNREADABLE;
	if (at > size)
		reasons = ONE(XB_DNS_SHORT); /* no root */
	else if (ldns_rdf_size(name) > 255)
		reasons = ONE(XB_DNS_LONG) | ONE(XB_DNS_COMPRESSED);
	else if (at - LDNS_HEADER_SIZE != ldns_rdf_size(name))
		reasons = ONE(XB_DNS_COMPRESSED);
	else if (at + 4 > size)
		reasons = ONE(XB_DNS_SHORT);
	else
		reasons = reference_judge(message, size, at + 4, name);
	ldns_rdf_deep_free(name);
	return reasons;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of domains as the reference has them: sorted arrays of names as they stand in messages. */
#ifndef XB_PACKETS_DOMAINS_H
#define XB_PACKETS_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What becomes of a listed domain, the strictest first. */
enum domain_verdict {
	DOMAIN_DROP,
	DOMAIN_REFUSED,
	DOMAIN_NXDOMAIN,
	DOMAIN_TRUNCATE,
	DOMAIN_COUNT,
	DOMAIN_NONE, /* it is not listed */
};

#define DOMAIN_BYTES 256

struct domain {
	uint8_t wire[DOMAIN_BYTES]; /* small letters, with the root */
	uint32_t size;
	bool alone; /* without what lies below it */
	enum domain_verdict verdict;
};

struct domains {
	struct domain *all;
	size_t count;
};

/* text: "=" in front if it is alone. */
void domains_add(struct domains *domains, const char *text, enum domain_verdict verdict);
/* After the last add, before the first question. */
void domains_sort(struct domains *domains);
void domains_free(struct domains *domains);

/* The strictest verdict of all that the name lies in. wire: labels and the root, of any letters. */
enum domain_verdict domains_find(const struct domains *domains, const uint8_t *wire, uint32_t size);

/* A name in text, of any bytes, as labels and the root; returns its size. */
uint32_t domains_wire(const char *text, size_t size, uint8_t wire[DOMAIN_BYTES]);

#endif

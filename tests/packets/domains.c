/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of domains. */
#include "domains.h"

#include <stdlib.h>
#include <string.h>

static uint8_t small(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
}

uint32_t domains_wire(const char *text, size_t size, uint8_t wire[DOMAIN_BYTES])
{
	uint32_t length = 0;

	for (size_t i = 0; i <= size; i++) {
		if (i < size && text[i] != '.') {
			length++;
			wire[i + 1] = (uint8_t)text[i];
			continue;
		}
		wire[i - length] = (uint8_t)length;
		length = 0;
	}
	wire[size + 1] = 0;
	return (uint32_t)size + 2;
}

void domains_add(struct domains *domains, const char *text, enum domain_verdict verdict)
{
	struct domain *domain;
	bool alone = *text == '=';

	domains->all = realloc(domains->all, (domains->count + 1) * sizeof(*domains->all));
	domain = &domains->all[domains->count++];
	memset(domain, 0, sizeof(*domain));
	domain->alone = alone;
	domain->verdict = verdict;
	domain->size = domains_wire(text + alone, strlen(text + alone), domain->wire);
	for (uint32_t i = 0; i < domain->size; i++)
		domain->wire[i] = small(domain->wire[i]);
}

static int compare(const void *a, const void *b)
{
	const struct domain *left = a, *right = b;

	if (left->alone != right->alone)
		return left->alone - right->alone;
	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return memcmp(left->wire, right->wire, left->size);
}

/* Of equal ones the strictest stays. */
void domains_sort(struct domains *domains)
{
	size_t kept = 0;

	if (domains->count)
		qsort(domains->all, domains->count, sizeof(*domains->all), compare);
	for (size_t i = 0; i < domains->count; i++) {
		struct domain *last = kept ? &domains->all[kept - 1] : NULL;

		if (!last || compare(last, &domains->all[i]))
			domains->all[kept++] = domains->all[i];
		else if (domains->all[i].verdict < last->verdict)
			last->verdict = domains->all[i].verdict;
	}
	domains->count = kept;
}

void domains_free(struct domains *domains)
{
	free(domains->all);
	*domains = (struct domains){0};
}

static enum domain_verdict find(const struct domains *domains, const struct domain *wanted)
{
	const struct domain *found = domains->count ? bsearch(wanted, domains->all, domains->count,
							      sizeof(*domains->all), compare)
						    : NULL;

	return found ? found->verdict : DOMAIN_NONE;
}

enum domain_verdict domains_find(const struct domains *domains, const uint8_t *wire, uint32_t size)
{
	struct domain wanted = {.alone = true, .size = size};
	enum domain_verdict strictest;

	for (uint32_t i = 0; i < size; i++)
		wanted.wire[i] = small(wire[i]);
	strictest = find(domains, &wanted);
	wanted.alone = false;
	while (wanted.size > 1) {
		enum domain_verdict verdict = find(domains, &wanted);
		uint32_t label = wanted.wire[0] + 1U;

		if (verdict < strictest)
			strictest = verdict;
		wanted.size -= label;
		memmove(wanted.wire, wanted.wire + label, wanted.size);
	}
	return strictest;
}

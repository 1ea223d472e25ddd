/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/limits/offences.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/error.h"
#include "xdp_bloom/hash.h"

#define CHAINS 16384
#define MOST   262144 /* sources; more are forgotten */

struct offence {
	struct offence *next;
	uint64_t identity, hi;
	uint8_t kind;
	uint32_t timeout;
	uint32_t forget; /* when, seconds since 1970 */
};

struct offences {
	struct offence *chain[CHAINS];
	uint64_t key;
	uint32_t count;
};

struct offences *offences_new(void)
{
	struct offences *offences = calloc(1, sizeof(*offences));

	if (!offences) {
		xb_out_of_memory();
		return NULL;
	}
	if (getrandom(&offences->key, sizeof(offences->key), 0) == sizeof(offences->key))
		return offences;
	xb_system_error(errno, "no random numbers");
	free(offences);
	return NULL;
}

void offences_free(struct offences *offences)
{
	for (size_t i = 0; offences && i < CHAINS; i++) {
		while (offences->chain[i]) {
			struct offence *first = offences->chain[i];

			offences->chain[i] = first->next;
			free(first);
		}
	}
	free(offences);
}

static size_t chain_of(const struct offences *offences, uint64_t identity,
		       const struct xb_entry *source)
{
	return xb_mix64(xb_mix64(offences->key ^ source->hi) ^ identity ^ source->kind) % CHAINS;
}

static bool is_of(const struct offence *offence, uint64_t identity, const struct xb_entry *source)
{
	return offence->identity == identity && offence->hi == source->hi &&
	       offence->kind == source->kind;
}

uint32_t offences_timeout(const struct offences *offences, uint64_t identity,
			  const struct xb_limit *limit, const struct xb_entry *source, uint32_t now)
{
	const struct offence *offence = offences->chain[chain_of(offences, identity, source)];
	uint64_t timeout = limit->timeout;

	while (offence && !is_of(offence, identity, source))
		offence = offence->next;
	if (offence && offence->forget > now)
		timeout = 2ULL * offence->timeout;
	timeout = timeout < limit->timeout ? limit->timeout : timeout;
	return (uint32_t)(timeout < limit->longest ? timeout : limit->longest);
}

/* Takes out what is to be forgotten, and the source itself. */
static void tidy(struct offences *offences, struct offence **at, uint64_t identity,
		 const struct xb_entry *source, uint32_t now)
{
	while (*at) {
		struct offence *one = *at;

		if (one->forget > now && !is_of(one, identity, source)) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one);
		offences->count--;
	}
}

void offences_note(struct offences *offences, uint64_t identity, const struct xb_limit *limit,
		   const struct xb_entry *source, uint32_t timeout, uint32_t now)
{
	struct offence **at = &offences->chain[chain_of(offences, identity, source)];
	uint64_t forget = (uint64_t)now + timeout + limit->longest;
	struct offence *offence;

	tidy(offences, at, identity, source, now);
	if (limit->longest == limit->timeout || offences->count == MOST)
		return;
	offence = malloc(sizeof(*offence));
	if (!offence)
		return;
	*offence = (struct offence){
		.next = *at,
		.identity = identity,
		.hi = source->hi,
		.kind = source->kind,
		.timeout = timeout,
		.forget = forget < UINT32_MAX ? (uint32_t)forget : UINT32_MAX,
	};
	*at = offence;
	offences->count++;
}

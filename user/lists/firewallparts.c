/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readers make of a file: sets, chains and rules. */
#include "lists/firewallparts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

struct xb_firewall *xb_firewall_new(struct xb_listfile *file)
{
	struct xb_firewall *firewall = calloc(1, sizeof(*firewall));

	if (!firewall)
		xb_out_of_memory();
	else
		firewall->file = file;
	return firewall;
}

static void free_steps(struct xb_firewall_chain *chain)
{
	for (size_t i = 0; i < chain->step_count; i++) {
		xb_outcome_free(&chain->steps[i].outcome);
		xb_sources_free(&chain->steps[i].surely);
		xb_sources_free(&chain->steps[i].perhaps);
	}
	free(chain->steps);
}

void xb_firewall_free(struct xb_firewall *firewall)
{
	if (!firewall)
		return;
	for (size_t i = 0; i < firewall->chain_count; i++)
		free_steps(&firewall->chains[i]);
	for (size_t i = 0; i < firewall->expiring_count; i++)
		xb_sources_free(&firewall->expiring[i].dropped);
	xb_sources_free(&firewall->passed);
	xb_sources_free(&firewall->dropped);
	xb_sources_free(&firewall->refused);
	xb_sources_free(&firewall->spared);
	free(firewall->sources);
	free(firewall->sets);
	free(firewall->rules);
	free(firewall->chains);
	free(firewall->expiring);
	free(firewall);
}

/* Of a file that may take only so much memory. */
static int may_grow(const struct xb_firewall *firewall)
{
	return xb_listfile_may_grow(firewall->file,
				    firewall->source_room * sizeof(*firewall->sources) +
					    firewall->rule_room * sizeof(*firewall->rules) +
					    firewall->set_room * sizeof(*firewall->sets) +
					    firewall->chain_room * sizeof(*firewall->chains));
}

int xb_firewall_grow(const struct xb_firewall *firewall, void *array, size_t *count, size_t *room,
		     size_t size, uint32_t *number)
{
	bool grows = *count == *room;
	int error = *count < XB_FIREWALL_NONE - 1
			    ? xb_array_grow(array, room, *count + 1, size)
			    : xb_input_error("more than %u parts", XB_FIREWALL_NONE - 1);

	if (!error && grows)
		error = may_grow(firewall);
	if (!error)
		*number = (uint32_t)(*count)++;
	return error;
}

int xb_firewall_add_set(struct xb_firewall *firewall, uint32_t *set)
{
	int error = xb_firewall_grow(firewall, &firewall->sets, &firewall->set_count,
				     &firewall->set_room, sizeof(*firewall->sets), set);

	if (!error)
		firewall->sets[*set] = (struct xb_firewall_set){.first = XB_FIREWALL_NONE,
								.last = XB_FIREWALL_NONE};
	return error;
}

int xb_firewall_add_source(struct xb_firewall *firewall, uint32_t set, const struct xb_span *span,
			   const struct xb_item *like)
{
	struct xb_firewall_set *to = &firewall->sets[set];
	uint32_t number;
	int error = xb_firewall_grow(firewall, &firewall->sources, &firewall->source_count,
				     &firewall->source_room, sizeof(*firewall->sources), &number);

	if (error)
		return error;
	firewall->sources[number] = (struct xb_firewall_source){.span = *span,
								.timeout = like->timeout,
								.comment = like->comment,
								.line = like->entry.line,
								.next = XB_FIREWALL_NONE};
	if (to->first == XB_FIREWALL_NONE)
		to->first = number;
	else
		firewall->sources[to->last].next = number;
	to->last = number;
	to->expires |= like->timeout != 0;
	to->is_any |= !span->first && span->last == ~(xb_address)0;
	return 0;
}

int xb_firewall_add_chain(struct xb_firewall *firewall, uint32_t *chain)
{
	int error = xb_firewall_grow(firewall, &firewall->chains, &firewall->chain_count,
				     &firewall->chain_room, sizeof(*firewall->chains), chain);

	if (!error)
		firewall->chains[*chain] = (struct xb_firewall_chain){.first = XB_FIREWALL_NONE,
								      .last = XB_FIREWALL_NONE};
	return error;
}

void xb_firewall_set_hook(struct xb_firewall *firewall, uint32_t chain,
			  const struct xb_firewall_hook *hook)
{
	firewall->chains[chain].hook = *hook;
	firewall->chains[chain].is_base = true;
}

/* The rule in front of the one with that number; *before is XB_FIREWALL_NONE for the first. */
static int find_before(const struct xb_firewall *firewall, const struct xb_firewall_chain *chain,
		       uint32_t number, uint32_t *before)
{
	*before = XB_FIREWALL_NONE;
	for (uint32_t at = chain->first; number > 1; at = firewall->rules[at].next, number--) {
		if (at == XB_FIREWALL_NONE)
			return -ENOENT;
		*before = at;
	}
	return 0;
}

static uint32_t *link_behind(const struct xb_firewall *firewall, struct xb_firewall_chain *chain,
			     uint32_t before)
{
	return before == XB_FIREWALL_NONE ? &chain->first : &firewall->rules[before].next;
}

int xb_firewall_add_rule(struct xb_firewall *firewall, uint32_t chain, uint32_t number,
			 const struct xb_firewall_rule *rule)
{
	struct xb_firewall_chain *to = &firewall->chains[chain];
	uint32_t before = to->last, added, *link;
	int error = number ? find_before(firewall, to, number, &before) : 0;

	if (!error)
		error = xb_firewall_grow(firewall, &firewall->rules, &firewall->rule_count,
					 &firewall->rule_room, sizeof(*firewall->rules), &added);
	if (error)
		return error;
	link = link_behind(firewall, to, before);
	firewall->rules[added] = (struct xb_firewall_kept){.is = *rule, .next = *link};
	*link = added;
	if (before == to->last)
		to->last = added;
	return 0;
}

int xb_firewall_remove_rule(struct xb_firewall *firewall, uint32_t chain, uint32_t number)
{
	struct xb_firewall_chain *from = &firewall->chains[chain];
	uint32_t before, *link;
	int error = find_before(firewall, from, number, &before);

	if (error)
		return error;
	if (!number) {
		for (uint32_t at = from->first; at != XB_FIREWALL_NONE;
		     at = firewall->rules[at].next)
			firewall->rules[at].told = true;
		from->first = from->last = XB_FIREWALL_NONE;
		return 0;
	}
	link = link_behind(firewall, from, before);
	if (*link == XB_FIREWALL_NONE)
		return -ENOENT;
	if (from->last == *link)
		from->last = before;
	firewall->rules[*link].told = true;
	*link = firewall->rules[*link].next;
	return 0;
}

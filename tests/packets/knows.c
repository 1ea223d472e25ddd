/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test runs send no packets from which anybody learns, so the bits are put in from here. */
#include "knows.h"

#include "attach/knownpins.h"
#include "support/knowing.h"

/* So low that no stranger of the universe is taken for known. */
#define RATE 1e-9

static int admit_known(struct xb_writer *writer, void *context)
{
	(void)context;
	writer->txn->meta.policy = XB_POLICY_ALLOW_ONLY;
	writer->txn->meta.admits_known = 1;
	writer->txn->edits++;
	return 0;
}

/* The first address of what is listed elsewhere; of IPv6 its /64. */
static struct xb_entry source_in(const struct xb_entry *entry)
{
	struct xb_entry source = *entry;

	source.length = xb_entry_is_ipv4(entry) ? 32 : 64;
	source.lo = 0;
	return source;
}

static void know(struct world *world, struct xb_knownpins *pins, const struct xb_entry *entry)
{
	struct xb_entry source = source_in(entry);
	const struct xb_key *key = &pins->known->key;
	uint64_t hash = xb_entry_is_ipv4(&source) ? xb_known_hash_ipv4(key, xb_entry_ipv4(&source))
						  : xb_known_hash_ipv6(key, source.hi);
	struct xb_probes probes = xb_probes_of(key, hash);
	uint32_t learner = pins->known->learner;
	struct xb_known_line *lines = xb_knownpins_lines(pins, learner);

	if (!lines) {
		fprintf(stderr, "the lines of known sources cannot be mapped\n");
		exit(1);
	}
	xb_known_line_put(&lines[xb_scale(probes.place, pins->known->lines[learner])], &probes,
			  (uint32_t)pins->known->period, xb_known_put_bit);
	sources_add(world->rules.known, &source);
}

void knows_begin(struct world *world, const struct universe *universe)
{
	struct xb_knownpins pins;

	knowing_wants(&world->rig, true, HOSTS + NETS, RATE);
	rig_must(
		xb_write(&world->rig.paths, XB_WRITE_HEAVY, admit_known, NULL, &world->rig.written),
		"policy");
	world->rules.known = sources_new();
	rig_must(xb_knownpins_open(world->rig.pins, &pins), "known sources");
	for (size_t i = 0; i < HOSTS; i += 2)
		know(world, &pins, &universe->hosts[i]);
	for (size_t i = 0; i < NETS; i += 2)
		know(world, &pins, &universe->nets[i]);
	xb_knownpins_close(&pins);
	sources_sort(world->rules.known);
}

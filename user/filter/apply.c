/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A generation that enforces, changed key by key. */
#include "filter/apply.h"

#include <errno.h>

#include "attach/swap.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "filter/fit.h"
#include "filter/lengthmap.h"
#include "filter/levels6.h"
#include "filter/namedepths.h"
#include "filter/namesteps.h"
#include "filter/phase.h"
#include "filter/prefixmap.h"
#include "filter/scopemap.h"
#include "store/changelog.h"
#include "store/rulings.h"

static int mismatch(void)
{
	return xb_system_error(0, "the filter does not match the list; it is built anew by the "
				  "next command");
}

/* One stage pair, and the count of its keys. */
struct stage {
	struct xb_bloom *bloom;
	struct xb_exact *confirm; /* NULL: there is none */
	uint64_t *keys;
};

/* A bit that is on must find its key behind it: confirm comes first on the way in, last on the way
 * out. */
static int change_key(const struct stage *stage, uint64_t hash, uint32_t extra, bool listed)
{
	int error;

	if (listed) {
		error = stage->confirm ? xb_exact_add(stage->confirm, hash, extra) : 0;
		if (error)
			return error;
		xb_bloom_add(stage->bloom, hash);
		++*stage->keys;
		return 0;
	}
	if (xb_bloom_delete(stage->bloom, hash) ||
	    (stage->confirm && xb_exact_delete(stage->confirm, hash, extra)))
		return mismatch();
	--*stage->keys;
	return 0;
}

static int apply_net6_key(struct xb_generation *generation, const struct xb_entry *key, bool listed)
{
	struct xb_counters_header *header = generation->header;
	struct xb_slotmap map = xb_generation_slotmap(generation);
	const struct stage stage = {
		.bloom = &generation->net6,
		.confirm = generation->params.confirm ? &generation->confirm6 : NULL,
		.keys = &header->net6_keys,
	};
	int error = change_key(&stage, xb_generation_hash(generation, key), 0, listed);
	uint32_t probes;

	if (error || !listed)
		return error;
	probes = xb_slotmap_mark(&map, key);
	if (probes > header->length_probes)
		header->length_probes = probes;
	return 0;
}

static int apply_net6(struct xb_generation *generation, const struct xb_entry *entry, bool listed)
{
	const struct xb_levels6 *levels = &generation->params.levels6;
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_levels6_keys(levels, entry); i++) {
		struct xb_entry key = xb_levels6_key(levels, entry, i);

		error = apply_net6_key(generation, &key, listed);
	}
	return error;
}

static int apply_host4(struct xb_generation *generation, const struct xb_entry *entry, bool listed)
{
	const struct stage stage = {
		.bloom = &generation->host4,
		.confirm = generation->params.confirm ? &generation->confirm4 : NULL,
		.keys = &generation->header->host4_keys,
	};
	int error = 0;

	for (uint32_t i = 0; !error && i < xb_entry_keys(entry); i++) {
		uint32_t address = xb_entry_ipv4(entry) + i;

		error = change_key(&stage, xb_hash_ipv4(&generation->params.key, address), address,
				   listed);
	}
	return error;
}

/* By what the transaction says of it: when a change is replayed, later ones may have come. */
static int slot_of(struct xb_txn *txn, const struct xb_entry *entry, uint32_t *slot)
{
	int error = xb_name_slot(txn, entry, slot);

	if (error == -ENOENT)
		*slot = XB_DOMAIN_DROP;
	return error == -ENOENT ? 0 : error;
}

/* Of a name that stays: what is stricter comes into force early, what is less strict late. */
static int alter_name(struct xb_exact *confirm, uint64_t hash, uint32_t slot, enum xb_phase phase)
{
	const uint32_t verdict = XB_DOMAIN_FINAL - 1;
	uint32_t now;

	if (xb_exact_verdict(confirm, hash, &now))
		return mismatch();
	if (now == slot || (phase == XB_PHASE_LIST && (now & verdict) < (slot & verdict)))
		return 0;
	return xb_exact_alter(confirm, hash, slot) ? mismatch() : 0;
}

static int apply_name(struct xb_generation *generation, struct xb_txn *txn,
		      const struct xb_change *change, enum xb_phase phase)
{
	const struct stage stage = {
		.bloom = &generation->names,
		.confirm = &generation->confirm_names,
		.keys = &generation->header->names_keys,
	};
	uint64_t hash = xb_generation_hash(generation, &change->entry);
	uint32_t slot;
	int error = slot_of(txn, &change->entry, &slot);

	if (error)
		return error;
	if (change->what == XB_ALTERED)
		return alter_name(stage.confirm, hash, slot, phase);
	if (change->what == XB_LISTED)
		xb_namedepths_list((struct xb_depths *)(void *)generation->depths.base,
				   &change->entry);
	return change_key(&stage, hash, slot, change->what == XB_LISTED);
}

static int apply_prefix4(struct xb_generation *generation, struct xb_txn *txn,
			 const struct xb_entry *entry, bool listed)
{
	if (!listed)
		return xb_prefixmap_settle(&generation->prefix4, txn, entry);
	xb_prefixmap_add(&generation->prefix4, entry);
	return 0;
}

static int apply_prefix6(struct xb_generation *generation, struct xb_txn *txn,
			 const struct xb_entry *entry, bool listed)
{
	struct xb_prefix6map map = xb_generation_prefix6map(generation);

	return listed ? xb_prefix6map_add(&map, entry) : xb_prefix6map_settle(&map, txn, entry);
}

/* For all services. */
static int apply_listed(struct xb_generation *generation, struct xb_txn *txn,
			const struct xb_entry *entry, bool listed)
{
	return entry->kind == XB_PREFIX4    ? apply_prefix4(generation, txn, entry, listed)
	       : entry->kind == XB_HOST4    ? apply_host4(generation, entry, listed)
	       : xb_prefix6map_takes(entry) ? apply_prefix6(generation, txn, entry, listed)
					    : apply_net6(generation, entry, listed);
}

static void mark_scoped(struct xb_generation *generation, const struct xb_entry *entry,
			uint32_t class)
{
	uint32_t cells = generation->params.scope_cells;

	if (xb_entry_is_ipv4(entry))
		xb_scopemap_mark4((uint64_t *)(void *)generation->scope_lengths4.base, entry,
				  class);
	else
		xb_lengthmap_mark((struct xb_lengths *)(void *)generation->scope_lengths6.base,
				  xb_lengthmap_cell(&generation->params.key, cells, entry), entry);
}

/* In each of these classes. */
static int apply_scoped(struct xb_generation *generation, const struct xb_entry *entry,
			uint32_t classes, bool listed)
{
	const struct stage stage = {
		.bloom = &generation->scoped,
		.confirm = &generation->confirm_scoped,
		.keys = &generation->header->scoped_keys,
	};
	int error = 0;

	for (uint32_t class = 1; !error && class < XB_CLASSES; class ++) {
		uint64_t hash = xb_scopemap_hash(&generation->params, entry, class);

		if (!(classes >> class & 1))
			continue;
		error = change_key(&stage, hash, 0, listed);
		if (!error && listed)
			mark_scoped(generation, entry, class);
	}
	return error;
}

/* New classes come into force early, those that are left late. */
static int apply_address(struct xb_generation *generation, struct xb_txn *txn,
			 const struct xb_change *change, enum xb_phase phase)
{
	bool listed = phase == XB_PHASE_LIST;
	uint32_t classes =
		listed ? change->after & ~change->before : change->before & ~change->after;
	int error = (classes & XB_CLASSES_ALL)
			    ? apply_listed(generation, txn, &change->entry, listed)
			    : 0;

	return error ? error : apply_scoped(generation, &change->entry, classes, listed);
}

static int apply_change(struct xb_generation *generation, struct xb_txn *txn,
			const struct xb_change *change, enum xb_phase phase)
{
	if (change->entry.kind == XB_NAME)
		return apply_name(generation, txn, change, phase);
	if (!xb_entry_is_allow(&change->entry))
		return apply_address(generation, txn, change, phase);
	return change->what == XB_LISTED
		       ? xb_allowmaps_add(&generation->allow, &change->entry)
		       : xb_allowmaps_delete(&generation->allow, txn, &change->entry);
}

static void fetch_key(const struct xb_bloom *bloom, const struct xb_exact *confirm, uint64_t hash,
		      uint32_t extra)
{
	xb_bloom_fetch(bloom, xb_bloom_block(bloom, hash));
	if (confirm->geometry.parts)
		xb_exact_fetch(confirm, hash, extra);
}

/* Asks memory for what a change of the entry will touch, where it is far apart from what those
 * before it touch. */
static void fetch(const struct xb_generation *generation, const struct xb_entry *entry)
{
	const struct xb_params *params = &generation->params;
	struct xb_entry key;
	uint32_t address;

	if (entry->kind == XB_HOST4 && params->host4.blocks) {
		address = xb_entry_ipv4(entry);
		fetch_key(&generation->host4, &generation->confirm4,
			  xb_hash_ipv4(&params->key, address), address);
	} else if (entry->kind == XB_NET6 && params->net6.blocks && !xb_prefix6map_takes(entry)) {
		key = xb_levels6_key(&params->levels6, entry, 0);
		fetch_key(&generation->net6, &generation->confirm6,
			  xb_generation_hash(generation, &key), 0);
	}
}

void (*xb_apply_stepped)(void);

/* A change on its way into a generation. */
struct application {
	struct xb_generation *generation;
	struct xb_txn *txn;
	const struct xb_changes *changes;
	size_t steps; /* done */
};

static int apply_step(struct application *application, const struct xb_change *change,
		      enum xb_phase phase)
{
	int error;

	if (application->steps++ == application->changes->count / 2)
		xb_fault("apply-half");
	error = apply_change(application->generation, application->txn, change, phase);
	xb_fault("apply-step");
	if (xb_apply_stepped)
		xb_apply_stepped();
	return error;
}

/* Changes looked ahead. */
#define AHEAD 8

static int apply_phase(struct application *application, enum xb_phase phase)
{
	const struct xb_changes *changes = application->changes;
	struct xb_generation *generation = application->generation;
	bool disallowed = false;
	int error = 0;

	/* Nobody waits for packets that are judged by another generation. */
	if (generation->in_force && xb_phase_meets_earlier(changes, phase))
		xb_anchor_quiesce();
	for (size_t i = 0; !error && i < changes->count; i++) {
		/* What lies in a name stands behind it. */
		size_t at = phase == XB_PHASE_EXCEPT ? changes->count - 1 - i : i;
		const struct xb_change *change = &changes->change[at];

		if (!xb_phase_has(phase, change))
			continue;
		if (i + AHEAD < changes->count)
			fetch(generation, &changes->change[i + AHEAD].entry);
		error = apply_step(application, change, phase);
		disallowed |= phase == XB_PHASE_DISALLOW && !xb_entry_is_name(&change->entry);
	}
	return !error && disallowed ? xb_allowmaps_settle(&generation->allow, application->txn)
				    : error;
}

/*
 * A packet reads the gate of the allowlist before the policy and the trie behind it after it, and
 * nothing orders these reads on every processor. So what it may be dropped by comes when no packet
 * has an earlier allowlist, and an allowlist that admits fewer when no packet has an earlier
 * policy.
 */
static int change_policy(struct xb_generation *generation, uint32_t policy)
{
	uint32_t now;
	int error = xb_generation_policy(generation, &now);

	if (error || now == policy)
		return error;
	if (generation->in_force && policy != XB_POLICY_MONITOR)
		xb_anchor_quiesce();
	error = xb_generation_set_policy(generation, policy);
	if (!error && generation->in_force && policy == XB_POLICY_MONITOR)
		xb_anchor_quiesce();
	return error;
}

int xb_apply(struct xb_generation *generation, struct xb_txn *txn, const struct xb_changes *changes,
	     uint64_t sequence)
{
	struct application application = {generation, txn, changes, 0};
	struct xb_counters_header *header = generation->header;
	uint32_t policy = txn->meta.policy;
	int error = 0;

	__atomic_store_n(&header->dirty, 1, __ATOMIC_SEQ_CST);
	xb_fault("apply-dirty");
	/* Nothing is dropped any more before the allowlist loses what is allowed no more, and
	 * nothing is dropped yet before it has what is. */
	if (policy == XB_POLICY_MONITOR)
		error = change_policy(generation, policy);
	for (enum xb_phase phase = 0; !error && phase < XB_PHASES; phase++)
		error = apply_phase(&application, phase);
	if (!error)
		error = change_policy(generation, policy);
	if (error)
		return error;
	xb_fault("apply-done");
	__atomic_store_n(&header->applied, sequence, __ATOMIC_SEQ_CST);
	__atomic_store_n(&header->dirty, 0, __ATOMIC_SEQ_CST);
	return 0;
}

/*
 * Records of the log behind *sequence and *mark, at least one, as one change, and where they end: a
 * record by itself would be applied with a transaction that may have later ones. -ENOENT: the log
 * does not go on from there.
 */
static int read_records(struct xb_txn *txn, uint64_t *sequence, uint64_t *mark,
			struct xb_changes *changes)
{
	*changes = (struct xb_changes){0};
	while (*sequence < txn->meta.sequence) {
		struct xb_changes record;
		struct xb_step step;
		bool is_last;
		int error = xb_changelog_read(txn, *sequence + 1, &step, &record);

		if (error)
			return error;
		if (step.from != *mark) {
			xb_changes_free(&record);
			return -ENOENT;
		}
		is_last = changes->count && changes->count + record.count > XB_CHANGES_MAX;
		if (!is_last) {
			error = xb_changes_append(changes, &record);
			++*sequence;
			*mark = step.to;
		}
		xb_changes_free(&record);
		if (error || is_last || changes->bulk)
			return error;
	}
	return 0;
}

static int replay_some(struct xb_generation *generation, struct xb_txn *txn)
{
	uint64_t sequence = generation->header->applied, mark = generation->header->mark;
	struct xb_changes changes;
	struct xb_namesteps steps = {0};
	int error = read_records(txn, &sequence, &mark, &changes);

	if (!error)
		error = xb_changes_settle(&changes);
	if (!error)
		error = xb_namesteps_find(txn, &changes, &steps);
	if (!error && !xb_fit_accepts(generation, steps.all))
		error = -ENOENT;
	if (!error)
		error = xb_fit_prepare(generation, steps.all);
	if (!error) {
		generation->header->mark = mark;
		error = xb_apply(generation, txn, steps.all, sequence);
	}
	xb_namesteps_free(&steps);
	xb_changes_free(&changes);
	return error == -EXFULL ? -ENOENT : error;
}

int xb_apply_replay(struct xb_generation *generation, struct xb_txn *txn)
{
	while (generation->header->applied < txn->meta.sequence) {
		int error = replay_some(generation, txn);

		if (error)
			return error;
	}
	return xb_generation_is_current(generation, &txn->meta) ? 0 : -ENOENT;
}

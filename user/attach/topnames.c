/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the slots of all CPUs, and joins what stands in several: of several CPUs, and of several
 * generations, whose keys put a name elsewhere. */
#include "attach/topnames.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/percpu.h"
#include "base/array.h"
#include "base/error.h"

/* What stands in one slot, on each CPU. */
struct slot {
	struct xb_hits *hits;
	struct xb_hits_name *names;
};

struct slots {
	struct slot now, again;
	size_t cpus;
};

struct hit_list {
	struct xb_topname *all;
	size_t count, room;
};

static int add(struct hit_list *list, const struct xb_hits *slot, const struct xb_hits_name *name)
{
	uint8_t form[XB_NAME_BYTES], used;
	struct xb_topname *hit;
	int error = xb_array_grow(&list->all, &list->room, list->count + 1, sizeof(*hit));

	if (error)
		return error;
	if (!xb_name_from_wire(name->byte, slot->bytes, form, &used))
		return 0;
	if (slot->exact)
		form[used++] = 0;
	hit = &list->all[list->count++];
	hit->packets = slot->packets;
	xb_name_format(form, used, hit->name);
	for (char *c = hit->name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return 0;
}

/* Whether the name is that of the fingerprint: the slot may change hands while it is read. */
static bool is_steady(const struct slots *slots, size_t cpu)
{
	const struct xb_hits *now = &slots->now.hits[cpu], *again = &slots->again.hits[cpu];

	return now->bytes && now->bytes < XB_NAME_BYTES && now->fingerprint == again->fingerprint &&
	       now->bytes == again->bytes &&
	       !memcmp(&slots->now.names[cpu], &slots->again.names[cpu], now->bytes);
}

static int look(const struct xb_anchor *anchor, uint32_t number, const struct slot *slot)
{
	if (bpf_map_lookup_elem(anchor->hits, &number, slot->hits) ||
	    bpf_map_lookup_elem(anchor->hits_names, &number, slot->names))
		return xb_system_error(errno, "cannot read the hits of names");
	return 0;
}

static bool is_empty(const struct slots *slots)
{
	for (size_t cpu = 0; cpu < slots->cpus; cpu++)
		if (slots->now.hits[cpu].bytes)
			return false;
	return true;
}

static int read_slot(const struct xb_anchor *anchor, uint32_t number, struct slots *slots,
		     struct hit_list *list)
{
	int error = look(anchor, number, &slots->now);

	if (error || is_empty(slots))
		return error;
	error = look(anchor, number, &slots->again);
	for (size_t cpu = 0; !error && cpu < slots->cpus; cpu++)
		if (is_steady(slots, cpu))
			error = add(list, &slots->now.hits[cpu], &slots->now.names[cpu]);
	return error;
}

static bool make_room(struct slot *slot, size_t cpus)
{
	slot->hits = calloc(cpus, sizeof(*slot->hits));
	slot->names = calloc(cpus, sizeof(*slot->names));
	return slot->hits && slot->names;
}

static void free_slot(struct slot *slot)
{
	free(slot->hits);
	free(slot->names);
}

int xb_topname_by_name(const void *a, const void *b)
{
	return strcmp(((const struct xb_topname *)a)->name, ((const struct xb_topname *)b)->name);
}

int xb_topname_by_packets(const void *a, const void *b)
{
	const struct xb_topname *one = a, *other = b;

	if (one->packets != other->packets)
		return one->packets < other->packets ? 1 : -1;
	return xb_topname_by_name(a, b);
}

static void join(struct hit_list *list)
{
	size_t kept = 0;

	qsort(list->all, list->count, sizeof(*list->all), xb_topname_by_name);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && !xb_topname_by_name(&list->all[kept - 1], &list->all[i]))
			list->all[kept - 1].packets += list->all[i].packets;
		else
			list->all[kept++] = list->all[i];
	}
	list->count = kept;
	qsort(list->all, list->count, sizeof(*list->all), xb_topname_by_packets);
}

int xb_topnames_read(const struct xb_anchor *anchor, struct xb_topname **all, size_t *count)
{
	int cpus = xb_percpu_values(), error = 0;
	struct slots slots = {.cpus = cpus > 0 ? (size_t)cpus : 0};
	struct hit_list list = {0};

	*all = NULL;
	*count = 0;
	if (cpus < 0)
		return cpus;
	if (!make_room(&slots.now, slots.cpus) || !make_room(&slots.again, slots.cpus))
		error = xb_out_of_memory();
	for (uint32_t i = 0; !error && i < XB_HITS_SLOTS; i++)
		error = read_slot(anchor, i, &slots, &list);
	free_slot(&slots.now);
	free_slot(&slots.again);
	if (error) {
		free(list.all);
		return error;
	}
	if (list.count)
		join(&list);
	*all = list.all;
	*count = list.count;
	return 0;
}

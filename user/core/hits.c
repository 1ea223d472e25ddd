/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the slots of all CPUs, and joins what stands in several: of several CPUs, and of several
 * generations, whose keys put a name elsewhere. */
#include "hits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct slots {
	struct xb_hits *now, *again; /* of each CPU */
	size_t cpus;
};

struct hit_list {
	struct xb_hit *all;
	size_t count, room;
};

static int add(struct hit_list *list, const struct xb_hits *slot)
{
	uint8_t form[XB_NAME_BYTES], used;
	struct xb_hit *hit;

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct xb_hit *grown = realloc(list->all, room * sizeof(*grown));

		if (!grown)
			return xb_out_of_memory();
		list->all = grown;
		list->room = room;
	}
	if (!xb_name_from_wire(slot->name, slot->bytes, form, &used))
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
static bool is_steady(const struct xb_hits *now, const struct xb_hits *again)
{
	return now->bytes && now->bytes < XB_NAME_BYTES && now->fingerprint == again->fingerprint &&
	       now->bytes == again->bytes && !memcmp(now->name, again->name, now->bytes);
}

static int read_slot(const struct xb_link *link, uint32_t number, struct slots *slots,
		     struct hit_list *list)
{
	int error = 0;

	if (bpf_map_lookup_elem(link->hits, &number, slots->now) ||
	    bpf_map_lookup_elem(link->hits, &number, slots->again))
		return xb_system_error(errno, "cannot read the hits of names");
	for (size_t cpu = 0; !error && cpu < slots->cpus; cpu++)
		if (is_steady(&slots->now[cpu], &slots->again[cpu]))
			error = add(list, &slots->now[cpu]);
	return error;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct xb_hit *)a)->name, ((const struct xb_hit *)b)->name);
}

static int by_packets(const void *a, const void *b)
{
	const struct xb_hit *one = a, *other = b;

	if (one->packets != other->packets)
		return one->packets < other->packets ? 1 : -1;
	return by_name(a, b);
}

static void join(struct hit_list *list)
{
	size_t kept = 0;

	qsort(list->all, list->count, sizeof(*list->all), by_name);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && !by_name(&list->all[kept - 1], &list->all[i]))
			list->all[kept - 1].packets += list->all[i].packets;
		else
			list->all[kept++] = list->all[i];
	}
	list->count = kept;
	qsort(list->all, list->count, sizeof(*list->all), by_packets);
}

int xb_hits_read(const struct xb_link *link, struct xb_hit **all, size_t *count)
{
	int cpus = libbpf_num_possible_cpus(), error = 0;
	struct slots slots = {.cpus = cpus > 0 ? (size_t)cpus : 0};
	struct hit_list list = {0};

	*all = NULL;
	*count = 0;
	slots.now = calloc(slots.cpus, sizeof(*slots.now));
	slots.again = calloc(slots.cpus, sizeof(*slots.again));
	if (!slots.cpus || !slots.now || !slots.again)
		error = xb_out_of_memory();
	for (uint32_t i = 0; !error && i < XB_HITS_SLOTS; i++)
		error = read_slot(link, i, &slots, &list);
	free(slots.now);
	free(slots.again);
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

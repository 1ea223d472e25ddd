/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/classcounts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "attach/percpu.h"
#include "base/error.h"

static int read_cells(const struct xb_anchor *anchor, uint32_t class, struct xb_class_count *cells)
{
	return bpf_map_lookup_elem(anchor->class_counts, &class, cells)
		       ? xb_system_error(errno, "cannot read statistics")
		       : 0;
}

/* Room for one for each CPU. Returns how many these are, or an error with its message. */
static int new_cells(struct xb_class_count **cells)
{
	int cpus = xb_percpu_values();

	*cells = NULL;
	if (cpus < 0)
		return cpus;
	*cells = calloc((size_t)cpus, sizeof(**cells));
	return *cells ? cpus : xb_out_of_memory();
}

static int begin_one(const struct xb_anchor *anchor, uint32_t class, uint64_t identity,
		     struct xb_class_count *cells, int cpus)
{
	int error = read_cells(anchor, class, cells);

	if (error || cells[0].identity == identity)
		return error;
	for (int i = 0; i < cpus; i++)
		cells[i] = (struct xb_class_count){.identity = identity};
	return bpf_map_update_elem(anchor->class_counts, &class, cells, BPF_ANY)
		       ? xb_system_error(errno, "cannot reset statistics")
		       : 0;
}

/* Of the classes, then of the limits. */
static uint64_t identity_of(const struct xb_params *params, uint32_t number)
{
	return number < XB_CLASSES ? params->scopes.identity[number]
				   : params->limits.of.identity[number - XB_CLASSES];
}

int xb_class_counts_begin(const struct xb_anchor *anchor, const struct xb_params *params)
{
	struct xb_class_count *cells;
	int cpus = new_cells(&cells), error = 0;

	if (cpus < 0)
		return cpus;
	for (uint32_t number = 0; !error && number < XB_CLASS_COUNTS; number++)
		if (identity_of(params, number))
			error = begin_one(anchor, number, identity_of(params, number), cells, cpus);
	free(cells);
	return error;
}

int xb_class_counts_read(const struct xb_anchor *anchor, uint32_t class, uint64_t identity,
			 struct xb_count *sum)
{
	struct xb_class_count *cells;
	int cpus = new_cells(&cells), error;

	*sum = (struct xb_count){0};
	if (cpus < 0)
		return cpus;
	error = read_cells(anchor, class, cells);
	for (int i = 0; !error && i < cpus; i++) {
		if (cells[i].identity != identity)
			continue;
		sum->packets += cells[i].count.packets;
		sum->bytes += cells[i].count.bytes;
	}
	free(cells);
	return error;
}

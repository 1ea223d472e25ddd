/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of enrolled interfaces, and the rows of statistics they have. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/anchor.h"
#include "attach/percpu.h"
#include "base/array.h"
#include "base/error.h"
#include "base/mapping.h"

static int open_cells(const struct xb_anchor *anchor, struct xb_mapping *window)
{
	int error = xb_mapping_open(window, anchor->ifaces,
				    XB_IFACE_CELLS * sizeof(struct xb_iface_cell));

	if (!error)
		error = xb_mapping_map_all(window);
	if (error)
		xb_mapping_close(window);
	return error;
}

static int clear_row(const struct xb_anchor *anchor, uint32_t row)
{
	int cpus = xb_percpu_values(), error = 0;
	struct xb_counts *zeros;

	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus, sizeof(*zeros));
	if (!zeros)
		return xb_out_of_memory();
	if (bpf_map_update_elem(anchor->stats, &row, zeros, BPF_ANY))
		error = xb_system_error(errno, "cannot reset statistics");
	free(zeros);
	return error ? error
		     : xb_anchor_note_put(anchor, row,
					  &(struct xb_iface_note){.mute = XB_MUTE_UNSEEN});
}

int xb_anchor_note_get(const struct xb_anchor *anchor, uint32_t row, struct xb_iface_note *note)
{
	if (bpf_map_lookup_elem(anchor->notes, &row, note))
		return xb_system_error(errno, "cannot read what is noted of an interface");
	return 0;
}

int xb_anchor_note_put(const struct xb_anchor *anchor, uint32_t row,
		       const struct xb_iface_note *note)
{
	if (bpf_map_update_elem(anchor->notes, &row, note, BPF_ANY))
		return xb_system_error(errno, "cannot note something of an interface");
	return 0;
}

/* Reads values from the first key on, `rows` of them; *rows: how many there were. */
static int read_batch(int map, uint32_t *place, bool first, uint32_t *rows, void *values)
{
	uint32_t keys[XB_IFACE_ROWS], after;

	/* At the end of the map it says ENOENT, with what it has read. */
	if (bpf_map_lookup_batch(map, first ? NULL : place, &after, keys, values, rows, NULL) &&
	    errno != ENOENT)
		return -errno;
	*place = after;
	return 0;
}

int xb_anchor_notes(const struct xb_anchor *anchor, uint32_t rows, struct xb_iface_note *notes)
{
	uint32_t place, read = rows;
	int error = rows <= XB_IFACE_ROWS ? 0 : -E2BIG;

	if (!error && rows)
		error = read_batch(anchor->notes, &place, true, &read, notes);
	if (!error && read != rows)
		error = -ENOENT;
	return error ? xb_system_error(-error, "cannot read what is noted of interfaces") : 0;
}

static void name_cell(struct xb_iface_cell *cell, const char *name)
{
	char whole[sizeof(cell->name)] = {0};

	memcpy(whole, name, strnlen(name, sizeof(whole) - 1));
	if (memcmp(whole, cell->name, sizeof(whole)) != 0)
		memcpy(cell->name, whole, sizeof(whole));
}

int xb_anchor_enrol(const struct xb_anchor *anchor, uint32_t ifindex, const char *name)
{
	uint8_t used[XB_IFACE_ROWS] = {1};
	struct xb_iface_cell *cells, *free_cell = NULL;
	struct xb_mapping window;
	uint32_t row = 0;
	int error = open_cells(anchor, &window);

	if (error)
		return error;
	cells = (struct xb_iface_cell *)(void *)window.base;
	for (uint32_t i = XB_IFACE_PROBES; i-- > 0;) {
		struct xb_iface_cell *cell =
			&cells[(xb_iface_cell_first(ifindex) + i) % XB_IFACE_CELLS];

		if (cell->ifindex == ifindex) {
			name_cell(cell, name);
			goto out;
		}
		if (!cell->ifindex)
			free_cell = cell;
	}
	for (uint32_t i = 0; i < XB_IFACE_CELLS; i++)
		if (cells[i].ifindex)
			used[cells[i].row % XB_IFACE_ROWS] = 1;
	while (row < XB_IFACE_ROWS && used[row])
		row++;
	if (row == XB_IFACE_ROWS)
		error = xb_system_error(0,
					"%s: %d interfaces are attached, more cannot be under one "
					"pin directory",
					name, XB_IFACE_ROWS - 1);
	else if (!free_cell)
		error = xb_system_error(0,
					"%s: no room for its statistics, the numbers of %d "
					"interfaces are too alike (ifindex %u); make it anew for "
					"another number",
					name, XB_IFACE_PROBES, ifindex);
	if (error)
		goto out;
	error = clear_row(anchor, row);
	if (error)
		goto out;
	free_cell->row = row;
	name_cell(free_cell, name);
	__atomic_store_n(&free_cell->ifindex, ifindex, __ATOMIC_RELEASE);
out:
	xb_mapping_close(&window);
	return error;
}

static void (*loss_sink)(const struct xb_anchor *anchor);

void xb_rows_sink(void (*sink)(const struct xb_anchor *anchor))
{
	loss_sink = sink;
}

void xb_rows_tell(const struct xb_anchor *anchor)
{
	if (loss_sink)
		loss_sink(anchor);
}

int xb_anchor_dismiss(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xb_mapping window;
	struct xb_iface_cell *cells;
	int error = open_cells(anchor, &window);

	if (error)
		return error;
	xb_rows_tell(anchor);
	cells = (struct xb_iface_cell *)(void *)window.base;
	for (uint32_t i = 0; i < XB_IFACE_CELLS; i++)
		if (cells[i].ifindex == ifindex)
			__atomic_store_n(&cells[i].ifindex, 0, __ATOMIC_RELEASE);
	xb_mapping_close(&window);
	xb_rows_tell(anchor);
	return 0;
}

int xb_anchor_enrolled(const struct xb_anchor *anchor, struct xb_enrolled **out, size_t *count)
{
	struct xb_enrolled *all = NULL;
	struct xb_iface_cell *cells;
	struct xb_mapping window;
	size_t room = 0, rows = 0;
	int error = open_cells(anchor, &window);

	*out = NULL;
	*count = 0;
	if (error)
		return error;
	cells = (struct xb_iface_cell *)(void *)window.base;
	for (uint32_t i = 0; i < XB_IFACE_CELLS && rows < XB_IFACE_ROWS; i++) {
		if (!cells[i].ifindex)
			continue;
		error = xb_array_grow(&all, &room, rows + 1, sizeof(*all));
		if (error)
			break;
		all[rows] = (struct xb_enrolled){.ifindex = cells[i].ifindex, .row = cells[i].row};
		memcpy(all[rows++].name, cells[i].name, sizeof(all->name) - 1);
	}
	xb_mapping_close(&window);
	if (error) {
		free(all);
		return error;
	}
	*out = all;
	*count = rows;
	return 0;
}

bool xb_anchor_is_enrolled(const struct xb_anchor *anchor, uint32_t ifindex)
{
	struct xb_enrolled *all = NULL;
	size_t count = 0;
	bool is = false;

	if (!xb_anchor_enrolled(anchor, &all, &count))
		for (size_t i = 0; i < count; i++)
			is |= all[i].ifindex == ifindex;
	free(all);
	return is;
}

static uint32_t row_of(const struct xb_iface_cell *cells, uint32_t ifindex)
{
	for (uint32_t i = 0; i < XB_IFACE_PROBES; i++) {
		const struct xb_iface_cell *cell =
			&cells[(xb_iface_cell_first(ifindex) + i) % XB_IFACE_CELLS];

		if (cell->ifindex == ifindex)
			return cell->row;
	}
	return 0;
}

int xb_anchor_mute(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t mute,
		   uint32_t *before)
{
	struct xb_iface_note note;
	struct xb_mapping window;
	uint32_t row;
	int error = open_cells(anchor, &window);

	*before = XB_MUTE_NONE;
	if (error)
		return error;
	row = row_of((const struct xb_iface_cell *)(void *)window.base, ifindex);
	xb_mapping_close(&window);
	if (!row)
		return 0;
	error = xb_anchor_note_get(anchor, row, &note);
	if (error)
		return error;
	*before = note.mute;
	note.mute = mute;
	return *before == mute ? 0 : xb_anchor_note_put(anchor, row, &note);
}

int xb_anchor_counts(const struct xb_anchor *anchor, uint32_t row, struct xb_counts *sum)
{
	int cpus = xb_percpu_values(), error = 0;
	struct xb_counts *each;

	memset(sum, 0, sizeof(*sum));
	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return xb_out_of_memory();
	if (bpf_map_lookup_elem(anchor->stats, &row, each))
		error = xb_system_error(errno, "cannot read statistics");
	for (int cpu = 0; !error && cpu < cpus; cpu++) {
		for (int reason = 0; reason < XB_REASON_SLOTS; reason++) {
			sum->reason[reason].packets += each[cpu].reason[reason].packets;
			sum->reason[reason].bytes += each[cpu].reason[reason].bytes;
		}
	}
	free(each);
	return error;
}

#define PACKETS_BATCH 32 /* rows: a kilobyte of each for each CPU */

static uint64_t packets_of(const struct xb_counts *each, int cpus)
{
	uint64_t packets = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		for (int reason = 0; reason < XB_REASON_SLOTS; reason++)
			packets += each[cpu].reason[reason].packets;
	return packets;
}

int xb_anchor_packets(const struct xb_anchor *anchor, uint32_t rows, uint64_t *packets)
{
	int cpus = xb_percpu_values(), error = 0;
	struct xb_counts *each;
	uint32_t place = 0;

	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus * PACKETS_BATCH, sizeof(*each));
	if (!each)
		return xb_out_of_memory();
	for (uint32_t at = 0; !error && at < rows; at += PACKETS_BATCH) {
		uint32_t wanted = rows - at < PACKETS_BATCH ? rows - at : PACKETS_BATCH;
		uint32_t read = wanted;

		error = read_batch(anchor->stats, &place, !at, &read, each);
		if (!error && read != wanted)
			error = -ENOENT;
		for (uint32_t i = 0; !error && i < wanted; i++)
			packets[at + i] = packets_of(&each[(size_t)i * (size_t)cpus], cpus);
	}
	free(each);
	return error ? xb_system_error(-error, "cannot read statistics") : 0;
}

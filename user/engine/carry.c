/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A book is read from the file before the kernel's counts are, so these are never behind it. */
#include "engine/carry.h"

#include <stdlib.h>
#include <string.h>

#include "attach/pin.h"
#include "base/error.h"
#include "engine/tallies.h"
#include "engine/tallyfile.h"

/* --- the rule --- */

static void add(struct xb_counts *to, const struct xb_counts *counts)
{
	for (unsigned int i = 0; i < XB_REASON_SLOTS; i++) {
		to->reason[i].packets += counts->reason[i].packets;
		to->reason[i].bytes += counts->reason[i].bytes;
	}
}

static void subtract(struct xb_counts *from, const struct xb_counts *counts)
{
	for (unsigned int i = 0; i < XB_REASON_SLOTS; i++) {
		from->reason[i].packets -= counts->reason[i].packets;
		from->reason[i].bytes -= counts->reason[i].bytes;
	}
}

void xb_carry_sum(const struct xb_carry_state *state, struct xb_counts *sum)
{
	*sum = state->offset;
	add(sum, &state->last);
}

static bool went_back(const struct xb_counts *last, const struct xb_counts *now)
{
	for (unsigned int i = 0; i < XB_REASON_SLOTS; i++)
		if (now->reason[i].packets < last->reason[i].packets ||
		    now->reason[i].bytes < last->reason[i].bytes)
			return true;
	return false;
}

/* The row is gone: what is shown stays. */
static void freeze(struct xb_carry_state *state)
{
	add(&state->offset, &state->last);
	state->last = (struct xb_counts){0};
	state->source = 0;
}

static struct xb_carry_live *find_live(struct xb_carry_live *live, size_t count, uint64_t source)
{
	for (size_t i = 0; source && i < count; i++)
		if (live[i].source == source)
			return &live[i];
	return NULL;
}

static void advance_state(struct xb_carry_state *state, struct xb_carry_live *live, size_t count)
{
	struct xb_carry_live *row = find_live(live, count, state->source);

	if (row && !went_back(&state->last, &row->counts)) {
		if (!strcmp(row->name, state->name)) {
			state->last = row->counts;
			row->taken = true;
			return;
		}
		row->elsewhere = state->last;
	}
	freeze(state);
}

/* Into XB_CARRY_OTHER goes what is gone and has to make room. */
static struct xb_carry_state *make_room(struct xb_carry_book *book)
{
	struct xb_carry_state *state = book->state + 1;

	if (book->count < XB_CARRY_ROWS)
		return &book->state[book->count++];
	while (state->source)
		state++;
	add(&book->state[0].offset, &state->offset);
	return state;
}

static struct xb_carry_state *state_for(struct xb_carry_book *book, const char *name)
{
	struct xb_carry_state *state;

	for (size_t i = 0; i < book->count; i++)
		if (!strcmp(book->state[i].name, name) && !book->state[i].source)
			return &book->state[i];
	state = make_room(book);
	*state = (struct xb_carry_state){0};
	memcpy(state->name, name, strnlen(name, sizeof(state->name) - 1));
	return state;
}

void xb_carry_advance(struct xb_carry_book *book, struct xb_carry_live *live, size_t count)
{
	for (size_t i = 0; i < book->count; i++)
		advance_state(&book->state[i], live, count);
	for (size_t i = 0; i < count; i++) {
		struct xb_carry_state *state;

		if (live[i].taken)
			continue;
		state = state_for(book, live[i].name);
		subtract(&state->offset, &live[i].elsewhere);
		state->source = live[i].source;
		state->last = live[i].counts;
	}
}

/* --- the kernel's rows --- */

struct rows {
	struct xb_carry_live *live;
	size_t count;
};

static int read_row(const struct xb_anchor *anchor, uint32_t table, const struct xb_enrolled *one,
		    struct rows *rows)
{
	struct xb_carry_live *live = &rows->live[rows->count++];

	live->source = (uint64_t)table << 32 | one->ifindex;
	memcpy(live->name, one->name, sizeof(live->name));
	return xb_anchor_counts(anchor, one->row, &live->counts);
}

/* Row 0 is that of interfaces without a row. */
static int read_rows(const struct xb_anchor *anchor, struct rows *rows)
{
	const struct xb_enrolled other = {.name = XB_CARRY_OTHER};
	uint32_t table = xb_map_id(anchor->stats);
	struct xb_enrolled *all;
	size_t count;
	int error = xb_anchor_enrolled(anchor, &all, &count);

	rows->live = error ? NULL : calloc(count + 1, sizeof(*rows->live));
	if (!error && !rows->live)
		error = xb_out_of_memory();
	if (!error)
		error = read_row(anchor, table, &other, rows);
	for (size_t i = 0; !error && i < count; i++)
		error = read_row(anchor, table, &all[i], rows);
	free(all);
	return error;
}

/* --- the file --- */

static uint64_t load(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void copy_book(const struct xb_carry_region *region, struct xb_carry_book *book)
{
	uint64_t used = region->row ? load(region->used) : 0;

	*book = (struct xb_carry_book){.state = book->state,
				       .count = used < XB_CARRY_ROWS ? used : XB_CARRY_ROWS};
	for (size_t i = 0; i < book->count; i++) {
		const struct xb_carry_row *row = &region->row[i];

		book->state[i] = row->state[load(&row->turn) % 2];
		book->state[i].name[sizeof(book->state[i].name) - 1] = '\0';
	}
	if (book->count)
		return;
	book->count = 1;
	book->state[0] = (struct xb_carry_state){.name = XB_CARRY_OTHER};
}

static bool reserve(const struct xb_carry_region *region, size_t number)
{
	return number < load(region->used) ||
	       xb_tallyfile_reserve(region->offset + number * sizeof(struct xb_carry_row),
				    sizeof(struct xb_carry_row));
}

static void write_row(struct xb_carry_row *row, const struct xb_carry_state *state)
{
	if (!memcmp(&row->state[row->turn % 2], state, sizeof(*state)))
		return;
	row->state[(row->turn + 1) % 2] = *state;
	__atomic_store_n(&row->turn, row->turn + 1, __ATOMIC_RELEASE);
}

/* The version may be odd already: its writer died. */
static void write_book(const struct xb_carry_region *region, const struct xb_carry_book *book)
{
	__atomic_store_n(region->version, load(region->version) | 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < book->count && reserve(region, i); i++) {
		write_row(&region->row[i], &book->state[i]);
		if (i >= load(region->used))
			__atomic_store_n(region->used, i + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(region->version, load(region->version) + 1, __ATOMIC_RELEASE);
}

/* --- both --- */

static int take_book(const struct xb_anchor *anchor, const struct xb_carry_region *region,
		     struct xb_carry_book *book)
{
	struct rows rows = {0};
	int error;

	copy_book(region, book);
	error = anchor ? read_rows(anchor, &rows) : 0;
	if (!error)
		xb_carry_advance(book, rows.live, rows.count);
	free(rows.live);
	return error;
}

/* ThreadSanitizer knows no fences, and gcc refuses them with it. */
static void read_before_this(void)
{
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

#define TRIES 3

/* While another process writes: its book may be half the one and half the other, so once more. */
static int take_unlocked(const struct xb_anchor *anchor, const struct xb_carry_region *region,
			 struct xb_carry_book *book)
{
	uint64_t version;
	int error;

	for (unsigned int i = 0;; i++) {
		version = region->row ? load(region->version) : 0;
		error = take_book(anchor, region, book);
		if (error || !region->row || i == TRIES)
			return error;
		read_before_this();
		if (!(version & 1) && load(region->version) == version)
			return 0;
	}
}

static int take_any(const struct xb_paths *paths, const struct xb_anchor *anchor,
		    struct xb_carry_book *book)
{
	struct xb_carry_region region = xb_carry_region(paths, anchor != NULL);
	int error;

	if (!region.row || !xb_tallyfile_try_lock())
		return take_unlocked(anchor, &region, book);
	error = take_book(anchor, &region, book);
	if (!error)
		write_book(&region, book);
	xb_tallyfile_unlock();
	return error;
}

static struct xb_carried *find(struct xb_carried *all, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

/* Interfaces of one name become one. */
static void sum_up(const struct xb_carry_book *book, struct xb_carried *all, size_t *count)
{
	for (size_t i = 0; i < book->count; i++) {
		struct xb_carried *one = find(all, *count, book->state[i].name);
		struct xb_counts sum;

		xb_carry_sum(&book->state[i], &sum);
		if (one) {
			add(&one->counts, &sum);
			continue;
		}
		one = &all[(*count)++];
		memcpy(one->name, book->state[i].name, sizeof(one->name));
		one->counts = sum;
	}
}

int xb_carry_read(const struct xb_paths *paths, const struct xb_anchor *anchor,
		  struct xb_carried **out, size_t *count)
{
	struct xb_carry_book book = {.state =
					     malloc(XB_CARRY_ROWS * sizeof(struct xb_carry_state))};
	int error = book.state ? take_any(paths, anchor, &book) : xb_out_of_memory();

	*count = 0;
	*out = error ? NULL : calloc(book.count, sizeof(**out));
	if (!error && !*out)
		error = xb_out_of_memory();
	if (!error)
		sum_up(&book, *out, count);
	free(book.state);
	return error;
}

static const struct xb_paths *places;

/* A detach does not fail for it. */
static void remember(const struct xb_anchor *anchor)
{
	struct xb_carried *all;
	size_t count;

	xb_carry_read(places, anchor, &all, &count);
	free(all);
}

void xb_carry_begin(const struct xb_paths *paths)
{
	places = paths;
	xb_rows_sink(remember);
}

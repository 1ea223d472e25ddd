/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells are given out in order and never taken back. Two processes that meet the same labels for
 * the first time at once may take a cell each: whoever reads adds cells of the same labels up.
 */
#include "engine/tallies.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/carryfile.h"
#include "engine/tallyfile.h"

#define LAYOUT 1 /* raise it if the meaning of what is in the file changes */

#define MS 1000000ULL /* ns */
const uint64_t xb_tally_bounds[XB_TALLY_BOUNDS] = {
	MS / 2,	  MS,	    5 * MS / 2, 5 * MS,	   10 * MS,   25 * MS,	 50 * MS,
	100 * MS, 250 * MS, 500 * MS,	1000 * MS, 2500 * MS, 5000 * MS, 10000 * MS,
};

#define OTHER "_other" /* has the first cell of a family with labels */

enum state { UNFINISHED, SHOWN, HIDDEN };

struct cell {
	uint32_t state; /* the labels are there unless it is UNFINISHED */
	uint32_t hash;	/* of the labels */
	uint64_t value;
	char label[2][XB_TALLY_LABEL];
};

/* The front of the file, which has room from the start. */
struct front {
	struct xb_tallyfile_header header;
	uint64_t histogram[XB_TALLIES][XB_TALLY_BOUNDS + 1];
	uint32_t used[XB_TALLIES]; /* cells given out */
	uint64_t carry_used, carry_version;
};
_Static_assert(sizeof(struct front) <= XB_TALLYFILE_FRONT, "the front is too large");

static size_t cells_at(enum xb_tally family)
{
	size_t at = XB_TALLYFILE_FRONT;

	for (enum xb_tally i = 0; i < family; i++)
		at += xb_tally_family(i)->cells * sizeof(struct cell);
	return at;
}

/* What follows the cells is the carry's. */
static size_t carry_at(void)
{
	return (cells_at(XB_TALLIES) + XB_TALLYFILE_FRONT - 1) / XB_TALLYFILE_FRONT *
	       XB_TALLYFILE_FRONT;
}

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x01000193U;
	return (hash ^ 0xff) * 0x01000193U;
}

static uint64_t layout(void)
{
	static uint64_t known;
	uint32_t hash = 0x811c9dc5U;
	char text[96];

	if (known)
		return known;
	for (enum xb_tally i = 0; i < XB_TALLIES; i++) {
		snprintf(text, sizeof(text), "%s %u %zu", xb_tally_family(i)->name,
			 xb_tally_family(i)->cells, cells_at(i));
		hash = hash_text(hash, text);
	}
	snprintf(text, sizeof(text), "%d %d %zu %zu", XB_TALLY_BOUNDS, XB_TALLY_LABEL,
		 sizeof(struct cell), XB_CARRY_BYTES);
	known = (uint64_t)LAYOUT << 32 | hash_text(hash, text);
	return known;
}

static struct front *open_file(const struct xb_paths *paths, bool create)
{
	return xb_tallyfile(paths, carry_at() + XB_CARRY_BYTES, layout(), create);
}

static bool joins; /* see xb_tallies_join() */

struct xb_carry_region xb_carry_region(const struct xb_paths *paths, bool create)
{
	struct front *front = open_file(paths, create && !joins);

	if (!front)
		return (struct xb_carry_region){0};
	return (struct xb_carry_region){
		.used = &front->carry_used,
		.version = &front->carry_version,
		.row = (struct xb_carry_row *)(void *)((char *)front + carry_at()),
		.offset = carry_at(),
	};
}

static bool has_labels(enum xb_tally family)
{
	return xb_tally_family(family)->label[0];
}

static struct cell *cells_of(struct front *front, enum xb_tally family)
{
	return (struct cell *)(void *)((char *)front + cells_at(family));
}

static uint32_t used_of(const struct front *front, enum xb_tally family)
{
	uint32_t used = __atomic_load_n(&front->used[family], __ATOMIC_ACQUIRE);

	return used < xb_tally_family(family)->cells ? used : xb_tally_family(family)->cells;
}

/* Labels as a cell has them. */
struct labels {
	char text[2][XB_TALLY_LABEL];
	uint32_t hash;
};

static void set_labels(struct labels *labels, const char *label1, const char *label2)
{
	*labels = (struct labels){0};
	snprintf(labels->text[0], XB_TALLY_LABEL, "%s", label1 ?: "");
	snprintf(labels->text[1], XB_TALLY_LABEL, "%s", label2 ?: "");
	labels->hash = hash_text(hash_text(0x811c9dc5U, labels->text[0]), labels->text[1]);
}

static bool is_of(const struct cell *cell, const struct labels *labels)
{
	return __atomic_load_n(&cell->state, __ATOMIC_ACQUIRE) != UNFINISHED &&
	       cell->hash == labels->hash &&
	       !memcmp(cell->label, labels->text, sizeof(cell->label));
}

static struct cell *find(struct front *front, enum xb_tally family, const struct labels *labels)
{
	struct cell *cells = cells_of(front, family);
	uint32_t used = used_of(front, family);

	for (uint32_t i = 0; i < used; i++)
		if (is_of(&cells[i], labels))
			return &cells[i];
	return NULL;
}

static bool reserve(enum xb_tally family, uint32_t number)
{
	return xb_tallyfile_reserve(cells_at(family) + number * sizeof(struct cell),
				    sizeof(struct cell));
}

/* NULL: no cell is left, or no room for it. */
static struct cell *take(struct front *front, enum xb_tally family, const struct labels *labels)
{
	uint32_t number = used_of(front, family);
	struct cell *cell;

	/* Another process may take this one meanwhile: then the next has no room yet, perhaps. */
	if (number >= xb_tally_family(family)->cells || !reserve(family, number))
		return NULL;
	if (!__atomic_compare_exchange_n(&front->used[family], &(uint32_t){number}, number + 1,
					 false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return take(front, family, labels);
	cell = &cells_of(front, family)[number];
	cell->hash = labels->hash;
	memcpy(cell->label, labels->text, sizeof(cell->label));
	__atomic_store_n(&cell->state, SHOWN, __ATOMIC_RELEASE);
	return cell;
}

/* The first cell of a family with labels is that of `_other`. */
static struct cell *cell_of(struct front *front, enum xb_tally family, const char *label1,
			    const char *label2)
{
	struct labels labels;
	struct cell *cell;

	if (!used_of(front, family)) {
		const char *const *names = xb_tally_family(family)->label;

		set_labels(&labels, names[0] ? OTHER : NULL, names[1] ? OTHER : NULL);
		cell = take(front, family, &labels);
		if (!cell || !has_labels(family))
			return cell;
	}
	set_labels(&labels, label1, label2);
	cell = find(front, family, &labels);
	if (!cell)
		cell = take(front, family, &labels);
	return cell;
}

void xb_tallies_join(void)
{
	joins = true;
}

bool xb_tallies_make(const struct xb_paths *paths)
{
	return !open_file(paths, false) && open_file(paths, true);
}

/* A mapped file that can be written, or NULL. */
static struct front *open_to_add(const struct xb_paths *paths)
{
	struct front *front = open_file(paths, !joins);

	return front && xb_tallyfile_is_writable() ? front : NULL;
}

static void show(struct cell *cell)
{
	if (__atomic_load_n(&cell->state, __ATOMIC_RELAXED) != SHOWN)
		__atomic_store_n(&cell->state, SHOWN, __ATOMIC_RELEASE);
}

void xb_tally_add(const struct xb_paths *paths, enum xb_tally family, const char *label1,
		  const char *label2, uint64_t amount)
{
	struct front *front = open_to_add(paths);
	struct cell *cell = front ? cell_of(front, family, label1, label2) : NULL;

	if (!cell && front && used_of(front, family))
		cell = cells_of(front, family);
	if (!cell)
		return;
	__atomic_fetch_add(&cell->value, amount, __ATOMIC_RELAXED);
	show(cell);
}

void xb_tally_time(const struct xb_paths *paths, enum xb_tally family, uint64_t nanoseconds)
{
	struct front *front = open_to_add(paths);
	unsigned int bucket = 0;

	if (!front)
		return;
	while (bucket < XB_TALLY_BOUNDS && nanoseconds > xb_tally_bounds[bucket])
		bucket++;
	__atomic_fetch_add(&front->histogram[family][bucket], 1, __ATOMIC_RELAXED);
	xb_tally_add(paths, family, NULL, NULL, nanoseconds);
}

void xb_tally_set(const struct xb_paths *paths, enum xb_tally family, const char *label1,
		  uint64_t value)
{
	struct front *front = open_to_add(paths);
	struct cell *cell = front ? cell_of(front, family, label1, NULL) : NULL;

	if (!cell)
		return;
	__atomic_store_n(&cell->value, value, __ATOMIC_RELAXED);
	show(cell);
}

static void hide(struct front *front, enum xb_tally family, const struct labels *gone)
{
	struct cell *cells = cells_of(front, family);
	uint32_t used = used_of(front, family);

	for (uint32_t i = 0; i < used; i++)
		if (__atomic_load_n(&cells[i].state, __ATOMIC_ACQUIRE) == SHOWN &&
		    !strncmp(cells[i].label[0], gone->text[0], XB_TALLY_LABEL))
			__atomic_store_n(&cells[i].state, HIDDEN, __ATOMIC_RELEASE);
}

void xb_tally_forget(const struct xb_paths *paths, enum xb_tally family, const char *label1)
{
	struct front *front = open_to_add(paths);
	struct labels gone;

	set_labels(&gone, label1, NULL);
	for (enum xb_tally i = 0; front && i < XB_TALLIES; i++)
		if (has_labels(i) &&
		    !strcmp(xb_tally_family(i)->label[0], xb_tally_family(family)->label[0]))
			hide(front, i, &gone);
}

void xb_tallies_look(const struct xb_paths *paths)
{
	xb_tallyfile_look(paths);
}

void xb_tallies_close(void)
{
	xb_tallyfile_close();
}

static bool is_shown(const struct cell *cell)
{
	return __atomic_load_n(&cell->state, __ATOMIC_ACQUIRE) == SHOWN;
}

static bool have_same_labels(const struct cell *a, const struct cell *b)
{
	return a->hash == b->hash && !memcmp(a->label, b->label, sizeof(a->label));
}

/* A counter is the sum of all cells that have its labels; a gauge is in the first of them, which
 * each process finds. False: a cell before this one has shown them. */
static bool sum_up(const struct cell *cells, uint32_t used, uint32_t number, bool gauge,
		   struct xb_tally_cell *sum)
{
	*sum = (struct xb_tally_cell){0};
	for (size_t i = 0; i < 2; i++)
		memcpy(sum->label[i], cells[number].label[i], XB_TALLY_LABEL - 1);
	for (uint32_t i = 0; i < used; i++) {
		if (__atomic_load_n(&cells[i].state, __ATOMIC_ACQUIRE) == UNFINISHED ||
		    !have_same_labels(&cells[i], &cells[number]))
			continue;
		if (i < number && is_shown(&cells[i]))
			return false;
		if (!gauge || i == number)
			sum->value += __atomic_load_n(&cells[i].value, __ATOMIC_RELAXED);
	}
	return true;
}

/* The cell of `_other` is there before anything is in it. */
static bool is_idle_other(enum xb_tally family, uint32_t number, const struct xb_tally_cell *cell)
{
	return !number && has_labels(family) && !cell->value;
}

static void show_cells(struct front *front, enum xb_tally family,
		       void (*each)(const struct xb_tally_cell *, void *), void *context)
{
	const struct cell *cells = cells_of(front, family);
	uint32_t used = used_of(front, family);
	bool gauge = xb_tally_family(family)->kind == XB_TALLY_GAUGE;
	struct xb_tally_cell sum;

	for (uint32_t i = 0; i < used; i++)
		if (is_shown(&cells[i]) && sum_up(cells, used, i, gauge, &sum) &&
		    !is_idle_other(family, i, &sum))
			each(&sum, context);
}

static void show_single(const struct front *front, enum xb_tally family,
			void (*each)(const struct xb_tally_cell *, void *), void *context)
{
	struct xb_tally_cell cell = {0};

	if (front && used_of(front, family))
		sum_up(cells_of((struct front *)(uintptr_t)front, family), 1, 0, false, &cell);
	for (unsigned int i = 0; front && i <= XB_TALLY_BOUNDS; i++)
		cell.bucket[i] = __atomic_load_n(&front->histogram[family][i], __ATOMIC_RELAXED);
	each(&cell, context);
}

void xb_tally_each(const struct xb_paths *paths, enum xb_tally family,
		   void (*each)(const struct xb_tally_cell *, void *), void *context)
{
	struct front *front = open_file(paths, false);

	if (!has_labels(family))
		show_single(front, family, each, context);
	else if (front)
		show_cells(front, family, each, context);
}

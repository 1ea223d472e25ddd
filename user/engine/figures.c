/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

static int by_id(const void *a, const void *b)
{
	const struct xb_list *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

/* By age, so that a new list takes the place of none. */
static int take_lists(struct xb_figures *figures)
{
	struct xb_storeview *store = &figures->health.store;
	size_t count = store->list_count;

	figures->list = calloc(XB_FIGURES_LISTS + 1, sizeof(*figures->list));
	if (!figures->list)
		return xb_out_of_memory();
	if (count)
		qsort(store->lists, count, sizeof(*store->lists), by_id);
	for (size_t i = 0; i < count; i++) {
		size_t at = i < XB_FIGURES_LISTS ? i : XB_FIGURES_LISTS;
		struct xb_figure_list *list = &figures->list[at];

		memcpy(list->name, store->lists[i].name, sizeof(list->name));
		list->entries += store->lists[i].members;
		list->verdict = store->lists[i].verdict;
		list->scope = store->lists[i].scope;
		figures->list_count = at + 1;
	}
	if (count > XB_FIGURES_LISTS) {
		struct xb_figure_list *others = &figures->list[XB_FIGURES_LISTS];

		*others = (struct xb_figure_list){.name = XB_FIGURES_OTHER,
						  .entries = others->entries};
	}
	return 0;
}

static uint64_t size_of_store(const char *state)
{
	char path[XB_PATH_MAX];
	struct stat st;

	return xb_path_join(path, state, XB_STORE_FILE) || stat(path, &st) ? 0
									   : (uint64_t)st.st_size;
}

/* The pins of a generation are made once. */
static uint64_t time_of_generation(const struct xb_paths *paths, const char *name)
{
	char path[XB_PATH_MAX];
	struct stat st;

	return xb_path_join(path, paths->pins, name) || lstat(path, &st) ? 0
									 : (uint64_t)st.st_mtime;
}

static int read_kernel(const struct xb_paths *paths, struct xb_figures *figures)
{
	struct xb_writer kernel = {.paths = paths};
	int error = xb_writer_open_kernel(&kernel);

	if (!error)
		error = xb_health_compare(&kernel, &figures->health);
	if (!error)
		error = xb_carry_read(paths, kernel.anchored ? &kernel.anchor : NULL, &figures->row,
				      &figures->row_count);
	if (!error)
		error = xb_class_figures_read(kernel.anchored ? &kernel.anchor : NULL,
					      &figures->health.store, &figures->classes);
	figures->anchored = kernel.anchored;
	if (!error && kernel.active && kernel.active->header)
		figures->applied = kernel.active->header->applied;
	if (!error && kernel.active)
		figures->created = time_of_generation(paths, kernel.active->name);
	xb_writer_close_kernel(&kernel);
	return error;
}

int xb_figures_read(const struct xb_paths *paths, struct xb_figures *figures)
{
	struct xb_storeview *store = &figures->health.store;
	int error;

	memset(figures, 0, sizeof(*figures));
	error = xb_storeview_glance(paths->state, store);
	if (!error)
		error = read_kernel(paths, figures);
	if (!error)
		error = take_lists(figures);
	if (error)
		return error;
	figures->store_bytes = size_of_store(paths->state);
	if (store->due && store->due < (uint64_t)time(NULL))
		figures->overdue = (uint64_t)time(NULL) - store->due;
	return 0;
}

void xb_figures_free(struct xb_figures *figures)
{
	xb_health_free(&figures->health);
	free(figures->row);
	free(figures->list);
	figures->row = NULL;
	figures->list = NULL;
	figures->row_count = figures->list_count = 0;
}

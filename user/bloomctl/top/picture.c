/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/top/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "bloomctl/advice.h"
#include "bloomctl/cli.h"
#include "engine/requesttext.h"
#include "model/policy.h"

#define TWO_PANELS    120 /* columns */
#define LEFT	      5	  /* tables in the left one */
#define GAP	      2	  /* columns between panels, and between a row's texts */
#define PROBLEM_LINES 3
#define ROOMY	      60 /* columns for long texts in the bars */
#define LAST_LEAST    8	 /* columns of a cell that gets what is left */

/* A part of the screen. */
struct area {
	int row, column, rows, columns;
};

static void fill_bar(int row, const char *left, const char *right)
{
	int columns = screen_columns(), at = columns - screen_width(right);
	int used = screen_put(row, 0, columns, SCREEN_BAR, left);

	for (int i = used; i < columns; i++)
		screen_put(row, i, 1, SCREEN_BAR, " ");
	if (at > used)
		screen_put(row, at, columns, SCREEN_BAR, right);
}

static void draw_head(const struct picture *picture, const struct meter_view *view)
{
	const struct xb_health *health = &view->health;
	const struct xb_totals *totals = &health->store.meta.totals;
	uint64_t listed = totals->host4 + totals->prefix4 + totals->net6 + totals->names;
	char text[256], when[32], dropped[16], count[16];

	snprintf(text, sizeof(text), "%s%s%s  %s dropped/s  %s listed",
		 screen_columns() < ROOMY ? "" : "bloomctl top  ",
		 picture->paused ? "PAUSED  " : "", xb_policy_name(health->policy),
		 table_short(meter_packets(view, view->dropped), dropped),
		 table_short((double)listed, count));
	xb_time_format((uint64_t)time(NULL), when);
	fill_bar(0, text, when + strlen("2026-01-01T"));
}

static void draw_foot(const struct picture *picture)
{
	char text[128];

	if (screen_columns() < ROOMY)
		snprintf(text, sizeof(text), "q quit  space %s  s sort  tab table",
			 picture->paused ? "go on" : "pause");
	else
		snprintf(text, sizeof(text), "q quit  space %s  s sort: %s  tab %s",
			 picture->paused ? "go on" : "pause", table_order_name(picture->order),
			 picture->alone == TABLES ? "one table" : "next table");
	fill_bar(screen_rows() - 1, text, "");
}

/* The length of the first line of the text that fits, at a blank if there is one. */
static size_t line_of(const char *text, int columns)
{
	size_t size = strlen(text), end = (size_t)columns;

	if (size <= end)
		return size;
	while (end && text[end] != ' ')
		end--;
	if (!end)
		end = (size_t)columns;
	while ((text[end] & 0xc0) == 0x80 && end > 1)
		end--; /* not within a character */
	return end;
}

/* Over as many lines as there are, at most; returns how many it took. */
static int draw_wrapped(const struct area *area, enum screen_style style, const char *text)
{
	int row = 0;

	while (*text && row < area->rows && area->columns > 0) {
		char line[512];
		size_t bytes = line_of(text, area->columns);

		snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
		screen_put(area->row + row, area->column, area->columns, style, line);
		text += bytes;
		while (*text == ' ')
			text++;
		row++;
	}
	if (*text && row > 0)
		screen_put(area->row + row - 1, area->columns - 3, 3, style, "...");
	return row;
}

static void take_lines(struct area *area, int lines)
{
	area->row += lines;
	area->rows -= lines;
}

__attribute__((format(printf, 3, 4))) static void
draw_alarm(struct area *area, enum screen_style style, const char *format, ...)
{
	struct area here = *area;
	char text[ADVICE_TEXT + 64];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (here.rows > PROBLEM_LINES)
		here.rows = PROBLEM_LINES;
	take_lines(area, draw_wrapped(&here, style, text));
}

static void draw_trial(const struct xb_health *health, struct area *area)
{
	char command[256];

	if (!health->trial_left)
		return;
	xb_request_command(&health->store.trial.request, command, sizeof(command));
	draw_alarm(area, SCREEN_BOLD, "TRIAL `%s` goes back in %llu seconds", command,
		   (unsigned long long)health->trial_left);
}

/* As many as there is room for; one line is for the number of the others. */
static void draw_list(const struct xb_problems *problems, struct area *area)
{
	char text[ADVICE_TEXT];
	size_t i;

	for (i = 0; i < problems->count; i++) {
		struct area here = *area;

		here.rows -= i + 1 < problems->count;
		if (here.rows <= 0)
			break;
		draw_alarm(&here, SCREEN_ALARM, "PROBLEM %s", advice_for(&problems->item[i], text));
		take_lines(area, here.row - area->row);
	}
	if (i < problems->count)
		draw_alarm(area, SCREEN_ALARM, "PROBLEM and %zu more: `bloomctl status`",
			   problems->count - i);
}

/* They may take a third of the screen. */
static void draw_problems(const struct picture *picture, const struct meter_view *view,
			  struct area *area)
{
	struct area here = *area;

	here.rows = area->rows / 3 > 2 ? area->rows / 3 : 2;
	if (*picture->trouble)
		draw_alarm(&here, SCREEN_ALARM, "PROBLEM %s", picture->trouble);
	draw_list(&view->health.problems, &here);
	draw_trial(&view->health, &here);
	if (*picture->notice)
		draw_alarm(&here, SCREEN_BOLD, "%s", picture->notice);
	take_lines(area, here.row - area->row);
}

/* Of the first column. */
static int widest(const struct table *table, size_t shown)
{
	int most = screen_width(table->columns[0].title);

	for (size_t i = 0; i < table->count && i < shown; i++) {
		int width = screen_width(table->rows[i].cell[0]);

		if (most < width)
			most = width;
	}
	return most;
}

/* Numbers of the tables of a panel stand below each other, unless a name needs more room. */
static int first_width(const struct table *table, size_t shown, int columns, int common)
{
	int width = widest(table, shown), most = columns - table->columns[1].width;

	if (width < common)
		width = common;
	return width > most && most > 0 ? most : width;
}

static int common_width(const struct table *const *tables, const int *shares, size_t count,
			int columns)
{
	int most = 0;

	for (size_t i = 0; i < count; i++) {
		int width = shares[i] ? widest(tables[i], (size_t)shares[i] - 1) : 0;

		if (most < width && width <= columns * 2 / 5)
			most = width;
	}
	return most;
}

static void draw_cell(const struct area *area, int row, int at, const struct table_column *column,
		      enum screen_style style, const char *text)
{
	int left = area->column + at, wide = screen_width(text);

	if (!column->width)
		screen_put(row, left + GAP, area->columns - at - GAP, style, text);
	else if (column->width < 0)
		screen_put(row, left + GAP, -column->width, style, text);
	else
		screen_put(row, left + column->width - wide, wide, style, text);
}

/* cells NULL: the titles. */
static void draw_rest(const struct table *table, const struct area *area, int row, int first,
		      enum screen_style style, const struct table_row *cells)
{
	int at = first;

	for (size_t i = 1; table->columns[i].title; i++) {
		const struct table_column *column = &table->columns[i];
		int width = column->width < 0	? GAP - column->width
			    : column->width > 0 ? column->width
						: GAP + LAST_LEAST;

		if (area->columns < column->least)
			continue;
		if (at + width > area->columns)
			return;
		draw_cell(area, row, at, column, style, cells ? cells->cell[i] : column->title);
		at += width;
	}
}

/* Says how much is shown, if there is room. */
static void draw_title(const struct table *table, const struct area *area, size_t shown, int first)
{
	const char *title = table->columns[0].title;
	char text[64];

	snprintf(text, sizeof(text), "%s (%zu of %zu)", title, shown, table->count);
	screen_put(area->row, area->column, first, SCREEN_TITLE,
		   shown < table->count && screen_width(text) <= first ? text : title);
}

static void draw_table(const struct table *table, const struct area *area, int common)
{
	size_t rows = (size_t)area->rows - 1, shown = rows < table->count ? rows : table->count;
	int first = first_width(table, shown, area->columns, common);

	draw_title(table, area, shown, first);
	draw_rest(table, area, area->row, first, SCREEN_TITLE, NULL);
	if (!table->count)
		screen_put(area->row + 1, area->column, area->columns, SCREEN_PLAIN, table->note);
	for (size_t i = 0; i < shown; i++) {
		const struct table_row *row = &table->rows[i];
		int line = area->row + 1 + (int)i;

		screen_put(line, area->column, first, row->style, row->cell[0]);
		draw_rest(table, area, line, first, row->style, row);
	}
}

static int wanted_rows(const struct table *table)
{
	if (!table->count)
		return *table->note ? 2 : 0;
	return table->count > 1000 ? 1001 : (int)table->count + 1;
}

/* The first ones get two rows each while there are any, then all get one after another. */
static void share_rows(const struct table *const *tables, size_t count, int rows, int *shares)
{
	bool more = true;

	for (size_t i = 0; i < count; i++) {
		shares[i] = wanted_rows(tables[i]) && rows >= 2 ? 2 : 0;
		rows -= shares[i];
	}
	while (more && rows > 0) {
		more = false;
		for (size_t i = 0; i < count && rows > 0; i++)
			if (shares[i] && shares[i] < wanted_rows(tables[i])) {
				shares[i]++;
				rows--;
				more = true;
			}
	}
}

/* A blank line between two tables, if there is room for all of them. */
static int blank_lines(const int *shares, const struct table *const *tables, size_t count, int rows)
{
	int shown = 0;

	for (size_t i = 0; i < count; i++) {
		rows -= shares[i];
		shown += shares[i] > 0;
		if (shares[i] < wanted_rows(tables[i]))
			return 0;
	}
	return shown && rows >= shown - 1;
}

static void draw_panel(const struct table *const *tables, size_t count, const struct area *panel)
{
	int shares[TABLES], common, blank;
	struct area area = *panel;

	share_rows(tables, count, panel->rows, shares);
	common = common_width(tables, shares, count, panel->columns);
	blank = blank_lines(shares, tables, count, panel->rows);
	for (size_t i = 0; i < count; i++) {
		if (!shares[i])
			continue;
		area.rows = shares[i];
		draw_table(tables[i], &area, common);
		area.row += shares[i] + blank;
	}
}

/* What all columns that have a width need. */
static int natural_width(const struct table *const *tables, size_t count)
{
	int first = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		int rest = 0, name = widest(tables[i], tables[i]->count);

		for (size_t j = 1; tables[i]->columns[j].title; j++)
			rest += abs(tables[i]->columns[j].width);
		if (first < name)
			first = name;
		if (most < rest)
			most = rest;
	}
	return first + most;
}

/* The left one is as wide as it needs to be, and half of the screen at most. */
static void draw_two_panels(const struct table *tables, const struct area *area)
{
	const struct table *left[LEFT] = {&tables[TABLE_INTERFACES], &tables[TABLE_REASONS],
					  &tables[TABLE_LIMITS], &tables[TABLE_LISTS],
					  &tables[TABLE_FEEDS]};
	const struct table *right[] = {&tables[TABLE_SOURCES], &tables[TABLE_NAMES]};
	struct area panel = *area;
	int width = natural_width(left, LEFT);

	panel.columns = width < area->columns / 2 ? width : area->columns / 2;
	draw_panel(left, LEFT, &panel);
	panel.column = panel.columns + 2 * GAP;
	panel.columns = area->columns - panel.column;
	draw_panel(right, 2, &panel);
}

static void draw_tables(const struct picture *picture, const struct table *tables,
			const struct area *area)
{
	const struct table *some[TABLES];
	size_t count = 0;

	if (picture->alone == TABLES && area->columns >= TWO_PANELS) {
		draw_two_panels(tables, area);
		return;
	}
	for (enum table_kind kind = 0; kind < TABLES; kind++)
		if (picture->alone == TABLES || picture->alone == kind)
			some[count++] = &tables[kind];
	draw_panel(some, count, area);
}

int picture_draw(const struct picture *picture, const struct meter_view *view)
{
	struct area area = {.row = 1, .rows = screen_rows() - 2, .columns = screen_columns()};
	struct table tables[TABLES];
	int error = tables_make(view, picture->order, tables);

	screen_erase();
	draw_head(picture, view);
	draw_problems(picture, view, &area);
	draw_tables(picture, tables, &area);
	draw_foot(picture);
	screen_show();
	tables_free(tables);
	return error;
}

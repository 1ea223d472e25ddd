/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a reading: what is wrong on top, tables below it, as many rows of each as there is room. */
#ifndef XB_CLI_TOP_PICTURE_H
#define XB_CLI_TOP_PICTURE_H

#include "bloomctl/top/tables.h"

/* What the user of the screen has chosen. */
struct picture {
	enum table_order order;
	enum table_kind alone; /* this table fills the screen; TABLES: all share it */
	bool paused;
	char trouble[512]; /* why there is no newer reading; empty: there is */
	char notice[512];  /* the last of the library's */
};

/* Returns 0 or an error with its message. */
int picture_draw(const struct picture *picture, const struct meter_view *view);

#endif

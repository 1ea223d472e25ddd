/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal as a grid of text in a few styles, and its keys. Only this part knows ncurses. */
#ifndef XB_CLI_TOP_SCREEN_H
#define XB_CLI_TOP_SCREEN_H

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_TITLE, /* of a table */
	SCREEN_BAR,   /* across the whole line */
	SCREEN_ALARM,
	SCREEN_BAD,  /* dropped */
	SCREEN_GOOD, /* passed */
	SCREEN_STYLES,
};

#define SCREEN_RESIZED (-2)
#define SCREEN_NO_KEY  (-1)

/* Takes the terminal that stdout is over. Returns 0, or an error with its message and the terminal
 * as it was. Until screen_close(), nothing may be written to stdout or stderr. */
int screen_open(void);

/* Restores the terminal, if it was taken over. */
void screen_close(void);

int screen_rows(void);
int screen_columns(void);

/* A new picture begins with screen_erase() and is seen after screen_show(). */
void screen_erase(void);
void screen_show(void);

/* Puts as much of the text as fits into `width` columns, and returns how many it took. Characters
 * that this terminal cannot show, or should not get, become '?'. */
int screen_put(int row, int column, int width, enum screen_style style, const char *text);

/* The columns that the text takes. */
int screen_width(const char *text);

/* The next key that was pressed, SCREEN_RESIZED, or SCREEN_NO_KEY. Does not wait. */
int screen_key(void);

#endif

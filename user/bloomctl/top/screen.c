/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libncursesw is loaded when a screen is opened: linked, it would add an eighth to the time that
 * every command takes to start. */
#include "bloomctl/top/screen.h"

#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/crash.h"

#define LIBRARY "libncursesw.so.6"

#define FUNCTIONS(X)                                                                               \
	X(setupterm)                                                                               \
	X(tigetstr)                                                                                \
	X(set_curterm)                                                                             \
	X(del_curterm)                                                                             \
	X(newterm)                                                                                 \
	X(newwin)                                                                                  \
	X(delwin)                                                                                  \
	X(delscreen)                                                                               \
	X(endwin)                                                                                  \
	X(cbreak)                                                                                  \
	X(noecho)                                                                                  \
	X(keypad)                                                                                  \
	X(nodelay)                                                                                 \
	X(curs_set)                                                                                \
	X(has_colors)                                                                              \
	X(start_color)                                                                             \
	X(use_default_colors)                                                                      \
	X(init_pair)                                                                               \
	X(COLOR_PAIR)                                                                              \
	X(getmaxx)                                                                                 \
	X(getmaxy)                                                                                 \
	X(werase)                                                                                  \
	X(wrefresh)                                                                                \
	X(wattrset)                                                                                \
	X(wmove)                                                                                   \
	X(waddnwstr)                                                                               \
	X(wgetch)

static struct {
#define X(name) typeof(&name) name;
	FUNCTIONS(X)
#undef X
} curses;

static struct {
	SCREEN *terminal; /* NULL: not taken over */
	WINDOW *window;
	int attributes[SCREEN_STYLES];
	bool utf8;
	/* For a fault, which leaves no time for ncurses. */
	struct termios modes;
	char leave[128];
	size_t leave_bytes;
} screen;

static int load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return xb_system_error(0, "a live view needs libncursesw: %s", dlerror());
#define X(name)                                                                                    \
	*(void **)&curses.name = dlsym(handle, #name);                                             \
	if (!curses.name)                                                                          \
		return xb_system_error(0, "%s is of another version: it has no %s", LIBRARY, #name);
	FUNCTIONS(X)
#undef X
	return 0;
}

static const char *capability(const char *name)
{
	const char *text = curses.tigetstr(name);

	return text == (const char *)-1 || !text ? "" : text;
}

static int check_terminal(void)
{
	const char *type = getenv("TERM");
	int found;

	if (!type || !*type)
		return xb_input_error("TERM is not set: it says what kind of terminal this is");
	if (curses.setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return xb_input_error(found < 0
					      ? "TERM is '%s', but no descriptions of terminals "
						"are installed (ncurses-base)"
					      : "TERM is '%s', which is no terminal that is known "
						"here (vt100 is what most can do)",
				      XB_SHOW(type));
	if (!*capability("cup"))
		return xb_input_error("TERM is '%s', a terminal that cannot move its cursor",
				      XB_SHOW(type));
	return 0;
}

/* Without the padding that terminfo(5) puts into some, as "$<5>". */
static void remember(const char *text)
{
	for (; *text && screen.leave_bytes < sizeof(screen.leave); text++) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end)
			text = end;
		else
			screen.leave[screen.leave_bytes++] = *text;
	}
}

static void leave_at_once(void)
{
	tcsetattr(STDOUT_FILENO, TCSANOW, &screen.modes);
	if (write(STDOUT_FILENO, screen.leave, screen.leave_bytes) < 0)
		return;
}

static void prepare_to_leave(void)
{
	screen.leave_bytes = 0;
	remember(capability("sgr0"));
	remember(capability("cnorm"));
	remember(*capability("rmcup") ? capability("rmcup") : "\r\n");
	tcgetattr(STDOUT_FILENO, &screen.modes);
	crash_before_end(leave_at_once);
}

static void choose_styles(void)
{
	static const struct {
		int attributes;
		short colour;
	} styles[SCREEN_STYLES] = {
		[SCREEN_BOLD] = {A_BOLD, 0},   [SCREEN_TITLE] = {A_BOLD, COLOR_CYAN},
		[SCREEN_BAR] = {A_REVERSE, 0}, [SCREEN_ALARM] = {A_BOLD, COLOR_RED},
		[SCREEN_BAD] = {0, COLOR_RED}, [SCREEN_GOOD] = {0, COLOR_GREEN},
	};
	bool colours = curses.has_colors() && curses.start_color() == OK;

	if (colours)
		curses.use_default_colors();
	for (int i = 0; i < SCREEN_STYLES; i++) {
		screen.attributes[i] = styles[i].attributes;
		if (!colours || !styles[i].colour)
			continue;
		curses.init_pair((short)i, styles[i].colour, -1);
		screen.attributes[i] |= curses.COLOR_PAIR(i);
	}
}

/* What setupterm() has read. */
static void forget_description(void)
{
	TERMINAL *read = curses.set_curterm(NULL);

	if (read)
		curses.del_curterm(read);
}

static int take_over(void)
{
	screen.terminal = curses.newterm(NULL, stdout, stdin);
	if (!screen.terminal)
		return xb_system_error(0, "the terminal cannot be taken over");
	screen.window = curses.newwin(0, 0, 0, 0);
	if (!screen.window) {
		screen_close();
		return xb_out_of_memory();
	}
	curses.cbreak();
	curses.noecho();
	curses.keypad(screen.window, true);
	curses.nodelay(screen.window, true);
	curses.curs_set(0);
	choose_styles();
	return 0;
}

int screen_open(void)
{
	int error = load();

	if (error)
		return error;
	error = check_terminal();
	if (!error)
		prepare_to_leave();
	forget_description();
	if (error)
		return error;
	setlocale(LC_CTYPE, "");
	screen.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	error = take_over();
	if (error)
		crash_before_end(NULL);
	return error;
}

void screen_close(void)
{
	if (!screen.terminal)
		return;
	curses.endwin();
	if (!*capability("rmcup"))
		putchar('\n'); /* the picture stays: go on below it */
	if (screen.window)
		curses.delwin(screen.window);
	curses.delscreen(screen.terminal);
	screen.terminal = NULL;
	screen.window = NULL;
	crash_before_end(NULL);
}

int screen_rows(void)
{
	return curses.getmaxy(screen.window);
}

int screen_columns(void)
{
	return curses.getmaxx(screen.window);
}

void screen_erase(void)
{
	curses.wattrset(screen.window, 0);
	curses.werase(screen.window);
}

void screen_show(void)
{
	curses.wrefresh(screen.window);
}

/* One character of the text, which this terminal can show; returns its bytes. */
static size_t take_character(const char *text, size_t size, wchar_t *out, int *width)
{
	size_t bytes = xb_utf8_character(text, size);
	char shown[8];
	mbstate_t state = {0};

	*out = L'?';
	*width = 1;
	if (!bytes)
		return 1;
	if (bytes > 1 && !screen.utf8)
		return bytes;
	xb_utf8_show(text, bytes, shown, sizeof(shown));
	if (mbrtowc(out, shown, strlen(shown), &state) > sizeof(shown))
		*out = L'?';
	*width = wcwidth(*out);
	if (*width < 1) {
		*out = L'?';
		*width = 1;
	}
	return bytes;
}

int screen_put(int row, int column, int width, enum screen_style style, const char *text)
{
	size_t left = strlen(text);
	int used = 0;

	if (row < 0 || row >= screen_rows() || column < 0 ||
	    curses.wmove(screen.window, row, column) == ERR)
		return 0;
	curses.wattrset(screen.window, screen.attributes[style]);
	while (left) {
		wchar_t character;
		int wide;
		size_t bytes = take_character(text, left, &character, &wide);

		if (used + wide > width || column + used + wide > screen_columns())
			break;
		curses.waddnwstr(screen.window, &character, 1);
		used += wide;
		text += bytes;
		left -= bytes;
	}
	return used;
}

int screen_width(const char *text)
{
	size_t left = strlen(text);
	int used = 0;

	while (left) {
		wchar_t character;
		int wide;
		size_t bytes = take_character(text, left, &character, &wide);

		used += wide;
		text += bytes;
		left -= bytes;
	}
	return used;
}

int screen_key(void)
{
	int key = curses.wgetch(screen.window);

	if (key == KEY_RESIZE)
		return SCREEN_RESIZED;
	return key == ERR ? SCREEN_NO_KEY : key;
}

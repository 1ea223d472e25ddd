/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bloom/sizing.h"
#include "store/store.h"

bool cli_rate(const struct cli *cli, const char *text, double *rate)
{
	char *end;

	*rate = strtod(text, &end);
	if (end == text || *end || !(*rate >= XB_RATE_MIN && *rate <= XB_RATE_MAX)) {
		cli_usage(cli, "--fpr takes a rate from %s to %s, not '%s'", XB_NUMBER(XB_RATE_MIN),
			  XB_NUMBER(XB_RATE_MAX), text);
		return false;
	}
	return true;
}

/* All of a name that could be one, safe for a terminal. */
struct shown {
	char text[sizeof(((struct xb_list *)0)->name)];
};

static struct shown show_name(const char *name)
{
	struct shown shown = {0};

	xb_utf8_show(name, sizeof(shown.text), shown.text, sizeof(shown.text));
	return shown;
}

bool cli_list_name(const struct cli *cli, const char *name)
{
	if (xb_list_name_ok(name))
		return true;
	if (strlen(name) >= sizeof(((struct xb_list *)0)->name))
		cli_usage(cli,
			  "the list name '%s...' is too long: it has %zu characters, and 64 "
			  "are the most",
			  show_name(name).text, strlen(name));
	else
		cli_usage(cli,
			  "invalid list name '%s': letters, digits, . _ - only, and a letter "
			  "or digit first",
			  show_name(name).text);
	return false;
}

bool cli_list_to_fill(const struct cli *cli, const char *name)
{
	if (strcmp(name, XB_LIST_ALLOW))
		return cli_list_name(cli, name);
	cli_usage(cli,
		  "'%s' is the name of the allowlist's own list; `bloomctl allow add` fills it",
		  name);
	return false;
}

int cli_no_list(const char *name)
{
	return xb_input_error("there is no list %s", show_name(name).text);
}

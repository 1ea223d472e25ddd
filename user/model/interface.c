/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of interfaces and of modes. */
#include "model/interface.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const char *const mode_names[] = {
	[XB_MODE_AUTO] = "auto",
	[XB_MODE_NATIVE] = "native",
	[XB_MODE_SKB] = "skb",
};

const char *xb_mode_name(enum xb_mode mode)
{
	return mode_names[mode];
}

int xb_mode_parse(const char *text, enum xb_mode *mode)
{
	for (unsigned int i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (!strcmp(text, mode_names[i])) {
			*mode = i;
			return 0;
		}
	}
	return xb_input_error("unknown mode '%s': auto, native or skb", text);
}

/* As dev_valid_name() of the kernel, whose isspace() is that of Latin-1; and no device gets a name
 * with '%', which stands for a number to be found. */
static bool kernel_takes(const char *name)
{
	size_t size = strlen(name);

	return size && size < IF_NAMESIZE && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strpbrk(name, "/:% \t\n\v\f\r\xa0");
}

static bool is_text(const char *name)
{
	size_t size = strlen(name);

	while (size) {
		size_t bytes = xb_utf8_character(name, size);

		if (!bytes || xb_utf8_is_control(name, size))
			return false;
		name += bytes;
		size -= bytes;
	}
	return true;
}

int xb_wanted_check(const char *name)
{
	return kernel_takes(name) && is_text(name)
		       ? 0
		       : xb_input_error("'%s' is not a valid interface name", name);
}

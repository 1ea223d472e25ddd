/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/author.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"

static char what[XB_AUTHOR_WHAT + 1];

void xb_author_set(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
}

void xb_author_sign(int argc, char *const *argv)
{
	size_t used = 0;

	what[0] = '\0';
	for (int i = 0; i < argc && used < sizeof(what) - 1; i++) {
		bool quoted = !*argv[i] || strpbrk(argv[i], " \t\n\"'\\$`*?|&;<>()#");
		const char *quote = quoted ? "\"" : "";

		used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s%s%s", i ? " " : "",
					 quote, argv[i], quote);
	}
}

void xb_author_get(struct xb_author *author)
{
	const char *sudo = getenv("SUDO_USER");
	int used;

	*author = (struct xb_author){.uid = getuid()};
	snprintf(author->who, sizeof(author->who), "%.*s", XB_AUTHOR_WHO, sudo ? sudo : "");
	used = snprintf(author->what, sizeof(author->what), "%.32s%s", xb_program(),
			*what ? " " : "");
	snprintf(author->what + used, sizeof(author->what) - (size_t)used, "%.*s",
		 XB_AUTHOR_WHAT - used, what);
	xb_utf8_clean(author->who);
	xb_utf8_clean(author->what);
}

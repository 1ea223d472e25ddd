/* SPDX-License-Identifier: GPL-2.0-or-later */
/* https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include "engine/exposition.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define VALUE_BYTES 128

void xb_exposition_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP " XB_METRIC_PREFIX "%s %s\n", name, help);
	fprintf(out, "# TYPE " XB_METRIC_PREFIX "%s %s\n", name, type);
}

/* Control characters, a line feed among them, are replaced with what is not UTF-8. */
static void put_value(FILE *out, const char *value)
{
	char clean[VALUE_BYTES];

	for (xb_utf8_show(value, strlen(value), clean, sizeof(clean)), value = clean; *value;
	     value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
}

static void put_name(FILE *out, const char *name, const char *suffix,
		     const struct xb_label labels[XB_LABELS])
{
	const char *before = "{";

	fprintf(out, XB_METRIC_PREFIX "%s%s", name, suffix);
	for (size_t i = 0; i < XB_LABELS; i++) {
		if (!labels[i].name)
			continue;
		fprintf(out, "%s%s=\"", before, labels[i].name);
		put_value(out, labels[i].value);
		fputc('"', out);
		before = ",";
	}
	fputs(*before == ',' ? "} " : " ", out);
}

void xb_exposition_sample(FILE *out, const char *name, const char *suffix,
			  const struct xb_label labels[XB_LABELS], uint64_t value)
{
	put_name(out, name, suffix, labels);
	fprintf(out, "%" PRIu64 "\n", value);
}

void xb_exposition_seconds(FILE *out, const char *name, const char *suffix,
			   const struct xb_label labels[XB_LABELS], uint64_t nanoseconds)
{
	put_name(out, name, suffix, labels);
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(nanoseconds / XB_SECOND),
		(uint64_t)(nanoseconds % XB_SECOND));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text format of Prometheus, version 0.0.4: families, samples, labels. */
#ifndef XB_ENGINE_EXPOSITION_H
#define XB_ENGINE_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

#define XB_EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define XB_METRIC_PREFIX   "xdp_bloom_"

/* The lines in front of the samples of a family. name: without the prefix; type: "counter", "gauge"
 * or "histogram". */
void xb_exposition_family(FILE *out, const char *name, const char *type, const char *help);

struct xb_label {
	const char *name;  /* NULL: none */
	const char *value; /* any bytes; escaped, and what is not UTF-8 replaced */
};

#define XB_LABELS 3

/* One line. suffix: "" or that of a histogram, behind the name. */
void xb_exposition_sample(FILE *out, const char *name, const char *suffix,
			  const struct xb_label labels[XB_LABELS], uint64_t value);

/* The same for a number of nanoseconds, written as seconds. */
void xb_exposition_seconds(FILE *out, const char *name, const char *suffix,
			   const struct xb_label labels[XB_LABELS], uint64_t nanoseconds);

#endif

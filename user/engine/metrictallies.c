/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families of the tallies as text. */
#include "engine/metrics.h"

#include "engine/exposition.h"
#include "engine/tallies.h"

struct writing {
	FILE *out;
	const struct xb_tally_family *family;
};

static void put_plain(const struct xb_tally_cell *cell, void *context)
{
	const struct writing *writing = context;
	const struct xb_tally_family *family = writing->family;

	xb_exposition_sample(writing->out, family->name, "",
			     (struct xb_label[XB_LABELS]){{family->label[0], cell->label[0]},
							  {family->label[1], cell->label[1]}},
			     cell->value);
}

/* Without digits that say nothing: 0.0005, 0.25, 10. */
static void format_bound(char text[24], uint64_t nanoseconds)
{
	snprintf(text, 24, "%g", (double)nanoseconds / 1e9);
}

static void put_histogram(const struct xb_tally_cell *cell, void *context)
{
	static const struct xb_label none[XB_LABELS];
	const struct writing *writing = context;
	const char *name = writing->family->name;
	uint64_t count = 0;
	char bound[24];

	for (size_t i = 0; i <= XB_TALLY_BOUNDS; i++) {
		count += cell->bucket[i];
		if (i < XB_TALLY_BOUNDS)
			format_bound(bound, xb_tally_bounds[i]);
		else
			snprintf(bound, sizeof(bound), "+Inf");
		xb_exposition_sample(writing->out, name, "_bucket",
				     (struct xb_label[XB_LABELS]){{"le", bound}}, count);
	}
	xb_exposition_seconds(writing->out, name, "_sum", none, cell->value);
	xb_exposition_sample(writing->out, name, "_count", none, count);
}

void xb_metrics_write_tallies(const struct xb_paths *paths, FILE *out)
{
	static const char *const types[] = {[XB_TALLY_COUNTER] = "counter",
					    [XB_TALLY_GAUGE] = "gauge",
					    [XB_TALLY_HISTOGRAM] = "histogram"};

	for (enum xb_tally i = 0; i < XB_TALLIES; i++) {
		struct writing writing = {out, xb_tally_family(i)};
		enum xb_tally_kind kind = writing.family->kind;

		xb_exposition_family(out, writing.family->name, types[kind], writing.family->help);
		xb_tally_each(paths, i, kind == XB_TALLY_HISTOGRAM ? put_histogram : put_plain,
			      &writing);
	}
}

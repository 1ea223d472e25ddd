/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/curves.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "xdp_bloom/bloom.h"

#define LEFT	  70.0
#define TOP	  40.0
#define WIDTH	  600.0
#define HEIGHT	  400.0
#define BITS_MOST 32.0 /* an element, at the right edge */
#define DECADES	  8.0  /* rates from 1 down to 1e-8 */

/* With so many elements the exact formula is that of many. */
#define ELEMENTS 1e6

struct curve {
	uint32_t hashes; /* 0: the best for each number of bits */
	const char *colour;
	const char *dashes;
};

static const struct curve curves[] = {
	{1, "#999999", ""}, {2, "#e69f00", ""},	 {4, "#56b4e9", ""},
	{8, "#009e73", ""}, {16, "#d55e00", ""}, {0, "#000000", "6 4"},
};
#define CURVES (sizeof(curves) / sizeof(*curves))

static double x_of(double bits)
{
	return LEFT + WIDTH * bits / BITS_MOST;
}

static double y_of(double rate)
{
	return TOP + HEIGHT * fmin(-log10(rate) / DECADES, 1);
}

static double best_rate(double bits)
{
	double best = 1;

	for (uint32_t hashes = 1; hashes <= 32; hashes++)
		best = fmin(best, xb_filter_rate_of(ELEMENTS, bits * ELEMENTS, hashes));
	return best;
}

static void print_axes(void)
{
	for (int decade = 0; decade <= (int)DECADES; decade++) {
		double y = y_of(pow(10, -decade));

		printf("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#dddddd\"/>\n", LEFT,
		       y, LEFT + WIDTH, y);
		if (decade)
			printf("<text x=\"%g\" y=\"%g\" text-anchor=\"end\">1e-%d</text>\n",
			       LEFT - 8, y + 4, decade);
		else
			printf("<text x=\"%g\" y=\"%g\" text-anchor=\"end\">1</text>\n", LEFT - 8,
			       y + 4);
	}
	for (int bits = 0; bits <= (int)BITS_MOST; bits += 4) {
		printf("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#dddddd\"/>\n",
		       x_of(bits), TOP, x_of(bits), TOP + HEIGHT);
		printf("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%d</text>\n", x_of(bits),
		       TOP + HEIGHT + 18, bits);
	}
	printf("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">bits an element (m/n)</text>\n",
	       LEFT + WIDTH / 2, TOP + HEIGHT + 38);
	printf("<text x=\"%g\" y=\"%g\">rate of false positives (p), by hashes (k)</text>\n", LEFT,
	       TOP - 14);
}

static void print_curve(const struct curve *curve)
{
	printf("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" "
	       "points=\"",
	       curve->colour, curve->dashes);
	for (double bits = 0.25; bits <= BITS_MOST; bits += 0.25) {
		double rate = curve->hashes
				      ? xb_filter_rate_of(ELEMENTS, bits * ELEMENTS, curve->hashes)
				      : best_rate(bits);

		if (rate >= pow(10, -DECADES))
			printf("%.1f,%.1f ", x_of(bits), y_of(rate));
	}
	puts("\"/>");
}

static void print_legend(const struct curve *curve, double y)
{
	printf("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"%s\" stroke-width=\"2\" "
	       "stroke-dasharray=\"%s\"/>\n",
	       LEFT + WIDTH + 15, y, LEFT + WIDTH + 45, y, curve->colour, curve->dashes);
	if (curve->hashes)
		printf("<text x=\"%g\" y=\"%g\">k = %u</text>\n", LEFT + WIDTH + 52, y + 4,
		       curve->hashes);
	else
		printf("<text x=\"%g\" y=\"%g\">best k</text>\n", LEFT + WIDTH + 52, y + 4);
}

void curves_print(void)
{
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
	       "font-family=\"sans-serif\" font-size=\"13\">\n",
	       LEFT + WIDTH + 120, TOP + HEIGHT + 55);
	puts("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
	print_axes();
	for (size_t i = 0; i < CURVES; i++) {
		print_curve(&curves[i]);
		print_legend(&curves[i], TOP + 15 + 22 * (double)i);
	}
	puts("</svg>");
}

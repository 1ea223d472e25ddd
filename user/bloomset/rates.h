/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast this machine does what a plan asks, tried on the beginning of the largest file. */
#ifndef XB_BLOOMSET_RATES_H
#define XB_BLOOMSET_RATES_H

#include "bloomset/plan.h"

/* Bytes a second. */
struct rates {
	double read;	 /* of files, with the look at filters or bits */
	double written;	 /* of what is kept, to the disk */
	double compared; /* of what was written, read and compared */
};

int rates_measure(const struct plan *plan, const struct input *inputs,
		  const struct input_terms *terms, struct rates *rates);

#endif

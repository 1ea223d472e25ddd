/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out a set operation by its plan: exactly, and in bounded memory. */
#ifndef XB_BLOOMSET_SETOP_H
#define XB_BLOOMSET_SETOP_H

#include "bloomset/input.h"
#include "bloomset/output.h"
#include "bloomset/plan.h"

/* What was done, for whoever compares it with the plan. */
struct setop_done {
	uint64_t read, written; /* bytes: of files, unpacked; to disk */
};

/* 0, OUTPUT_UNREAD, or an error. */
int setop_run(const struct plan *plan, struct input *inputs, const struct input_terms *terms,
	      struct output *output, struct setop_done *done);

#endif

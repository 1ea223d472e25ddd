/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/program.h"

#include <stddef.h>

static const char *program = "xdp-bloom";
static const char *(*words_of)(enum xb_advice advice);

void xb_program_set(const char *name, const char *(*words)(enum xb_advice advice))
{
	program = name;
	words_of = words;
}

const char *xb_program(void)
{
	return program;
}

const char *xb_advice(enum xb_advice advice)
{
	return words_of ? words_of(advice) : "";
}

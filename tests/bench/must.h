/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all programs of the benchmark end by: an error that is told, or one JSON object. */
#ifndef XB_BENCH_MUST_H
#define XB_BENCH_MUST_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* error: 0, or a negative errno. Ends the process; what is to be removed is left to atexit(). */
static inline void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		xb_error_class() ? xb_error_message() : strerror(-error));
	exit(1);
}

static inline void must_have_arguments(bool right, const char *usage)
{
	if (right)
		return;
	fprintf(stderr, "usage: %s %s; scripts/bench does it\n", program_invocation_short_name,
		usage);
	exit(2);
}

static inline uint32_t number_of(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static inline void put_number(json_t *object, const char *name, uint64_t number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

/* On a line of its own; others may follow. */
static inline void print_json(json_t *report)
{
	must(report ? 0 : -ENOMEM, "report");
	json_dumpf(report, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(report);
	must(fflush(stdout) ? -errno : 0, "output");
}

#endif

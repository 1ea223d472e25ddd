/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a set operation goes about its files within its memory: what is read in which order, what is
 * asked of each text, and what is kept where. */
#ifndef XB_BLOOMSET_PLAN_H
#define XB_BLOOMSET_PLAN_H

#include "bloomset/input.h"
#include "bloomset/rule.h"

#define PLAN_SIEVES 4

enum step_action {
	STEP_KEEP,  /* each text */
	STEP_LEVEL, /* put it into the first sieve that does not have it, of the first `to` + 1 */
	STEP_CHAIN, /* if the sieve `from` has it (-1: in any case), put it into `to`, and keep it
		       if `keeps` */
	STEP_SIFT,  /* keep it if a sieve from `from` to `to` has it; others are in the result, if
		       `gives` */
};

struct step {
	uint32_t input;
	enum step_action action;
	int from, to;
	bool keeps, gives;
	int clears; /* a sieve, before; -1: none */
};

struct plan_sieve {
	uint64_t keys, bytes;
};

struct plan {
	struct rule rule;
	struct step *steps;
	size_t count;
	uint32_t sieves;
	struct plan_sieve sieve[PLAN_SIEVES];
	enum number_form numbers;
	bool bits;	       /* a number is a bit or more in memory, and not kept */
	uint64_t number_pool;  /* otherwise: of memory, for numbers that are kept */
	uint64_t number_bytes; /* of memory, for all numbers; 0: none are expected */
	uint64_t memory;
	uint64_t behind;      /* beside that, for what waits to be written, of each kind */
	uint64_t text_memory; /* for texts: what is left */
	uint64_t pool;	      /* of that, for texts that are kept */
	uint64_t text_bytes, text_lines; /* expected; 0: nobody knows */
	uint64_t number_lines;
	uint64_t bytes; /* of all files, as far as is known */
	bool unknown;	/* the sizes of some are not known */
	bool guessed;	/* some are packed: how much is in them is a guess */
};

/* Texts, numbers and the output. */
#define PLAN_KINDS 3

/* Of memory, beside what is planned: for arrays and margins. */
#define PLAN_BESIDE ((uint64_t)2 << 20)

#define PLAN_MEMORY_LEAST ((uint64_t)16 << 20)

/* Looks at the inputs, orders them if their order does not matter, and fills terms->numbers. The
 * caller has set rule; frees the plan. */
int plan_make(struct plan *plan, uint64_t memory, struct input *inputs, uint32_t count,
	      struct input_terms *terms);
void plan_free(struct plan *plan);

/* Bytes that are read of the files, in all steps. */
uint64_t plan_reads(const struct plan *plan, const struct input *inputs);

#endif

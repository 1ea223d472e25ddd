/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a set operation asks of a key: in how many files it is, or how often. */
#ifndef XB_BLOOMSET_RULE_H
#define XB_BLOOMSET_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
	RULE_ANY,   /* it occurs */
	RULE_ONCE,  /* once in all, in whatever file */
	RULE_ALL,   /* in all files */
	RULE_LEAST, /* in so many files at least */
	RULE_FIRST, /* in file 0 and no other */
};

struct rule {
	enum rule_kind kind;
	uint32_t least; /* of RULE_LEAST */
	uint32_t files; /* all */
};

/* What is known of a key, from records that come file by file, in any order of files. */
struct tally {
	uint32_t last;	/* the file that it was in last */
	uint32_t count; /* files that it is in; of RULE_ONCE: times that it occurs */
};

static inline void rule_begin(struct tally *tally, uint32_t file)
{
	*tally = (struct tally){.last = file, .count = 1};
}

static inline void rule_again(const struct rule *rule, struct tally *tally, uint32_t file)
{
	tally->count += tally->last != file || rule->kind == RULE_ONCE;
	tally->last = file;
}

static inline bool rule_holds(const struct rule *rule, const struct tally *tally)
{
	switch (rule->kind) {
	case RULE_ANY:
		return true;
	case RULE_ONCE:
		return tally->count == 1;
	case RULE_ALL:
		return tally->count == rule->files;
	case RULE_LEAST:
		return tally->count >= rule->least;
	case RULE_FIRST:
		return tally->count == 1 && tally->last == 0;
	}
	return false;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file says of names, for formats in which lines count only together. */
#ifndef XB_LISTS_JUDGE_H
#define XB_LISTS_JUDGE_H

#include "lists/line.h"

/* A format numbers the things that its lines can say of a name; item->says has the number, perhaps
 * with this bit: of all names below the domain, but not of the domain itself. */
#define XB_SAYINGS    10
#define XB_SAYS_BELOW 16U

/* How many lines say each thing of a domain, and the first of them. */
struct xb_said {
	uint32_t count[XB_SAYINGS], line[XB_SAYINGS];
};

enum xb_verdict { XB_VERDICT_OPEN, XB_VERDICT_REFUSED, XB_VERDICT_PASSES };

/* What becomes of queries for a name. */
struct xb_judgement {
	struct xb_said held; /* the format's own: what it needs for the names below */
	uint32_t by;	     /* the line that decides */
	enum xb_verdict verdict;
	const char *why; /* it is not refused, if not because line `by` lets it pass; may be NULL */
};

/* Of whom is judged: all below a domain, the domain itself, or a name that has lines of its own. */
enum xb_judged { XB_JUDGED_BELOW, XB_JUDGED_ITSELF, XB_JUDGED_ALONE };

struct xb_judge {
	/* Sets *now, which is what holds around the name. own: what is said of the domain with all
	 * below it, or of the name alone; below: what is said of all below the domain. */
	void (*judge)(const struct xb_said *own, const struct xb_said *below, enum xb_judged whom,
		      struct xb_judgement *now);
	/* Bits, by the numbers of what lines say. */
	unsigned int plain;   /* a file of which no line says anything else need not be judged */
	unsigned int lists;   /* such a line lists the name, if the verdict is so */
	unsigned int excepts; /* lets it pass, if something around it is refused */
	unsigned int keeps;   /* of these: also otherwise */
	unsigned int silent;  /* no note of such a line if it has no effect */
};

/*
 * Judges all names of the file by all lines; the items are in store order, of kind XB_NAME, with
 * what lines say of them. Afterwards listings and exceptions are left, of which the most specific
 * one decides, in store order, and nothing says anything. What has no effect is counted as unknown.
 * Returns 0, or an error with its message.
 */
int xb_names_judge(struct xb_listfile *file, const struct xb_judge *judge);

/* Keeps a domain as xb_line_keep_domain() does, with what is said of it. */
int xb_names_keep(struct xb_listfile *file, const char *domain, unsigned int how, unsigned int says,
		  const char *comment);

/* Does it with the domain, or the nearest one around it that can be one: of such queries nobody can
 * be sure. XB_LINE_UNKNOWN: there is none. */
int xb_names_keep_around(struct xb_listfile *file, const char *domain, unsigned int how,
			 unsigned int says);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A limit: how much each source may send to some services, or how often each name may be asked for.
 */
#ifndef XB_MODEL_LIMIT_H
#define XB_MODEL_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/scope.h"
#include "xdp_bloom/limit.h"

#define XB_LIMIT_NAME 33 /* bytes, terminator included */

#define XB_LIMIT_RATE_MAX     10000000ULL      /* packets and the like, a second */
#define XB_LIMIT_BYTES_MAX    100000000000ULL  /* bytes a second */
#define XB_LIMIT_BURST_MAX    (1ULL << 20)     /* packets and the like */
#define XB_LIMIT_BURST_BYTES  65536ULL	       /* at least: no IP packet is larger */
#define XB_LIMIT_BURST_TERA   1000000000000ULL /* bytes, at most */
#define XB_LIMIT_BURST_LASTS  86400ULL	       /* seconds that a burst takes at the rate, at most */
#define XB_LIMIT_BURST_LEAST  0.02 /* the same, at least: two jiffies, where they are longest */
#define XB_LIMIT_CAPACITY     16384ULL
#define XB_LIMIT_CAPACITY_MAX 50000000ULL

/* Lines of the meter for each source that is over its rate. docs/design.md has the share of
 * innocent sources that then meet with such. */
#define XB_LIMIT_LINES 4

static inline uint64_t xb_limit_lines(uint64_t capacity)
{
	return capacity * XB_LIMIT_LINES;
}

#define XB_LIMIT_LIST	     65 /* bytes of the name of a list, terminator included */
#define XB_LIMIT_TIMEOUT     600
#define XB_LIMIT_TIMEOUT_MAX 31536000ULL
#define XB_LIMIT_KNOWN_MAX   1000ULL

/* Sources that one limit lists in a minute, and entries up to which it fills its list. */
#define XB_LIMIT_LISTED_A_MINUTE 10000
#define XB_LIMIT_LISTED_IN_ALL	 100000

#define XB_LIMIT_EXEMPT 0

/* In order of the store's record. */
struct xb_limit {
	char name[XB_LIMIT_NAME];
	bool counts;	       /* packets over the limit are counted and pass */
	uint8_t bits4, bits6;  /* of an address, that are the source: 24 or 32, 48 or 64 */
	enum xb_limit_unit of; /* what is counted */
	uint32_t period;       /* seconds: 1, 60, 3600 */
	uint64_t rate;	       /* so many in a period */
	uint64_t burst;	       /* so many at once, after silence */
	uint64_t capacity;     /* sources over their rate at once for which there is room */
	struct xb_scope scope; /* packets to these services */

	char list[XB_LIMIT_LIST]; /* that gets the sources over the limit; no letters: none does */
	uint32_t timeout;	  /* seconds that a source stays there */
	uint32_t longest;	  /* the same, of one that comes there again and again */
	bool forgeable;		  /* the list gets sources that others may have forged, too */
	bool truncates;		  /* queries over the limit are answered: ask over TCP */
	bool names;		  /* it is of registered names that are asked for, not of sources */

	/* Known sources may send so many times as much; XB_LIMIT_EXEMPT: any amount. */
	uint32_t known;
};

/* What stands in a limit where nothing else was asked for; burst 0: xb_limit_complete() sets it. */
extern const struct xb_limit xb_limit_defaults;

/* Whether the text is a name: 1 to 32 letters, digits, '-', '_' and '.', the first a letter or a
 * digit. */
bool xb_limit_name_is_sound(const char *name);

/* Reads such a name. An error with its message. */
int xb_limit_parse_name(const char *text, char name[XB_LIMIT_NAME]);

/* Reads "100/s", "10/m" or "5/h", the number perhaps with k, M or G behind it, which are powers of
 * 1,000. An error with its message. */
int xb_limit_parse_rate(const char *text, uint64_t *rate, uint32_t *period);

/* Reads such a number by itself. what: of the message, as "burst". */
int xb_limit_parse_number(const char *text, const char *what, uint64_t *number);

#define XB_LIMIT_RATE_TEXT 32

/* "100/s"; returns out. */
const char *xb_limit_format_rate(const struct xb_limit *limit, char out[XB_LIMIT_RATE_TEXT]);

/* The words for what is counted, in the order of enum xb_limit_unit, NULL behind the last. */
extern const char *const xb_limit_units[XB_LIMIT_UNITS + 1];

/* Reads one of these words. An error with its message. */
int xb_limit_parse_unit(const char *text, enum xb_limit_unit *of);

/* Reads "drop", "count" or "truncate", what becomes of packets over the limit. An error with its
 * message. */
int xb_limit_parse_over(const char *text, struct xb_limit *limit);

/* Sets what becomes of them where nothing was asked for. names must be set. */
void xb_limit_over_by_default(struct xb_limit *limit);

/* Whether it is that. */
bool xb_limit_over_is_default(const struct xb_limit *limit);

/* That word. */
const char *xb_limit_over(const struct xb_limit *limit);

/* Reads how much of an address is the source, "24", "48" or "24,48"; the other family keeps what it
 * has. Or "name": it is of names. An error with its message. */
int xb_limit_parse_per(const char *text, struct xb_limit *limit);

#define XB_LIMIT_PER_TEXT 16

/* "24,48" or "name"; returns out. */
const char *xb_limit_format_per(const struct xb_limit *limit, char out[XB_LIMIT_PER_TEXT]);

/* Reads "10x" or "exempt", what known sources may send. An error with its message. */
int xb_limit_parse_known(const char *text, uint32_t *known);

#define XB_LIMIT_KNOWN_TEXT 16

/* "10x" or "exempt"; returns out. */
const char *xb_limit_format_known(const struct xb_limit *limit, char out[XB_LIMIT_KNOWN_TEXT]);

#define XB_LIMIT_LIST_TEXT (XB_LIMIT_LIST + 40)

/* The list and for how long a source stays there, as "bad 600 s" or "bad 600..86400 s"; "-": there
 * is none. Returns out. */
const char *xb_limit_format_list(const struct xb_limit *limit, char out[XB_LIMIT_LIST_TEXT]);

/* The burst where none was asked for: what the rate allows in two seconds, at least 5 packets. */
uint64_t xb_limit_burst_for(enum xb_limit_unit of, uint64_t rate, uint32_t period);

/* Whether the limit can be kept as it is. An error with its message. */
int xb_limit_check(const struct xb_limit *limit);

/* Sets the burst if it is 0, and checks the limit. An error with its message. */
int xb_limit_complete(struct xb_limit *limit);

/* Whether all that stands in it is a limit. */
bool xb_limit_is_sound(const struct xb_limit *limit);

#endif

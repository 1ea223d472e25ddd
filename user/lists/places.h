/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which networks of a file are meant, by the country, the continent or the AS that it says of each.
 */
#ifndef XB_LISTS_PLACES_H
#define XB_LISTS_PLACES_H

#include "lists/items.h"
#include "model/listchoice.h"

#define XB_PLACE_CODES (26 * 26)

/* What was asked for. A network has to be in all of those that are. */
struct xb_places {
	bool by_country, by_continent, by_asn;
	bool all_but; /* in a country, and in none of these */
	bool country[XB_PLACE_CODES], continent[XB_PLACE_CODES]; /* by xb_place_code() */
	uint32_t *asn;						 /* in order */
	size_t asns, asn_room;
	/* What was found, for xb_places_end(). */
	bool met[XB_PLACE_CODES];		  /* countries */
	bool met_country, met_continent, met_asn; /* some network has one */
	uint64_t nowhere;			  /* networks without a country */
};

/* What a file says of a network. */
struct xb_place {
	int country, continent; /* xb_place_code(), xb_place_continent(); -1: none */
	uint32_t asn;		/* 0: none */
};

/* Two letters, of which `size` bytes are there, as a number; -1: they are none, or stand for no
 * country that can be told: ZZ and XX, EU and AP. */
int xb_place_code(const char *text, size_t size);

/* The same of a continent. */
int xb_place_continent(const char *text, size_t size);

/* "AS64500" or "64500"; 0: it is neither. */
uint32_t xb_place_asn(const char *text, size_t size);

/* Whether anything was asked for. */
bool xb_places_are_asked(const struct xb_list_choice *choice);

/* Returns 0 or an input error; xb_places_free() frees it in each case. */
int xb_places_parse(const struct xb_list_choice *choice, struct xb_places *places);
void xb_places_free(struct xb_places *places);

/* Only says whether they are right. */
int xb_places_check(const struct xb_list_choice *choice);

enum xb_place_verdict {
	XB_PLACE_OTHER,
	XB_PLACE_MEANT,
	XB_PLACE_NOWHERE, /* of all but some countries: nobody says in which it is */
};

enum xb_place_verdict xb_places_judge(struct xb_places *places, const struct xb_place *place);

/* After the last network: an input error if none says what was asked for. Notes
 * asked countries that there are none of, and how many networks are nowhere. */
int xb_places_end(const struct xb_places *places, struct xb_listfile *file);

#endif

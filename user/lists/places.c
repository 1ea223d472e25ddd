/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "lists/line.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static int letter(char c)
{
	return (c | 0x20) - 'a';
}

int xb_place_continent(const char *text, size_t size)
{
	if (size != 2 || !strchr(LETTERS, text[0]) || !strchr(LETTERS, text[1]) || !text[0] ||
	    !text[1])
		return -1;
	return letter(text[0]) * 26 + letter(text[1]);
}

/* What registries and databases write where they know no country. */
static bool is_no_country(int code)
{
	static const char *const none[] = {"ZZ", "XX", "EU", "AP"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (code == xb_place_continent(none[i], 2))
			return true;
	return false;
}

int xb_place_code(const char *text, size_t size)
{
	int code = xb_place_continent(text, size);

	return is_no_country(code) ? -1 : code;
}

uint32_t xb_place_asn(const char *text, size_t size)
{
	uint64_t number = 0;

	if (size > 2 && letter(text[0]) == letter('a') && letter(text[1]) == letter('s')) {
		text += 2;
		size -= 2;
	}
	if (!size)
		return 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9' || number > UINT32_MAX)
			return 0;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

bool xb_places_are_asked(const struct xb_list_choice *choice)
{
	return choice &&
	       (choice->country || choice->not_country || choice->continent || choice->asn);
}

/* --- what is asked for --- */

static int take_country(struct xb_places *places, const char *word, size_t size)
{
	int code = xb_place_code(word, size);

	if (code < 0)
		return xb_input_error(
			"a country is its code of two letters (ISO 3166), such as DE, "
			"not '%.*s'",
			(int)(size < XB_SHOWN ? size : XB_SHOWN), XB_SHOW(word));
	places->country[code] = true;
	return 0;
}

static int take_continent(struct xb_places *places, const char *word, size_t size)
{
	static const char *const continents[] = {"AF", "AN", "AS", "EU", "NA", "OC", "SA"};
	int code = xb_place_continent(word, size);

	for (size_t i = 0; i < sizeof(continents) / sizeof(continents[0]); i++) {
		if (code != xb_place_continent(continents[i], 2))
			continue;
		places->continent[code] = true;
		return 0;
	}
	return xb_input_error(
		"a continent is AF, AN (Antarctica), AS, EU, NA, OC or SA, not '%.*s'",
		(int)(size < XB_SHOWN ? size : XB_SHOWN), XB_SHOW(word));
}

static int take_asn(struct xb_places *places, const char *word, size_t size)
{
	uint32_t asn = xb_place_asn(word, size);
	int error;

	if (!asn)
		return xb_input_error("the number of an AS is as 64500 or AS64500, not '%.*s'",
				      (int)(size < XB_SHOWN ? size : XB_SHOWN), XB_SHOW(word));
	error = xb_array_grow(&places->asn, &places->asn_room, places->asns + 1,
			      sizeof(*places->asn));
	if (!error)
		places->asn[places->asns++] = asn;
	return error;
}

/* Words with commas between them. text: NULL: nothing is asked. */
static int take_words(const char *text, struct xb_places *places,
		      int (*take)(struct xb_places *places, const char *word, size_t size))
{
	int error = 0;

	while (text && !error) {
		size_t size = strcspn(text, ",");

		error = take(places, text, size);
		text = text[size] ? text + size + 1 : NULL;
	}
	return error;
}

static int compare_asns(const void *a, const void *b)
{
	const uint32_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

int xb_places_parse(const struct xb_list_choice *choice, struct xb_places *places)
{
	int error;

	*places = (struct xb_places){.by_country = choice->country || choice->not_country,
				     .all_but = choice->not_country,
				     .by_continent = choice->continent,
				     .by_asn = choice->asn};
	if (choice->country && choice->not_country)
		return xb_input_error("these countries, or all but some: not both");
	error = take_words(choice->country ?: choice->not_country, places, take_country);
	if (!error)
		error = take_words(choice->continent, places, take_continent);
	if (!error)
		error = take_words(choice->asn, places, take_asn);
	if (!error && places->asns)
		qsort(places->asn, places->asns, sizeof(*places->asn), compare_asns);
	return error;
}

void xb_places_free(struct xb_places *places)
{
	free(places->asn);
	places->asn = NULL;
}

int xb_places_check(const struct xb_list_choice *choice)
{
	struct xb_places places;
	int error = xb_places_parse(choice, &places);

	xb_places_free(&places);
	return error;
}

/* --- what there is --- */

static void meet(struct xb_places *places, const struct xb_place *place)
{
	if (place->country >= 0)
		places->met[place->country] = places->met_country = true;
	places->met_continent |= place->continent >= 0;
	places->met_asn |= place->asn != 0;
}

enum xb_place_verdict xb_places_judge(struct xb_places *places, const struct xb_place *place)
{
	meet(places, place);
	if (places->by_continent && (place->continent < 0 || !places->continent[place->continent]))
		return XB_PLACE_OTHER;
	if (places->by_asn &&
	    !bsearch(&place->asn, places->asn, places->asns, sizeof(*places->asn), compare_asns))
		return XB_PLACE_OTHER;
	if (!places->by_country)
		return XB_PLACE_MEANT;
	if (place->country < 0)
		return places->all_but ? XB_PLACE_NOWHERE : XB_PLACE_OTHER;
	return places->country[place->country] != places->all_but ? XB_PLACE_MEANT : XB_PLACE_OTHER;
}

static int note_absent(const struct xb_places *places, struct xb_listfile *file)
{
	int error = 0;

	for (int code = 0; code < XB_PLACE_CODES && places->by_country && !error; code++)
		if (places->country[code] && !places->met[code])
			error = xb_line_note(file, 0, "no network is in the country %c%c",
					     'A' + code / 26, 'A' + code % 26);
	return error;
}

int xb_places_end(const struct xb_places *places, struct xb_listfile *file)
{
	const char *missing = places->by_country && !places->met_country       ? "country"
			      : places->by_continent && !places->met_continent ? "continent"
			      : places->by_asn && !places->met_asn	       ? "AS"
									       : NULL;
	int error;

	if (missing)
		return xb_input_error("none of its networks has %s %s",
				      *missing == 'A' ? "an" : "a", missing);
	error = note_absent(places, file);
	if (!error && places->nowhere)
		error = xb_line_note(file, 0,
				     "%" PRIu64 " network%s without a country %s not listed",
				     places->nowhere, places->nowhere == 1 ? "" : "s",
				     places->nowhere == 1 ? "is" : "are");
	return error;
}

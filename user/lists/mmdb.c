/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmdb: databases of networks, as MaxMind, DB-IP and IPinfo publish them, and others' own. Which
 * networks are meant has to be said; each counts as a line. */
#include <errno.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/format.h"
#include "lists/line.h"
#include "lists/mmdbpath.h"
#include "lists/places.h"
#include "lists/tar.h"

#define KNOWN 4096 /* records whose verdict is remembered; most networks share a few */

struct selection {
	struct xb_mmdb db;
	struct xb_listfile *file;
	struct xb_places places;
	struct xb_mmdb_conditions conditions;
	struct xb_span_run run;
	struct {
		uint32_t record; /* and 1; 0: none */
		uint8_t verdict;
	} known[KNOWN];
	uint32_t first; /* the first record, to show what the database has */
	bool any;
};

/* Where databases say it: GeoLite2 and DB-IP; IPinfo; IPinfo in former years. */
static const char *const countries[] = {"country.iso_code", "country_code", "country"};
static const char *const continents[] = {"continent.code", "continent_code", "continent"};
static const char *const asns[] = {"autonomous_system_number", "asn",
				   "traits.autonomous_system_number"};

/* The first of the places with a text of two letters. */
static int find_code(struct selection *selection, uint32_t record, const char *const paths[3],
		     int (*code_of)(const char *text, size_t size), int *code)
{
	struct xb_mmdb_value value;
	int error = 0;

	*code = -1;
	for (size_t i = 0; i < 3 && !error; i++) {
		error = xb_mmdb_find(&selection->db.data, record, paths[i], &value);
		if (error || value.kind != XB_MMDB_TEXT || value.size != 2)
			continue;
		*code = code_of(value.text, value.size);
		return 0;
	}
	return error;
}

static int find_asn(struct selection *selection, uint32_t record, uint32_t *asn)
{
	struct xb_mmdb_value value;
	int error = 0;

	*asn = 0;
	for (size_t i = 0; i < 3 && !error && !*asn; i++) {
		error = xb_mmdb_find(&selection->db.data, record, asns[i], &value);
		if (!error && value.kind == XB_MMDB_TEXT)
			*asn = xb_place_asn(value.text, value.size);
		else if (!error && value.kind == XB_MMDB_NUMBER && value.number <= UINT32_MAX)
			*asn = (uint32_t)value.number;
	}
	return error;
}

static int find_place(struct selection *selection, uint32_t record, struct xb_place *place)
{
	const struct xb_places *places = &selection->places;
	int error = 0;

	*place = (struct xb_place){.country = -1, .continent = -1};
	if (places->by_country)
		error = find_code(selection, record, countries, xb_place_code, &place->country);
	if (!error && places->by_continent)
		error = find_code(selection, record, continents, xb_place_continent,
				  &place->continent);
	return error || !places->by_asn ? error : find_asn(selection, record, &place->asn);
}

static int judge(struct selection *selection, uint32_t record, enum xb_place_verdict *verdict)
{
	struct xb_place place;
	bool hold;
	int error =
		xb_mmdb_conditions_hold(&selection->conditions, &selection->db.data, record, &hold);

	if (!error)
		error = find_place(selection, record, &place);
	if (error)
		return error;
	*verdict = xb_places_judge(&selection->places, &place);
	if (!hold)
		*verdict = XB_PLACE_OTHER;
	return 0;
}

static int take_network(void *context, const struct xb_span *network, uint32_t record)
{
	struct selection *selection = context;
	typeof(&selection->known[0]) known = &selection->known[record % KNOWN];
	enum xb_place_verdict verdict = known->verdict;
	int error = 0;

	selection->file->lines++;
	if (!selection->any)
		selection->first = record;
	selection->any = true;
	if (known->record != record + 1)
		error = judge(selection, record, &verdict);
	if (error)
		return error;
	known->record = record + 1;
	known->verdict = (uint8_t)verdict;
	selection->places.nowhere += verdict == XB_PLACE_NOWHERE;
	return verdict == XB_PLACE_MEANT ? xb_span_join(selection->file, &selection->run, network)
					 : 0;
}

/* What the database has: for who asked for something else. */
static int show_paths(struct selection *selection, const char *why, const char *advice)
{
	char paths[256] = "";
	int error = 0;

	if (selection->any)
		error = xb_mmdb_describe(&selection->db.data, selection->first, paths,
					 sizeof(paths));
	if (error || !*paths)
		return xb_input_error("%s%s; the database is of the type '%s'", why, advice,
				      selection->db.type);
	return xb_input_error("%s%s; the database is of the type '%s', its first record has %s",
			      why, advice, selection->db.type, paths);
}

static int only_remember(void *context, const struct xb_span *network, uint32_t record)
{
	struct selection *selection = context;

	(void)network;
	selection->first = record;
	selection->any = true;
	return 1;
}

static int ask_which(struct selection *selection)
{
	int error = xb_mmdb_walk(&selection->db, only_remember, selection);

	if (error < 0)
		return error;
	return show_paths(selection, "which networks of the database are meant has to be said",
			  xb_advice(XB_ADVICE_PLACES));
}

static int end_selection(struct selection *selection)
{
	struct xb_listfile *file = selection->file;
	char why[XB_UNKNOWN_TEXT];
	int error = xb_span_join(file, &selection->run, NULL);

	if (!error && !selection->any)
		return xb_input_error("an MMDB database without networks");
	if (!error)
		error = xb_places_end(&selection->places, file);
	if (!error && !file->count)
		error = xb_input_error("none of its networks is among those that were asked for");
	if (error != -EINVAL)
		return error;
	snprintf(why, sizeof(why), "%s", xb_error_message());
	return show_paths(selection, why, "");
}

static int select_networks(struct selection *selection, const struct xb_list_choice *choice)
{
	int error;

	if (!xb_places_are_asked(choice) && !(choice && choice->mmdb))
		return ask_which(selection);
	error = xb_places_parse(choice, &selection->places);
	if (!error && choice->mmdb)
		error = xb_mmdb_conditions_parse(choice->mmdb, &selection->conditions);
	if (!error)
		error = xb_mmdb_walk(&selection->db, take_network, selection);
	return error ? error : end_selection(selection);
}

/* MaxMind packs its databases with their licence. */
static bool suits(const char *bytes, size_t size)
{
	return xb_mmdb_suits(bytes, size) || xb_tar_suits(bytes, size);
}

static int take_database(struct xb_reading *reading, char *bytes, size_t size)
{
	struct selection *selection = calloc(1, sizeof(*selection));
	const char *database = bytes;
	int error = 0;

	if (!selection)
		return xb_out_of_memory();
	selection->file = reading->file;
	reading->file->lines = 0;
	if (xb_tar_suits(bytes, size))
		error = xb_tar_find(bytes, size, ".mmdb", &database, &size);
	if (!error)
		error = xb_mmdb_open(database, size, &selection->db);
	if (!error)
		error = select_networks(selection, reading->choice);
	xb_places_free(&selection->places);
	free(selection);
	return error;
}

const struct xb_list_format xb_mmdb_format = {
	"mmdb", NULL, NULL, .comments = "", .begins = suits, .document = take_database};

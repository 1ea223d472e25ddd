/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/reading.h"

#include <string.h>

#include "base/text.h"
#include "model/name.h"

static bool is_zone(const struct cli *cli, const char *text)
{
	uint8_t form[XB_NAME_BYTES], used;

	if (*text != '=' && !xb_name_parse(text, strlen(text), form, &used))
		return true;
	xb_error_clear();
	cli_usage(cli, "--zone takes a domain, not '%s'", XB_SHOW(text));
	return false;
}

bool reading_option(const struct cli *cli, struct input_terms *terms, int option)
{
	struct xb_list_choice *choice = &terms->choice;

	switch (option) {
	case 'L':
		return terms->lines = true;
	case 'F':
		terms->format = optarg;
		return true;
	case 'Z':
		terms->zone = optarg;
		return is_zone(cli, optarg);
	case 'C':
		choice->column = optarg;
		return true;
	case 'W':
		choice->where = optarg;
		return true;
	case 'J':
		choice->json = optarg;
		return true;
	case 'O':
		choice->country = optarg;
		return true;
	case 'X':
		choice->not_country = optarg;
		return true;
	case 'T':
		choice->continent = optarg;
		return true;
	case 'A':
		choice->asn = optarg;
		return true;
	case 'P':
		choice->mmdb = optarg;
		return true;
	case 'N':
		choice->set = optarg;
		return true;
	case 'B':
		choice->bounded = true;
		return cli_number(cli, "--skip-bad", optarg, 0, UINT32_MAX, &choice->most_wrong);
	default:
		return false;
	}
}

bool reading_is_of_entries(const struct input_terms *terms)
{
	const struct xb_list_choice *choice = &terms->choice;

	return terms->format || terms->zone || choice->column || choice->where || choice->json ||
	       choice->set || choice->country || choice->not_country || choice->continent ||
	       choice->asn || choice->mmdb || choice->bounded;
}

bool reading_is_sensible(const struct cli *cli, const struct input_terms *terms)
{
	if (!terms->lines || !reading_is_of_entries(terms))
		return true;
	cli_usage(cli, "--lines takes lines as they are: they have no format");
	return false;
}

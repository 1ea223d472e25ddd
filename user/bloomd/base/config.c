/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "store/lists.h"

int config_set_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return xb_out_of_memory();
	free(*text);
	*text = copy;
	return 0;
}

int config_set_mode(const char *value, unsigned int *mode)
{
	char *end;
	unsigned long number = strtoul(value, &end, 8);

	if (end == value || *end || number > 0777 || number & 0111)
		return xb_input_error("'%s' is not the mode of a socket, such as 0660 or 0666",
				      XB_SHOW(value));
	*mode = (unsigned int)number;
	return 0;
}

int config_set_list(char **text, const char *value)
{
	if (!xb_list_name_ok(value))
		return xb_input_error("invalid list name '%s': letters, digits, . _ - only",
				      XB_SHOW(value));
	if (!strcmp(value, XB_LIST_ALLOW))
		return xb_input_error("'%s' is the name of the allowlist's own list", value);
	return config_set_text(text, value);
}

int config_set_file(char **text, const char *value, size_t most)
{
	struct stat about;

	if (*value != '/' || strlen(value) >= most)
		return xb_input_error("not the whole path of a file: '%s'", XB_SHOW(value));
	if (stat(value, &about))
		return xb_input_error("cannot use %s: %s", value, strerror(errno));
	if (!S_ISREG(about.st_mode))
		return xb_input_error("%s is not a file", value);
	return config_set_text(text, value);
}

int config_set_choice(const char *key, const char *value, const char *no, const char *yes,
		      bool *chosen)
{
	*chosen = !strcmp(value, yes);
	return *chosen || !strcmp(value, no) ? 0
					     : xb_input_error("%s takes %s or %s, not '%s'", key,
							      yes, no, XB_SHOW(value));
}

int config_set_number(const char *value, uint64_t most, uint64_t *number)
{
	unsigned long long parsed;
	char *end;

	errno = 0;
	parsed = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || !parsed || parsed > most)
		return xb_input_error("not a whole number from 1 to %" PRIu64 ": '%s'", most,
				      XB_SHOW(value));
	*number = parsed;
	return 0;
}

/* A number with a unit; the table ends with NULL. */
struct unit {
	const char *name;
	uint64_t factor;
};

static bool take_units(const char *value, const struct unit *units, uint64_t most, uint64_t *number)
{
	unsigned long long parsed;
	char *end;

	errno = 0;
	parsed = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || errno || !parsed)
		return false;
	while (units->name && strcasecmp(units->name, end) != 0)
		units++;
	if (!units->name || parsed > most / units->factor)
		return false;
	*number = parsed * units->factor;
	return true;
}

int config_set_seconds(const char *value, uint32_t most, uint32_t *seconds)
{
	static const struct unit units[] = {{"", 1},	  {"s", 1},	 {"m", 60}, {"h", 3600},
					    {"d", 86400}, {"w", 604800}, {0}};
	uint64_t number;

	if (!take_units(value, units, most, &number))
		return xb_input_error(
			"not a whole number of seconds, or one with a unit (90s, 15m, "
			"1h, 30d, 2w), from 1 to %u seconds: '%s'",
			most, XB_SHOW(value));
	*seconds = (uint32_t)number;
	return 0;
}

int config_set_bytes(const char *value, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {0}};

	if (take_units(value, units, (uint64_t)1 << 30, bytes))
		return 0;
	return xb_input_error("not a number of bytes, or one with k, m or g, up to 1g: '%s'",
			      XB_SHOW(value));
}

int config_set_factor(const char *value, double *factor)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end || !(number >= 1 && number <= 1e9))
		return xb_input_error("not a factor of 1 or more, such as 1.5: '%s'",
				      XB_SHOW(value));
	*factor = number;
	return 0;
}

int config_set_share(const char *value, double *share)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || strcmp(end, "%") != 0 || !(percent > 0 && percent <= 100))
		return xb_input_error("not a share above 0%% and up to 100%%, such as 5%%: '%s'",
				      XB_SHOW(value));
	*share = percent / 100;
	return 0;
}

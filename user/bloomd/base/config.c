/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/listener.h"
#include "model/verdict.h"
#include "store/lists.h"

static void *field_of(const struct config_key *key, void *section)
{
	return (char *)section + key->field;
}

int config_text(const struct config_key *key, void *section, const char *value)
{
	return xb_array_set_text(field_of(key, section), value);
}

int config_mode(const struct config_key *key, void *section, const char *value)
{
	unsigned int *mode = field_of(key, section);
	char *end;
	unsigned long number = strtoul(value, &end, 8);

	if (end == value || *end || number > 0777 || number & 0111)
		return xb_input_error("'%s' is not the mode of a socket, such as 0660 or 0666",
				      XB_SHOW(value));
	*mode = (unsigned int)number;
	return 0;
}

int config_check_list(const char *name)
{
	if (!xb_list_name_ok(name))
		return xb_input_error("invalid list name '%s': letters, digits, . _ - only",
				      XB_SHOW(name));
	if (!strcmp(name, XB_LIST_ALLOW))
		return xb_input_error("'%s' is the name of the allowlist's own list", name);
	return 0;
}

int config_list(const struct config_key *key, void *section, const char *value)
{
	int error = config_check_list(value);

	return error ? error : config_text(key, section, value);
}

/* It has to be there by now: a reload that finds none must change nothing. */
int config_group(const struct config_key *key, void *section, const char *value)
{
	gid_t id;
	int error = listener_group(value, &id);

	return error ? error : config_text(key, section, value);
}

static int check_file(const char *path, size_t most, struct stat *about)
{
	if (*path != '/' || strlen(path) >= most)
		return xb_input_error("not the whole path of a file: '%s'", XB_SHOW(path));
	if (stat(path, about))
		return xb_input_error("cannot use %s: %s", path, strerror(errno));
	return S_ISREG(about->st_mode) ? 0 : xb_input_error("%s is not a file", path);
}

/* Who has a key or password can do what it is for. */
int config_check_secret(const char *path, size_t most)
{
	struct stat about;
	int error = check_file(path, most, &about);

	if (!error && about.st_mode & S_IROTH)
		return xb_input_error("everybody can read %s: chmod o-r", path);
	return error;
}

int config_file(const struct config_key *key, void *section, const char *value)
{
	struct stat about;
	int error = check_file(value, key->most, &about);

	return error ? error : config_text(key, section, value);
}

int config_secret(const struct config_key *key, void *section, const char *value)
{
	int error = config_check_secret(value, key->most);

	return error ? error : config_text(key, section, value);
}

/* What opens a door at somebody else's is for nobody but root. */
int config_private(const struct config_key *key, void *section, const char *value)
{
	struct stat about;
	int error = check_file(value, key->most, &about);

	if (!error &&
	    (about.st_mode & (S_IRWXG | S_IRWXO) || (about.st_uid && about.st_uid != geteuid())))
		error = xb_input_error("others than root can read %s: chown root, chmod go=",
				       value);
	return error ? error : config_text(key, section, value);
}

static int choose(const struct config_key *key, void *section, const char *value,
		  const char *const words[2])
{
	bool *chosen = field_of(key, section);

	*chosen = !strcmp(value, words[1]);
	if (*chosen || !strcmp(value, words[0]))
		return 0;
	return xb_input_error("%s takes %s or %s, not '%s'", key->name, words[1], words[0],
			      XB_SHOW(value));
}

int config_yes(const struct config_key *key, void *section, const char *value)
{
	return choose(key, section, value, (const char *[]){"no", "yes"});
}

int config_no(const struct config_key *key, void *section, const char *value)
{
	return choose(key, section, value, (const char *[]){"yes", "no"});
}

int config_flush(const struct config_key *key, void *section, const char *value)
{
	return choose(key, section, value, (const char *[]){"keep", "flush"});
}

int config_number(const struct config_key *key, void *section, const char *value)
{
	if (xb_number_parse(value, 1, key->most, field_of(key, section)))
		return 0;
	return xb_input_error("not a whole number from 1 to %" PRIu64 ": '%s'", key->most,
			      XB_SHOW(value));
}

int config_seconds(const struct config_key *key, void *section, const char *value)
{
	uint32_t *seconds = field_of(key, section);
	uint64_t number;

	if (!xb_seconds_parse(value, 1, key->most, &number))
		return xb_input_error(
			"not a whole number of seconds, or one with a unit (90s, 15m, "
			"1h, 30d, 2w), from 1 to %" PRIu64 " seconds: '%s'",
			key->most, XB_SHOW(value));
	*seconds = (uint32_t)number;
	return 0;
}

int config_bytes(const struct config_key *key, void *section, const char *value)
{
	if (xb_size_parse(value, 1, UINT64_C(1) << 30, field_of(key, section)))
		return 0;
	return xb_input_error("not a number of bytes, or one with k, m or g, up to 1g: '%s'",
			      XB_SHOW(value));
}

int config_factor(const struct config_key *key, void *section, const char *value)
{
	double *factor = field_of(key, section);
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end || !(number >= 1 && number <= 1e9))
		return xb_input_error("not a factor of 1 or more, such as 1.5: '%s'",
				      XB_SHOW(value));
	*factor = number;
	return 0;
}

int config_share(const struct config_key *key, void *section, const char *value)
{
	double *share = field_of(key, section);
	char *end;
	double percent = strtod(value, &end);

	if (end == value || strcmp(end, "%") != 0 || !(percent > 0 && percent <= 100))
		return xb_input_error("not a share above 0%% and up to 100%%, such as 5%%: '%s'",
				      XB_SHOW(value));
	*share = percent / 100;
	return 0;
}

int config_verdict(const struct config_key *key, void *section, const char *value)
{
	struct config_terms *terms = field_of(key, section);

	terms->judges = true;
	return xb_domain_verdict_parse(value, &terms->verdict);
}

int config_scope(const struct config_key *key, void *section, const char *value)
{
	struct config_terms *terms = field_of(key, section);

	terms->scopes = true;
	return xb_scope_parse(value, &terms->scope);
}

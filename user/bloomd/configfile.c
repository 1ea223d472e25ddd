/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/configfile.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/paths.h"
#include "bloomd/crowdsec/csconfig.h"
#include "bloomd/feeds/feedconfig.h"
#include "bloomd/fleet/fleetconfig.h"
#include "bloomd/base/listen.h"
#include "bloomd/base/owners.h"
#include "bloomd/postfix/postfixconfig.h"

static int set_listen(const struct config_key *key, void *section, const char *value)
{
	struct listen_address address;
	int error = listen_parse(value, &address);

	return error ? error : config_text(key, section, value);
}

static const struct config_key http_keys[] = {CONFIG_KEY("listen", set_listen, config, http_listen),
					      {0}};

static const struct config_key known_keys[] = {
	CONFIG_KEY("save", config_seconds, config, known_save, 86400), {0}};

static void *open_whole(struct config *config, const char *word)
{
	(void)word;
	return config;
}

static void *open_api(struct config *config, const char *word)
{
	(void)word;
	return &config->api;
}

static void *open_postfix(struct config *config, const char *word)
{
	(void)word;
	return &config->postfix;
}

static const struct config_section sections[] = {
	{"api", api_keys, false, open_api},
	{"http", http_keys, false, open_whole},
	{"known", known_keys, false, open_whole},
	{"feed", feed_keys, true, feed_config_open},
	{"postfix", postfix_keys, false, open_postfix},
	{CONFIG_CROWDSEC, crowdsec_keys, false, crowdsec_config_open},
	{"fleet", fleet_keys, false, fleet_config_open},
	{0},
};

/* The word of a section "feed NAME"; NULL: the name is not that of the section. */
static const char *word_of(const struct config_section *section, const char *name)
{
	size_t size = strlen(section->name);

	if (strncmp(section->name, name, size) != 0)
		return NULL;
	name += size;
	if (!section->has_word)
		return *name ? NULL : name;
	return *name == ' ' ? name + strspn(name, " ") : NULL;
}

static const struct config_section *find_section(const char *name, const char **word)
{
	const struct config_section *section = sections;

	while (section->name && !(*word = word_of(section, name)))
		section++;
	return section->name ? section : NULL;
}

static int set(struct config *config, const char *name, const char *key, const char *value)
{
	const char *word;
	const struct config_section *section = find_section(name, &word);
	void *opened;

	if (!*name)
		return xb_input_error("'%s' stands before the first section", key);
	if (!section)
		return xb_input_error("unknown section [%s]", name);
	opened = section->open(config, word);
	if (!opened)
		return -EINVAL;
	for (const struct config_key *known = section->keys; known->name; known++)
		if (!strcmp(known->name, key))
			return known->set(known, opened, value);
	return xb_input_error("unknown key '%s' in section [%s]", key, name);
}

#define BLANKS	  " \t\r\n\v\f"
#define LINE_MOST 4096 /* bytes; bloomd.conf(5) says so */

struct reading {
	struct config *config;
	const char *path;
	FILE *file;
	int line;  /* read last */
	int error; /* with its message; nothing is read after it */
	char text[LINE_MOST + 2];
	const char *value; /* of a line for which inih has no room; NULL: inih has it */
};

/* What stands between the blanks, without a comment behind it: as inih does it. */
static char *trim(char *value)
{
	char *end;

	value += strspn(value, BLANKS);
	for (end = value; *end; end++)
		if (*end == ';' && end > value && strchr(BLANKS, end[-1]))
			break;
	while (end > value && strchr(BLANKS, end[-1]))
		end--;
	*end = '\0';
	return value;
}

/* Debian's inih has room for 198 bytes of a line, but an URL may be longer: inih gets the key
 * alone. False: it is not a key with its value that is so long. */
static bool set_aside(struct reading *reading, char *text, size_t size)
{
	size_t key = strcspn(reading->text, "=:");

	if (strchr("#;", reading->text[0])) {
		memcpy(text, "\n", sizeof("\n"));
		return true;
	}
	if (strchr("[" BLANKS, reading->text[0]) || key + sizeof("=-\n") > size)
		return false;
	snprintf(text, size, "%.*s=-\n", (int)key, reading->text);
	reading->value = trim(reading->text + key + 1);
	return true;
}

/* As fgets(): a line, or the end also after an error. inih would take the rest of a line that is
 * too long for another one, and an indented line for another value of the key above it. */
static char *next_line(char *text, int room, void *context)
{
	struct reading *reading = context;
	size_t size = (size_t)room, used, blanks;

	reading->value = NULL;
	if (reading->error || !fgets(reading->text, sizeof(reading->text), reading->file))
		return NULL;
	reading->line++;
	blanks = strspn(reading->text, " \t");
	used = strlen(reading->text) - blanks;
	memmove(reading->text, reading->text + blanks, used + 1);
	if (!strchr(reading->text, '\n') && !feof(reading->file))
		reading->error = xb_input_error("a line has more than %d bytes", LINE_MOST);
	else if (used < size)
		memcpy(text, reading->text, used + 1);
	else if (!set_aside(reading, text, size))
		reading->error = xb_input_error("a line has more than %zu bytes", size - 2);
	return reading->error ? NULL : text;
}

static int take(void *context, const char *section, const char *key, const char *value)
{
	struct reading *reading = context;

	struct config *config = reading->config;

	if (reading->error)
		return 0;
	snprintf(config->at, sizeof(config->at), "%s:%d", reading->path, reading->line);
	reading->error = set(config, section, key, reading->value ? reading->value : value);
	return !reading->error;
}

/* A directory can be opened, but not read. */
static bool is_directory(FILE *file)
{
	struct stat about;

	return !fstat(fileno(file), &about) && S_ISDIR(about.st_mode);
}

static int read_file(const char *path, struct config *config)
{
	struct reading reading = {.config = config, .path = path, .file = fopen(path, "re")};
	int line;

	if (!reading.file)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", path);
	if (is_directory(reading.file)) {
		fclose(reading.file);
		return xb_input_error("%s is a directory, not a file", path);
	}
	line = ini_parse_stream(next_line, &reading, take, &reading);
	if (!reading.error && ferror(reading.file))
		reading.error = xb_system_error(errno, "cannot read it");
	fclose(reading.file);
	/* Of the line that inih did not understand it only tells the number. */
	if (line && (!reading.error || line < reading.line))
		return xb_input_error("%s:%d: not a section, a key with '=' and a value, or a "
				      "comment",
				      path, line);
	return reading.error ? xb_error_prefix(reading.error, "%s:%d", path, reading.line) : 0;
}

static int is_snippet(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return entry->d_name[0] != '.' && size > 5 && !strcmp(entry->d_name + size - 5, ".conf");
}

static int read_directory(const char *directory, struct config *config)
{
	struct dirent **names;
	int count = scandir(directory, &names, is_snippet, alphasort), error = 0;

	if (count < 0)
		return errno == ENOENT ? 0 : xb_system_error(errno, "cannot read %s", directory);
	for (int i = 0; i < count; i++) {
		char path[XB_PATH_MAX];

		if (!error)
			error = xb_path_join(path, directory, names[i]->d_name);
		if (!error)
			error = read_file(path, config);
		free(names[i]);
	}
	free(names);
	return error;
}

static int read_all(const char *file, bool needed, struct config *config)
{
	char directory[XB_PATH_MAX];
	int error = read_file(file, config);

	if (error == -ENOENT && needed)
		return xb_input_error("%s: no such file", file);
	if (error && error != -ENOENT)
		return error;
	if (snprintf(directory, sizeof(directory), "%s.d", file) >= (int)sizeof(directory))
		return xb_input_error("%s: the path is too long", file);
	return read_directory(directory, config);
}

/* Of two sections that do not fit, the file and line are those of the fleet's. */
static int followed_alone(const struct config *config, const struct owner *owner)
{
	const struct fleet_config *fleet = config->fleet;

	if (!fleet_config_only_follows(fleet, owner->list))
		return 0;
	return xb_error_prefix(xb_input_error("[fleet] follows the list %s and does not publish "
					      "it, but %s fills it: publish it, too, or let "
					      "that section fill another list",
					      owner->list, owner->section),
			       "%s", fleet->follow_at);
}

/* On this host nobody may change a list that it only follows. */
static int check_followed(const struct config *config)
{
	int error = 0;

	if (!config->fleet)
		return 0;
	for (const struct owner *owner = config->owners; !error && owner; owner = owner->next)
		error = followed_alone(config, owner);
	return error;
}

int config_read(const char *file, bool needed, struct config **out)
{
	struct config *config = calloc(1, sizeof(*config));
	int error = config ? read_all(file, needed, config) : xb_out_of_memory();

	if (!error) {
		error = feed_config_check(config)
				?: postfix_config_check(&config->postfix)
				?: crowdsec_config_check(config)
				?: fleet_config_check(config);
		if (error)
			xb_error_prefix(error, "%s", file);
		else
			error = check_followed(config);
	}
	if (error) {
		config_free(config);
		config = NULL;
	}
	*out = config;
	return error;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	owners_free(config->owners);
	free(config->api.group);
	free(config->api.query_group);
	free(config->http_listen);
	postfix_config_free(&config->postfix);
	feed_config_free(config->feeds);
	crowdsec_config_free(config->crowdsec);
	fleet_config_free(config->fleet);
	free(config);
}

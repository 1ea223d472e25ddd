/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/fleetconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "bloomd/fleet/connurl.h"
#include "store/lists.h"

#define SNAPSHOT_EVERY 3600 /* seconds */
#define SNAPSHOT_MOST  604800U
#define LOAD_EVERY     300
#define MAX_AGE	       604800
#define AGE_MOST       31536000U
#define TIME_LIMIT     10 /* seconds: for an answer of the server */
#define URL_MAX	       512
#define SECRET_MIN     16 /* bytes of a key file */
#define SECRET_MAX     4096

/* The section is there from its first key on. */
void *fleet_config_open(struct config *config, const char *word)
{
	struct fleet_config *fleet = config->fleet;

	(void)word;
	if (fleet)
		return fleet;
	fleet = calloc(1, sizeof(*fleet));
	if (!fleet) {
		xb_out_of_memory();
		return NULL;
	}
	fleet->snapshot_every = SNAPSHOT_EVERY;
	fleet->load_every = LOAD_EVERY;
	fleet->max_age = MAX_AGE;
	fleet->at = config->at;
	config->fleet = fleet;
	return fleet;
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static int set_url(const struct config_key *key, void *section, const char *value)
{
	struct redis_place place = {0};
	int error;

	if (strlen(value) >= URL_MAX || !is_visible(value))
		return xb_input_error("url has no blanks, and less than %d bytes of ASCII",
				      URL_MAX);
	error = connurl_read(value, &place);
	return error ?: config_text(key, section, value);
}

/* It is a word of a request. */
static int set_user(const struct config_key *key, void *section, const char *value)
{
	if (!*value || strlen(value) > 128 || !is_visible(value))
		return xb_input_error("not the name of a user: '%s'", XB_SHOW(value));
	return config_text(key, section, value);
}

static int read_key(int fd, const char *path, struct mac_key *key)
{
	char secret[SECRET_MAX];
	ssize_t size = read(fd, secret, sizeof(secret)), used = size;
	int error;

	if (size < 0)
		return xb_system_error(errno, "cannot read %s", path);
	/* Line ends behind it are not part of it. */
	while (used && (secret[used - 1] == '\n' || secret[used - 1] == '\r'))
		used--;
	if (used < SECRET_MIN || size == SECRET_MAX)
		error = xb_input_error("%s has no secret of %d to %d bytes; `openssl rand -hex 32` "
				       "makes one",
				       path, SECRET_MIN, SECRET_MAX - 1);
	else
		error = mac_key_of(secret, (size_t)size, key);
	explicit_bzero(secret, sizeof(secret));
	return error;
}

static int set_key_file(const struct config_key *key, void *section, const char *value)
{
	struct fleet_config *fleet = section;
	int error = config_check_secret(value, key->most), fd;

	if (error)
		return error;
	fd = open(value, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return xb_system_error(errno, "cannot read %s", value);
	error = read_key(fd, value, &fleet->key);
	close(fd);
	return error;
}

/* It stands between braces in the names of keys, and is a label of metrics. */
static int set_name(const struct config_key *key, void *section, const char *value)
{
	if (!xb_list_name_ok(value) || strlen(value) > XB_FLEET_NAME)
		return xb_input_error("invalid name of a fleet '%s': at most %d letters, digits, "
				      ". _ - only",
				      XB_SHOW(value), XB_FLEET_NAME);
	return config_text(key, section, value);
}

/* Entries of the list go to this fleet, or come from it, as flag says. */
static int share(struct fleet_config *fleet, const char *list, uint32_t flag)
{
	struct fleet_list *item = fleet->list;
	int error = config_check_list(list);

	if (error)
		return error;
	while (item < fleet->list + fleet->lists && strcmp(item->name, list) != 0)
		item++;
	if (item == fleet->list + XB_SHARES_MAX)
		return xb_input_error("more than %d lists", XB_SHARES_MAX);
	if (item == fleet->list + fleet->lists) {
		*item = (struct fleet_list){0};
		snprintf(item->name, sizeof(item->name), "%s", list);
		fleet->lists++;
	}
	item->flags |= flag;
	return 0;
}

/* A later value replaces an earlier one. */
static void forget(struct fleet_config *fleet, uint32_t flag)
{
	size_t kept = 0;

	for (size_t i = 0; i < fleet->lists; i++) {
		fleet->list[i].flags &= ~flag;
		if (fleet->list[i].flags)
			fleet->list[kept++] = fleet->list[i];
	}
	fleet->lists = kept;
}

/* Names with blanks or commas between them. */
static int set_lists(struct fleet_config *fleet, const char *value, uint32_t flag)
{
	char *copy = strdup(value), *rest = NULL;
	char *word = copy ? strtok_r(copy, " ,\t", &rest) : NULL;
	int error = !copy ? xb_out_of_memory() : word ? 0 : xb_input_error("no list");

	forget(fleet, flag);
	for (; !error && word; word = strtok_r(NULL, " ,\t", &rest))
		error = share(fleet, word, flag);
	free(copy);
	return error;
}

static int set_publish(const struct config_key *key, void *section, const char *value)
{
	(void)key;
	return set_lists(section, value, XB_SHARE_PUBLISH);
}

static int set_follow(const struct config_key *key, void *section, const char *value)
{
	struct fleet_config *fleet = section;
	int error = xb_array_set_text(&fleet->follow_at, fleet->at);

	(void)key;
	return error ?: set_lists(fleet, value, XB_SHARE_FOLLOW);
}

static int set_snapshot_dir(const struct config_key *key, void *section, const char *value)
{
	struct stat about;

	if (*value != '/' || strlen(value) >= XB_PATH_MAX)
		return xb_input_error("not the whole path of a directory: '%s'", XB_SHOW(value));
	if (stat(value, &about))
		return xb_input_error("cannot use %s: %s", value, strerror(errno));
	if (!S_ISDIR(about.st_mode))
		return xb_input_error("%s is not a directory", value);
	return config_text(key, section, value);
}

/* Names of files are put behind it. */
static int set_snapshot_url(const struct config_key *key, void *section, const char *value)
{
	struct fleet_config *fleet = section;
	size_t size = strlen(value);
	int error;

	if (strncmp(value, "https://", 8) != 0 || !value[8])
		return xb_input_error("snapshot-url begins with https:// and has a host, not '%s'",
				      XB_SHOW(value));
	if (size >= URL_MAX || !is_visible(value) || strpbrk(value, "?#@"))
		return xb_input_error("snapshot-url has no blanks, no '?', '#' or '@', and less "
				      "than %d bytes of ASCII",
				      URL_MAX);
	error = config_text(key, section, value);
	while (!error && fleet->snapshot_url[size - 1] == '/')
		fleet->snapshot_url[--size] = '\0';
	return error;
}

#define KEY(name, set, ...) CONFIG_KEY(name, set, fleet_config, __VA_ARGS__)

const struct config_key fleet_keys[] = {
	KEY("url", set_url, url),
	KEY("user", set_user, user),
	KEY("password-file", config_secret, password_file, XB_PATH_MAX),
	KEY("ca", config_file, ca, XB_PATH_MAX),
	KEY("cert", config_file, cert, XB_PATH_MAX),
	KEY("cert-key", config_secret, cert_key, XB_PATH_MAX),
	KEY("cleartext", config_yes, cleartext),
	KEY("key-file", set_key_file, key, XB_PATH_MAX),
	KEY("name", set_name, name),
	KEY("publish", set_publish, list),
	KEY("follow", set_follow, list),
	KEY("max-change", config_factor, factor),
	KEY("snapshot-every", config_seconds, snapshot_every, SNAPSHOT_MOST),
	KEY("snapshot-dir", set_snapshot_dir, snapshot_dir),
	KEY("snapshot-url", set_snapshot_url, snapshot_url),
	KEY("load-every", config_seconds, load_every, SNAPSHOT_MOST),
	KEY("max-age", config_seconds, max_age, AGE_MOST),
	{0},
};

void fleet_config_free(struct fleet_config *fleet)
{
	if (!fleet)
		return;
	free(fleet->url);
	free(fleet->user);
	free(fleet->password_file);
	free(fleet->ca);
	free(fleet->cert);
	free(fleet->cert_key);
	explicit_bzero(&fleet->key, sizeof(fleet->key));
	free(fleet->name);
	free(fleet->follow_at);
	free(fleet->snapshot_dir);
	free(fleet->snapshot_url);
	free(fleet);
}

/* A host that is this machine: nobody else reads what is sent to it. */
static bool is_local(const char *url)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
	const char *host = strstr(url, "://") + 3;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t size = strlen(hosts[i]);

		if (!strncmp(host, hosts[i], size) && strchr(":", host[size]))
			return true;
	}
	return false;
}

static int check_access(const struct fleet_config *fleet)
{
	bool tls = !strncmp(fleet->url, "rediss:", 7), clear = !strncmp(fleet->url, "redis:", 6);

	if (!fleet->cert != !fleet->cert_key)
		return xb_input_error("[fleet] needs both cert and cert-key, or neither");
	if (!tls && (fleet->ca || fleet->cert))
		return xb_input_error("[fleet] has ca or cert, but a url without TLS: use "
				      "rediss://");
	if (fleet->user && !fleet->password_file)
		return xb_input_error("[fleet] has a user, but no password-file");
	if (clear && !is_local(fleet->url) && !fleet->cleartext)
		return xb_input_error("[fleet] would send everything over the network in the "
				      "clear: use rediss://, or say cleartext = yes");
	return 0;
}

/* Of a host that takes snapshots as files: it has no server, and nothing goes from it. */
static int check_files(const struct fleet_config *fleet)
{
	if (fleet->url)
		return xb_input_error("[fleet] has url and snapshot-url: a host follows the server "
				      "or the files");
	if (fleet->user || fleet->password_file || fleet->cert || fleet->snapshot_dir)
		return xb_input_error("[fleet] has snapshot-url: user, password-file, cert and "
				      "snapshot-dir are for hosts with a url");
	for (size_t i = 0; i < fleet->lists; i++)
		if (fleet->list[i].flags & XB_SHARE_PUBLISH)
			return xb_input_error("[fleet] publishes %s, but has snapshot-url, by "
					      "which a host only follows",
					      fleet->list[i].name);
	return 0;
}

/* Others than the server have the files: without a secret, whoever can write them could list what
 * he likes. */
static int check_key(const struct fleet_config *fleet)
{
	static const struct mac_key none;
	const char *which = fleet->snapshot_url ? "snapshot-url" : "snapshot-dir";

	if ((!fleet->snapshot_url && !fleet->snapshot_dir) ||
	    memcmp(&fleet->key, &none, sizeof(none)) != 0)
		return 0;
	return xb_input_error("[fleet] has %s, but no key-file: nothing would show who made the "
			      "files",
			      which);
}

int fleet_config_check(const struct config *config)
{
	const struct fleet_config *fleet = config->fleet;

	if (!fleet)
		return 0;
	if (!fleet->url && !fleet->snapshot_url)
		return xb_input_error("[fleet] has no url");
	if (!fleet->name)
		return xb_input_error("[fleet] has no name");
	if (!fleet->lists)
		return xb_input_error("[fleet] shares no list: it needs publish, follow or both");
	return check_key(fleet) ?: fleet->snapshot_url ? check_files(fleet) : check_access(fleet);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

static bool same_lists(const struct fleet_config *a, const struct fleet_config *b)
{
	if (a->lists != b->lists)
		return false;
	for (size_t i = 0; i < a->lists; i++)
		if (strcmp(a->list[i].name, b->list[i].name) != 0 ||
		    a->list[i].flags != b->list[i].flags)
			return false;
	return true;
}

bool fleet_config_is_same(const struct fleet_config *a, const struct fleet_config *b)
{
	return same_text(a->url, b->url) && same_text(a->user, b->user) &&
	       same_text(a->password_file, b->password_file) && same_text(a->ca, b->ca) &&
	       same_text(a->cert, b->cert) && same_text(a->cert_key, b->cert_key) &&
	       !memcmp(&a->key, &b->key, sizeof(a->key)) && same_text(a->name, b->name) &&
	       same_lists(a, b) && !(a->factor < b->factor || a->factor > b->factor) &&
	       a->snapshot_every == b->snapshot_every &&
	       same_text(a->snapshot_dir, b->snapshot_dir) &&
	       same_text(a->snapshot_url, b->snapshot_url) && a->load_every == b->load_every &&
	       a->max_age == b->max_age;
}

struct conn_target fleet_config_target(const struct fleet_config *fleet)
{
	return (struct conn_target){
		.url = fleet->url,
		.user = fleet->user,
		.password_file = fleet->password_file,
		.ca = fleet->ca,
		.cert = fleet->cert,
		.cert_key = fleet->cert_key,
		.seconds = TIME_LIMIT,
	};
}

bool fleet_config_only_follows(const struct fleet_config *fleet, const char *list)
{
	for (size_t i = 0; i < fleet->lists; i++)
		if (!strcmp(fleet->list[i].name, list))
			return fleet->list[i].flags == XB_SHARE_FOLLOW;
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/csconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/owners.h"
#include "bloomd/feeds/feedconfig.h"

#define EVERY	    10 /* as the bouncers of CrowdSec */
#define RESYNC	    7200
#define TIME_LIMIT  60
#define USAGE_EVERY 900 /* seconds; CrowdSec asks for no less */
#define SHARE	    0.05
#define ENTRIES	    2000000
#define DAY	    86400U

/* Bytes. A byte of words may become three. */
#define URL_MAX	  768
#define WORDS_MAX 100
_Static_assert(URL_MAX + 3 * 3 * WORDS_MAX + 256 < FETCH_URL_MAX, "the URL of the stream fits");

/* The section is there from its first key on. */
void *crowdsec_config_open(struct config *config, const char *word)
{
	struct crowdsec_config *crowdsec = config->crowdsec;

	(void)word;
	if (crowdsec)
		return crowdsec;
	crowdsec = calloc(1, sizeof(*crowdsec));
	if (!crowdsec) {
		xb_out_of_memory();
		return NULL;
	}
	*crowdsec = (struct crowdsec_config){.every = EVERY,
					     .resync = RESYNC,
					     .time_limit = TIME_LIMIT,
					     .usage_every = USAGE_EVERY,
					     .share = SHARE,
					     .most_entries = ENTRIES};
	config->crowdsec = crowdsec;
	return crowdsec;
}

static int set_socket(struct crowdsec_config *crowdsec, const char *path)
{
	int error;

	if (*path != '/' || strlen(path) >= FETCH_SOCKET_MAX)
		return xb_input_error("'%s' is not the whole path of a socket, of at most %d bytes",
				      XB_SHOW(path), FETCH_SOCKET_MAX - 1);
	error = xb_array_set_text(&crowdsec->socket, path);
	return error ? error : xb_array_set_text(&crowdsec->url, "http://127.0.0.1");
}

static int set_url(const struct config_key *key, void *section, const char *value)
{
	struct crowdsec_config *crowdsec = section;
	size_t size = strlen(value);
	int error;

	if (!strncmp(value, "unix:", 5))
		return set_socket(crowdsec, value + 5);
	if (strncasecmp(value, "https://", 8) != 0 && strncasecmp(value, "http://", 7) != 0)
		return xb_input_error("url begins with https://, http:// or unix:, not '%s'",
				      XB_SHOW(value));
	if (size >= URL_MAX || !wire_text_ok(value, FETCH_URL_MAX) || strpbrk(value, " ?#@"))
		return xb_input_error("url has no blanks, no '?', '#' or '@', and less than %d "
				      "bytes of ASCII",
				      URL_MAX);
	free(crowdsec->socket);
	crowdsec->socket = NULL;
	error = config_text(key, section, value);
	while (!error && size && crowdsec->url[size - 1] == '/')
		crowdsec->url[--size] = '\0';
	return error;
}

/* Words with blanks or commas between them become words with commas. */
static int set_words(const struct config_key *key, void *section, const char *value)
{
	char words[WORDS_MAX] = "", *copy = strdup(value), *rest = NULL;
	size_t used = 0;
	int error = copy ? 0 : xb_out_of_memory();

	for (char *word = copy ? strtok_r(copy, " ,\t", &rest) : NULL; word && !error;
	     word = strtok_r(NULL, " ,\t", &rest)) {
		if (used + strlen(word) + 2 > WORDS_MAX)
			error = xb_input_error("more than %d bytes", WORDS_MAX - 1);
		else
			used += (size_t)sprintf(words + used, "%s%s", used ? "," : "", word);
	}
	free(copy);
	if (error)
		return error;
	return used ? config_text(key, section, words) : xb_input_error("no word");
}

static int set_usage_metrics(const struct config_key *key, void *section, const char *value)
{
	struct crowdsec_config *crowdsec = section;

	crowdsec->silent = !strcmp(value, "no");
	if (crowdsec->silent || !strcmp(value, "yes"))
		return 0;
	return config_seconds(key, section, value);
}

#define KEY(name, set, ...) CONFIG_KEY(name, set, crowdsec_config, __VA_ARGS__)

const struct config_key crowdsec_keys[] = {
	KEY("url", set_url, url),
	KEY("key-file", config_secret, key_file, FETCH_PATH_MAX),
	KEY("cert", config_file, cert, FETCH_PATH_MAX),
	KEY("cert-key", config_secret, cert_key, FETCH_PATH_MAX),
	KEY("ca", config_file, ca, FETCH_PATH_MAX),
	KEY("cleartext", config_yes, cleartext),
	KEY("list", config_list, list),
	KEY("every", config_seconds, every, 3600),
	KEY("resync", config_seconds, resync, 7 * DAY),
	KEY("origins", set_words, origins),
	KEY("scenarios-containing", set_words, containing),
	KEY("scenarios-not-containing", set_words, not_containing),
	KEY("verdict", config_verdict, terms),
	KEY("scope", config_scope, terms),
	KEY("max-change", config_factor, factor),
	KEY("max-entries", config_number, most_entries, UINT32_MAX),
	KEY("max-share", config_share, share),
	KEY("time-limit", config_seconds, time_limit, 3600),
	KEY("usage-metrics", set_usage_metrics, usage_every, DAY),
	KEY("on-removal", config_flush, flush),
	{0},
};

void crowdsec_config_free(struct crowdsec_config *crowdsec)
{
	if (!crowdsec)
		return;
	free(crowdsec->url);
	free(crowdsec->socket);
	free(crowdsec->key_file);
	free(crowdsec->cert);
	free(crowdsec->cert_key);
	free(crowdsec->ca);
	free(crowdsec->list);
	free(crowdsec->origins);
	free(crowdsec->containing);
	free(crowdsec->not_containing);
	free(crowdsec);
}

const char *crowdsec_config_list(const struct crowdsec_config *crowdsec)
{
	return crowdsec->list ?: CONFIG_CROWDSEC;
}

/* A host that is this machine, and nobody else reads what is sent to it. */
static bool is_local(const char *url)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
	const char *host = strstr(url, "://") + 3;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t size = strlen(hosts[i]);

		if (!strncasecmp(host, hosts[i], size) && strchr(":/", host[size]))
			return true;
	}
	return false;
}

static int check_access(const struct crowdsec_config *crowdsec)
{
	if (!crowdsec->url)
		return xb_input_error("[crowdsec] has no url");
	if (!crowdsec->cert != !crowdsec->cert_key)
		return xb_input_error("[crowdsec] needs both cert and cert-key, or neither");
	if (!crowdsec->key_file && !crowdsec->cert)
		return xb_input_error("[crowdsec] needs key-file, or cert and cert-key");
	if (!strncasecmp(crowdsec->url, "http:", 5) && !is_local(crowdsec->url) &&
	    !crowdsec->cleartext)
		return xb_input_error("[crowdsec] would send the key over the network in the "
				      "clear: use https, or say cleartext = yes");
	return 0;
}

int crowdsec_config_check(struct config *config)
{
	const struct crowdsec_config *crowdsec = config->crowdsec;
	int error = crowdsec ? check_access(crowdsec) : 0;

	if (!crowdsec || error)
		return error;
	if (feed_config_find(config, CONFIG_CROWDSEC))
		return xb_input_error("[feed " CONFIG_CROWDSEC "] has the name of the bouncer: "
				      "give it another");
	return owners_add(config, "[" CONFIG_CROWDSEC "]", CONFIG_CROWDSEC,
			  crowdsec_config_list(crowdsec));
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

static bool same_terms(const struct config_terms *a, const struct config_terms *b)
{
	char one[XB_SCOPE_TEXT], two[XB_SCOPE_TEXT];

	return a->judges == b->judges && a->verdict == b->verdict && a->scopes == b->scopes &&
	       (!a->scopes ||
		!strcmp(xb_scope_format(&a->scope, one), xb_scope_format(&b->scope, two)));
}

bool crowdsec_config_is_same(const struct crowdsec_config *a, const struct crowdsec_config *b)
{
	return same_text(a->url, b->url) && same_text(a->socket, b->socket) &&
	       same_text(a->key_file, b->key_file) && same_text(a->cert, b->cert) &&
	       same_text(a->cert_key, b->cert_key) && same_text(a->ca, b->ca) &&
	       same_text(a->list, b->list) && same_text(a->origins, b->origins) &&
	       same_text(a->containing, b->containing) &&
	       same_text(a->not_containing, b->not_containing) && a->every == b->every &&
	       a->resync == b->resync && a->time_limit == b->time_limit &&
	       a->usage_every == b->usage_every && same_terms(&a->terms, &b->terms) &&
	       !(a->factor < b->factor || a->factor > b->factor) &&
	       !(a->share < b->share || a->share > b->share) &&
	       a->most_entries == b->most_entries && a->silent == b->silent && a->flush == b->flush;
}

#define ANSWER_BYTES ((uint64_t)256 << 20)

void crowdsec_config_ask(const struct crowdsec_config *crowdsec, struct fetch_request *request)
{
	*request = (struct fetch_request){
		.magic = FETCH_MAGIC,
		.seconds = crowdsec->time_limit,
		.max_bytes = ANSWER_BYTES,
		/* JSON shows its end. */
		.accept_unframed = true,
	};
	snprintf(request->ca, sizeof(request->ca), "%s", crowdsec->ca ?: "");
	snprintf(request->key_file, sizeof(request->key_file), "%s", crowdsec->key_file ?: "");
	snprintf(request->cert, sizeof(request->cert), "%s", crowdsec->cert ?: "");
	snprintf(request->cert_key, sizeof(request->cert_key), "%s", crowdsec->cert_key ?: "");
	snprintf(request->socket, sizeof(request->socket), "%s", crowdsec->socket ?: "");
}

/* Percent-encodes all but what stands for itself everywhere (RFC 3986, 2.3), and the commas. */
static void add_parameter(char *url, const char *name, const char *value)
{
	size_t used = strlen(url);

	if (!value)
		return;
	used += (size_t)sprintf(url + used, "&%s=", name);
	for (; *value; value++) {
		uint8_t byte = (uint8_t)*value;

		if (byte == ',' || strchr("-._~", byte) || (byte >= '0' && byte <= '9') ||
		    ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'))
			used += (size_t)sprintf(url + used, "%c", byte);
		else
			used += (size_t)sprintf(url + used, "%%%02X", byte);
	}
}

void crowdsec_config_stream(const struct crowdsec_config *crowdsec, bool whole,
			    char url[FETCH_URL_MAX])
{
	sprintf(url, "%s/v1/decisions/stream?startup=%s&scopes=ip,range&dedup=false", crowdsec->url,
		whole ? "true" : "false");
	add_parameter(url, "origins", crowdsec->origins);
	add_parameter(url, "scenarios_containing", crowdsec->containing);
	add_parameter(url, "scenarios_not_containing", crowdsec->not_containing);
}

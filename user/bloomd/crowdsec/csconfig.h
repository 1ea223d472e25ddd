/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section [crowdsec] of the configuration. */
#ifndef XB_BLOOMD_CSCONFIG_H
#define XB_BLOOMD_CSCONFIG_H

#include "bloomd/base/config.h"
#include "fetch/wire.h"

struct crowdsec_config {
	char *url;    /* without a slash at the end */
	char *socket; /* path that is asked instead of the host of the URL; NULL: none */
	char *key_file, *cert, *cert_key, *ca;
	char *list;
	char *origins, *containing, *not_containing; /* NULL: all */
	uint32_t every, resync, time_limit;	     /* seconds */
	uint32_t usage_every;			     /* seconds between two reports of use */
	struct config_terms terms;
	double factor, share; /* 0: the default, and all */
	uint64_t most_entries;
	bool cleartext, silent, flush; /* silent: sends no metrics */
};

extern const struct config_key crowdsec_keys[];

/* See struct config_section. */
void *crowdsec_config_open(struct config *config, const char *word);

/* After the last file: what one key alone does not show; enters the owner of the list. */
int crowdsec_config_check(struct config *config);
void crowdsec_config_free(struct crowdsec_config *crowdsec);

/* Whether two of them, neither NULL, ask for the same. */
bool crowdsec_config_is_same(const struct crowdsec_config *a, const struct crowdsec_config *b);

/* Fills in what every request has. */
void crowdsec_config_ask(const struct crowdsec_config *crowdsec, struct fetch_request *request);

/* The URL of the stream of decisions: of all of them, or since the last answer. */
void crowdsec_config_stream(const struct crowdsec_config *crowdsec, bool whole,
			    char url[FETCH_URL_MAX]);

/* The name of the list. */
const char *crowdsec_config_list(const struct crowdsec_config *crowdsec);

#endif

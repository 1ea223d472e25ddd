/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section [fleet] of the configuration. */
#ifndef XB_BLOOMD_FLEETCONFIG_H
#define XB_BLOOMD_FLEETCONFIG_H

#include "bloomd/base/config.h"
#include "bloomd/fleet/conn.h"
#include "bloomd/fleet/mac.h"
#include "store/fleet.h"

/* A list that the section names. */
struct fleet_list {
	char name[65];
	uint32_t flags; /* XB_SHARE_PUBLISH, XB_SHARE_FOLLOW */
};

struct fleet_config {
	char *url, *user, *password_file;
	char *ca, *cert, *cert_key;
	struct mac_key key; /* of the fleet's secret, as the key file had it; all zero: none */
	char *name;	    /* of the fleet */
	struct fleet_list list[XB_SHARES_MAX];
	size_t lists;
	const char *at;		 /* while it is read: "FILE:LINE" of the key */
	char *follow_at;	 /* "FILE:LINE" that says what is followed; NULL: nothing does */
	double factor;		 /* by which a list may shrink at once; 0: the default */
	uint32_t snapshot_every; /* seconds */
	bool cleartext;
	char *snapshot_dir; /* where snapshots go as files; NULL: nowhere */
	char *snapshot_url; /* https:, without '/' behind it: where they come from in the place of
			       `url`; NULL: from the server */
	uint32_t load_every, max_age; /* seconds; of snapshots that come so */
};

extern const struct config_key fleet_keys[];

/* See struct config_section. */
void *fleet_config_open(struct config *config, const char *word);

/* After the last file: what one key alone does not show. */
int fleet_config_check(const struct config *config);
void fleet_config_free(struct fleet_config *fleet);

/* Whether two of them, neither NULL, ask for the same. */
bool fleet_config_is_same(const struct fleet_config *a, const struct fleet_config *b);

/* Where the server is; the texts stay those of the configuration. */
struct conn_target fleet_config_target(const struct fleet_config *fleet);

/* Whether the list is followed and not published. */
bool fleet_config_only_follows(const struct fleet_config *fleet, const char *list);

#endif

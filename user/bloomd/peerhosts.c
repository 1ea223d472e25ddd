/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/peerhosts.h"

#include <stdlib.h>
#include <string.h>

#include "bloomd/crowdsec/csconfig.h"
#include "bloomd/feeds/feedconfig.h"
#include "bloomd/fleet/fleetconfig.h"

bool peerhosts_have(const struct peerhosts *hosts, const char *name)
{
	for (size_t i = 0; i < hosts->count; i++)
		if (!strcmp(hosts->name[i], name))
			return true;
	return false;
}

/* url: NULL: not set. */
static void add(struct peerhosts *hosts, const char *url)
{
	char name[XB_PEER_HOST_MAX];

	if (!url || !xb_peer_host(url, name) || peerhosts_have(hosts, name))
		return;
	if (hosts->count == XB_PEER_HOSTS)
		hosts->more++;
	else
		strcpy(hosts->name[hosts->count++], name);
}

/* Those by which libcurl finds them. */
static void add_proxies(struct peerhosts *hosts)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add(hosts, getenv(names[i]));
}

void peerhosts_find(const struct config *config, struct peerhosts *hosts)
{
	const struct fleet_config *fleet = config->fleet;
	const struct crowdsec_config *crowdsec = config->crowdsec;

	hosts->count = hosts->more = 0;
	if (fleet) {
		add(hosts, fleet->url);
		add(hosts, fleet->snapshot_url);
	}
	if (crowdsec && !crowdsec->socket)
		add(hosts, crowdsec->url);
	if (config->feeds || (fleet && fleet->snapshot_url))
		add_proxies(hosts);
	for (const struct feed_config *feed = config->feeds; feed; feed = feed->next)
		add(hosts, feed->url);
}

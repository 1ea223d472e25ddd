/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom the configuration and the environment name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomd/crowdsec/csconfig.h"
#include "bloomd/feeds/feedconfig.h"
#include "bloomd/fleet/fleetconfig.h"
#include "bloomd/peerhosts.h"
#include "support/cmocka.h"

static struct peerhosts hosts;

static int begin(void **state)
{
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	return 0;
}

/* "HOST; HOST...": whom the configuration names. */
static void assert_found(const struct config *config, const char *names)
{
	char found[1024] = "";

	peerhosts_find(config, &hosts);
	for (size_t i = 0; i < hosts.count; i++)
		strcat(strcat(found, i ? "; " : ""), hosts.name[i]);
	assert_string_equal(found, names);
}

TEST(each_host_is_named_once)
{
	struct feed_config last = {.url = (char[]){"http://feeds.example/b"}};
	struct feed_config local = {.next = &last, .url = (char[]){"file:///srv/list"}};
	struct feed_config first = {.next = &local, .url = (char[]){"https://feeds.example/a"}};
	struct fleet_config fleet = {.url = (char[]){"rediss://redis.example:6380"}};
	struct fleet_config files = {.snapshot_url = (char[]){"https://files.example/fleet"}};
	struct fleet_config beside = {.url = (char[]){"unix:/run/redis.sock"}};
	struct crowdsec_config crowdsec = {.url = (char[]){"http://10.0.0.5:8080"}};
	struct crowdsec_config by_socket = {.url = (char[]){"http://10.0.0.5:8080"},
					    .socket = (char[]){"/run/crowdsec.sock"}};
	struct config config = {.feeds = &first, .fleet = &fleet, .crowdsec = &crowdsec};

	assert_found(&config, "redis.example; 10.0.0.5; feeds.example");
	assert_true(peerhosts_have(&hosts, "feeds.example"));
	assert_false(peerhosts_have(&hosts, "feeds.exampl"));
	setenv("http_proxy", "proxy.example:3128", 1);
	setenv("HTTPS_PROXY", "http://user:secret@[fd00::1]:3128/", 1);
	assert_found(&config, "redis.example; 10.0.0.5; proxy.example; fd00::1; feeds.example");
	/* The socket is asked instead, and so is the web server. */
	config = (struct config){.fleet = &files, .crowdsec = &by_socket};
	assert_found(&config, "files.example; proxy.example; fd00::1");
	/* No proxy stands before these. */
	config = (struct config){.fleet = &beside, .crowdsec = &crowdsec};
	assert_found(&config, "10.0.0.5");
	assert_found(&(struct config){0}, "");
}

TEST(there_are_not_too_many)
{
	static struct feed_config feeds[XB_PEER_HOSTS + 3];
	static char urls[XB_PEER_HOSTS + 3][64];

	for (size_t i = 0; i < XB_PEER_HOSTS + 3; i++) {
		snprintf(urls[i], sizeof(urls[i]), "https://h%zu.example/", i);
		feeds[i].url = urls[i];
		feeds[i].next = i + 1 < XB_PEER_HOSTS + 3 ? &feeds[i + 1] : NULL;
	}
	peerhosts_find(&(struct config){.feeds = feeds}, &hosts);
	assert_int_equal(hosts.count, XB_PEER_HOSTS);
	assert_int_equal(hosts.more, 3);
	assert_string_equal(hosts.name[XB_PEER_HOSTS - 1], "h63.example");
}

EACH_TEST(begin, NULL);

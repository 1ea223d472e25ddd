/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolv.conf(5) and lease files. */
#include "machine/servers.h"

#include <stdio.h>
#include <string.h>

#include "machine/lifelines.h"
#include "machine/sockaddr.h"
#include "machine/sysfile.h"

#define BLANKS " \t"

#define RESOLV_CONF	"/etc/resolv.conf"
#define RESOLVED_CONF	"/run/systemd/resolve/resolv.conf"
#define NETWORKD_LEASES "/run/systemd/netif/leases"
#define DHCLIENT_LEASES "/var/lib/dhcp"

/* packaging/xdp-bloom-online.path has the same. */
const char *const xb_server_places[] = {RESOLV_CONF, RESOLVED_CONF, NETWORKD_LEASES,
					DHCLIENT_LEASES, NULL};

struct resolvers {
	struct xb_lifelines *out;
	bool local; /* one of them is this machine */
};

static int on_resolver_line(char *line, const char *path, void *context)
{
	struct resolvers *resolvers = context;
	char *rest, *word = strtok_r(line, BLANKS, &rest);
	struct xb_entry entry;

	if (!word || strcmp(word, "nameserver"))
		return 0;
	word = strtok_r(NULL, BLANKS, &rest);
	if (!word || !xb_address_parse(word, &entry) || xb_address_is_unspecified(&entry))
		return 0;
	if (xb_address_is_loopback(&entry)) {
		resolvers->local = true;
		return 0;
	}
	return xb_lifelines_add(resolvers->out, &entry, XB_LIFELINE_RESOLVER, "%s", path);
}

int xb_resolvers_find(struct xb_lifelines *out)
{
	struct resolvers resolvers = {.out = out};
	int error = xb_sysfile_lines(RESOLV_CONF, on_resolver_line, &resolvers);

	if (error || !resolvers.local)
		return error;
	return xb_sysfile_lines(RESOLVED_CONF, on_resolver_line, &resolvers);
}

static int on_networkd_line(char *line, const char *path, void *out)
{
	static const char name[] = "SERVER_ADDRESS=";
	struct xb_entry entry;

	if (strncmp(line, name, sizeof(name) - 1) ||
	    !xb_address_parse(line + sizeof(name) - 1, &entry) ||
	    xb_address_is_unspecified(&entry) || xb_address_is_loopback(&entry))
		return 0;
	return xb_lifelines_add(out, &entry, XB_LIFELINE_DHCP, "%s", path);
}

struct leases {
	struct xb_lifelines *out;
	struct xb_entry server;				   /* of the last lease so far */
	char path[sizeof(((struct xb_lifeline *)0)->why)]; /* of its file; empty: none yet */
};

static int add_last(struct leases *leases)
{
	if (!leases->path[0])
		return 0;
	return xb_lifelines_add(leases->out, &leases->server, XB_LIFELINE_DHCP, "%s", leases->path);
}

/* dhclient appends: the newest lease of a file is its last. */
static int on_dhclient_line(char *line, const char *path, void *context)
{
	struct leases *leases = context;
	char *rest, *word = strtok_r(line, BLANKS, &rest);
	struct xb_entry entry;
	int error = 0;

	if (!word || strcmp(word, "option"))
		return 0;
	word = strtok_r(NULL, BLANKS, &rest);
	if (!word || strcmp(word, "dhcp-server-identifier"))
		return 0;
	word = strtok_r(NULL, BLANKS ";", &rest);
	if (!word || !xb_address_parse(word, &entry) || xb_address_is_unspecified(&entry) ||
	    xb_address_is_loopback(&entry))
		return 0;
	if (strncmp(leases->path, path, sizeof(leases->path) - 1))
		error = add_last(leases);
	leases->server = entry;
	snprintf(leases->path, sizeof(leases->path), "%s", path);
	return error;
}

int xb_dhcp_servers_find(struct xb_lifelines *out)
{
	struct leases leases = {.out = out};
	int error = xb_sysfile_lines(NETWORKD_LEASES "/*", on_networkd_line, out);

	if (!error)
		error = xb_sysfile_lines(DHCLIENT_LEASES "/dhclient*.leases", on_dhclient_line,
					 &leases);
	return error ? error : add_last(&leases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/peerfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/runfile.h"
#include "machine/sockaddr.h"

#define LINE_BYTES (XB_PEER_HOST_MAX + 80)
#define FILE_BYTES ((size_t)XB_PEERS_MAX * LINE_BYTES)

#define IN_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define IN_HOST IN_NAME ":"

/* --- hosts and addresses --- */

static const char *skip_user(const char *text)
{
	size_t size = strcspn(text, "/?#");

	for (size_t i = size; i > 0; i--)
		if (text[i - 1] == '@')
			return text + i;
	return text;
}

bool xb_peer_host(const char *url, char host[XB_PEER_HOST_MAX])
{
	const char *scheme_end = strstr(url, "://");
	const char *text = scheme_end ? scheme_end + 3 : url;
	bool bracket;
	size_t size;

	if (!strncmp(url, "file:", 5) || !strncmp(url, "unix:", 5))
		return false;
	text = skip_user(text);
	bracket = *text == '[';
	text += bracket;
	size = strspn(text, bracket ? IN_HOST : IN_NAME);
	if (!size || size >= XB_PEER_HOST_MAX || !strchr(bracket ? "]" : ":/?#", text[size]))
		return false;
	memcpy(host, text, size);
	host[size] = '\0';
	return true;
}

bool xb_peer_address_ok(const struct xb_entry *address)
{
	uint32_t first = xb_entry_ipv4(address) >> 24;

	if (xb_address_is_loopback(address))
		return false;
	if (xb_entry_is_ipv4(address))
		return first > 0 && first < 224;
	return !xb_address_is_unspecified(address) && address->hi >> 56 != 0xff;
}

/* --- the list --- */

int xb_peer_put(struct xb_peer_list *list, const struct xb_peer *peer)
{
	struct xb_peer *oldest = NULL;
	size_t addresses = 0;
	int error;

	for (size_t i = 0; i < list->count; i++) {
		struct xb_peer *one = &list->item[i];

		if (strcmp(one->host, peer->host) != 0)
			continue;
		if (!xb_entry_compare(&one->address, &peer->address)) {
			one->seen = one->seen > peer->seen ? one->seen : peer->seen;
			return 0;
		}
		addresses++;
		oldest = !oldest || one->seen < oldest->seen ? one : oldest;
	}
	if (addresses >= XB_PEER_ADDRESSES) {
		if (oldest->seen < peer->seen)
			*oldest = *peer;
		return 0;
	}
	if (list->count >= XB_PEERS_MAX)
		return 0;
	error = xb_array_grow(&list->item, &list->room, list->count + 1, sizeof(*list->item));
	if (!error)
		list->item[list->count++] = *peer;
	return error;
}

void xb_peers_free(struct xb_peer_list *list)
{
	free(list->item);
	*list = (struct xb_peer_list){0};
}

/* --- the file --- */

static bool take_host(const char *text, char host[XB_PEER_HOST_MAX])
{
	size_t size = strlen(text);

	if (!size || size >= XB_PEER_HOST_MAX || strspn(text, IN_HOST) != size)
		return false;
	memcpy(host, text, size + 1);
	return true;
}

/* A time that is still to come is now: the clock was set back since. */
static bool take_time(const char *text, int64_t now, int64_t *seen)
{
	char *end;

	*seen = strtoll(text, &end, 10);
	if (*end || *seen < now - XB_PEER_SECONDS)
		return false;
	*seen = *seen < now ? *seen : now;
	return true;
}

static bool parse(char *line, int64_t now, struct xb_peer *peer)
{
	const char *address = strsep(&line, " ");
	const char *host = line ? strsep(&line, " ") : NULL;

	return line && xb_address_parse(address, &peer->address) &&
	       xb_peer_address_ok(&peer->address) && take_host(host, peer->host) &&
	       take_time(line, now, &peer->seen);
}

static int read_lines(char *text, int64_t now, struct xb_peer_list *list)
{
	char *rest = text, *line;
	int error = 0;

	while (!error && (line = strsep(&rest, "\n"))) {
		struct xb_peer peer = {0};

		if (parse(line, now, &peer))
			error = xb_peer_put(list, &peer);
	}
	return error;
}

int xb_peers_read(const char *run, int64_t now, struct xb_peer_list *list)
{
	int fd = xb_runfile_open(run, XB_PEER_FILE, FILE_BYTES), error;
	char *text;
	ssize_t size;

	if (fd < 0)
		return fd;
	text = malloc(FILE_BYTES + 1);
	size = text ? read(fd, text, FILE_BYTES) : -1;
	if (!text)
		error = xb_out_of_memory();
	else
		error = size < 0 ? xb_system_error(errno, "cannot read %s/" XB_PEER_FILE, run) : 0;
	close(fd);
	if (!error) {
		text[size] = '\0';
		error = read_lines(text, now, list);
	}
	free(text);
	return error;
}

int xb_peers_write(const char *run, const struct xb_peer_list *list)
{
	char *text = malloc(list->count * LINE_BYTES + 1), address[XB_ENTRY_TEXT];
	size_t size = 0;
	int error;

	if (!text)
		return xb_out_of_memory();
	*text = '\0';
	for (size_t i = 0; i < list->count; i++) {
		const struct xb_peer *one = &list->item[i];

		size += (size_t)snprintf(text + size, LINE_BYTES, "%s %s %" PRId64 "\n",
					 xb_entry_format(&one->address, address), one->host,
					 one->seen);
	}
	error = xb_runfile_replace(run, XB_PEER_FILE, text);
	free(text);
	return error;
}

int xb_peers_find(const char *run, struct xb_lifelines *out)
{
	static const struct xb_entry any = {.kind = XB_HOST4, .length = 32};
	struct xb_peer_list list = {0};
	int error = xb_peers_read(run, time(NULL), &list);

	if (error) {
		if (error != -ENOENT)
			xb_notice("%s", xb_error_message());
		xb_peers_free(&list);
		return 0;
	}
	error = xb_lifelines_see(out, &any, XB_LIFELINE_PEER, XB_PEER_FILE);
	for (size_t i = 0; !error && i < list.count; i++)
		error = xb_lifelines_add(out, &list.item[i].address, XB_LIFELINE_PEER,
					 "bloomd asks %s", list.item[i].host);
	xb_peers_free(&list);
	return error;
}

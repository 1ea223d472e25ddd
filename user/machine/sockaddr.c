/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From bytes, socket addresses and text to entries. */
#include "machine/sockaddr.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>

static void from_ipv4(const void *bytes, struct xb_entry *entry)
{
	uint32_t address;

	memcpy(&address, bytes, sizeof(address));
	*entry = (struct xb_entry){
		.hi = (uint64_t)ntohl(address) << 32, .kind = XB_HOST4, .length = 32};
}

bool xb_address_from_bytes(int family, const void *bytes, struct xb_entry *entry)
{
	struct in6_addr address;
	uint64_t halves[2];

	if (family == AF_INET) {
		from_ipv4(bytes, entry);
		return true;
	}
	if (family != AF_INET6)
		return false;
	memcpy(&address, bytes, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address)) {
		from_ipv4(address.s6_addr + 12, entry);
		return true;
	}
	memcpy(halves, bytes, sizeof(halves));
	*entry = (struct xb_entry){
		.hi = be64toh(halves[0]), .lo = be64toh(halves[1]), .kind = XB_NET6, .length = 128};
	return true;
}

bool xb_address_from_socket(const struct sockaddr_storage *socket, struct xb_entry *entry,
			    uint16_t *port)
{
	const struct sockaddr_in6 *ipv6 = (const void *)socket;
	const struct sockaddr_in *ipv4 = (const void *)socket;

	if (socket->ss_family == AF_INET) {
		*port = ntohs(ipv4->sin_port);
		return xb_address_from_bytes(AF_INET, &ipv4->sin_addr, entry);
	}
	if (socket->ss_family == AF_INET6) {
		*port = ntohs(ipv6->sin6_port);
		return xb_address_from_bytes(AF_INET6, &ipv6->sin6_addr, entry);
	}
	return false;
}

bool xb_address_parse(const char *text, struct xb_entry *entry)
{
	char copy[INET6_ADDRSTRLEN];
	size_t size = strcspn(text, "%");
	uint8_t bytes[16];
	int family;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	family = strchr(copy, ':') ? AF_INET6 : AF_INET;
	return inet_pton(family, copy, bytes) == 1 && xb_address_from_bytes(family, bytes, entry);
}

bool xb_address_is_loopback(const struct xb_entry *entry)
{
	if (xb_entry_is_ipv4(entry))
		return xb_entry_ipv4(entry) >> 24 == 127;
	return entry->hi == 0 && entry->lo == 1;
}

bool xb_address_is_link_local(const struct xb_entry *entry)
{
	if (xb_entry_is_ipv4(entry))
		return xb_entry_ipv4(entry) >> 16 == (169 << 8 | 254);
	return entry->hi >> 54 == 0xfe80 >> 6;
}

bool xb_address_is_unspecified(const struct xb_entry *entry)
{
	return entry->hi == 0 && entry->lo == 0;
}

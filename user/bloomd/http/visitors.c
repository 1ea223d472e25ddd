/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/visitors.h"

#include <netinet/in.h>
#include <string.h>

void visitors_begin(struct visitors *visitors)
{
	for (unsigned int i = 0; i < VISITORS_MAX; i++)
		visitors->visitor[i] = (struct visitor){.fd = -1};
}

/* Of IPv6 a /64: one client has as many as it wants. */
static void take_address(struct visitor *visitor, const struct sockaddr *address)
{
	memset(visitor->address, 0, sizeof(visitor->address));
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;

		memcpy(visitor->address, &six->sin6_addr, 8);
		visitor->address[15] = 6;
	} else if (address->sa_family == AF_INET) {
		const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;

		memcpy(visitor->address, &four->sin_addr, 4);
		visitor->address[15] = 4;
	}
}

/* The oldest, of this address or of all (NULL); *count: how many there are. */
static struct visitor *oldest(struct visitors *visitors, const uint8_t *address,
			      unsigned int *count)
{
	struct visitor *found = NULL;

	*count = 0;
	for (unsigned int i = 0; i < VISITORS_MAX; i++) {
		struct visitor *one = &visitors->visitor[i];

		if (one->fd < 0 ||
		    (address && memcmp(one->address, address, sizeof(one->address)) != 0))
			continue;
		++*count;
		if (!found || one->since < found->since)
			found = one;
	}
	return found;
}

static void show_out(struct visitor *visitor)
{
	shutdown(visitor->fd, SHUT_RDWR);
	visitor->fd = -1;
}

static struct visitor *free_place(struct visitors *visitors)
{
	for (unsigned int i = 0; i < VISITORS_MAX; i++)
		if (visitors->visitor[i].fd < 0)
			return &visitors->visitor[i];
	return NULL;
}

void visitors_enter(struct visitors *visitors, int fd, const struct sockaddr *address, uint64_t now)
{
	struct visitor newcomer = {.fd = fd, .since = now}, *place;
	unsigned int count;

	take_address(&newcomer, address);
	place = oldest(visitors, newcomer.address, &count);
	if (place && count >= VISITORS_OF_ONE)
		show_out(place);
	place = free_place(visitors);
	if (!place) {
		place = oldest(visitors, NULL, &count);
		show_out(place);
	}
	*place = newcomer;
}

void visitors_leave(struct visitors *visitors, int fd)
{
	for (unsigned int i = 0; i < VISITORS_MAX; i++)
		if (visitors->visitor[i].fd == fd)
			visitors->visitor[i].fd = -1;
}

uint64_t visitors_tire(struct visitors *visitors, uint64_t now)
{
	struct visitor *first;
	unsigned int count;

	while ((first = oldest(visitors, NULL, &count)) && first->since + VISITORS_STAY <= now)
		show_out(first);
	return first ? first->since + VISITORS_STAY : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope of a list: the services to which packets go that its entries count for. */
#ifndef XB_MODEL_SCOPE_H
#define XB_MODEL_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ICMP stands for both, of IPv4 and of IPv6. */
enum xb_service_protocol {
	XB_SERVICE_TCP,
	XB_SERVICE_UDP,
	XB_SERVICE_ICMP, /* has no ports: 0 to 65535 */
	XB_SERVICE_PROTOCOLS,
};

/* Destination ports of a protocol, first to last, host byte order. The layout is that of the
 * store. */
struct xb_service {
	uint16_t protocol; /* enum xb_service_protocol */
	uint16_t first, last;
};
_Static_assert(sizeof(struct xb_service) == 6, "store format");

#define XB_SCOPE_SERVICES 32 /* at most; ports that follow each other are one service */

/* Services in order of protocol and port, with a gap between two of one protocol: equal scopes have
 * equal services. count 0: all packets. */
struct xb_scope {
	uint32_t count;
	struct xb_service service[XB_SCOPE_SERVICES];
};

/* A text such as tcp/25,tcp/465-587,udp,icmp or all; a protocol by itself stands for all of its
 * ports. An error with its message: the text is no scope, or has too many services. */
int xb_scope_parse(const char *text, struct xb_scope *scope);

#define XB_SCOPE_TEXT 544 /* bytes, terminator included */

/* The text of the scope; returns out. */
const char *xb_scope_format(const struct xb_scope *scope, char out[XB_SCOPE_TEXT]);

/* Whether these services are a scope as above. */
bool xb_scope_is_sound(const struct xb_scope *scope);

static inline bool xb_scope_is_all(const struct xb_scope *scope)
{
	return !scope->count;
}

bool xb_scope_equals(const struct xb_scope *a, const struct xb_scope *b);

/* Whether the outer scope has all services of the inner one. */
bool xb_scope_within(const struct xb_scope *inner, const struct xb_scope *outer);

/* Whether packets to this port are in the scope; port: 0 for a protocol without. */
bool xb_scope_has(const struct xb_scope *scope, enum xb_service_protocol protocol, uint16_t port);

/* One service with a single port, as an operand of a command: tcp/25, udp/53 or icmp. */
int xb_service_parse(const char *text, struct xb_service *service);

#endif

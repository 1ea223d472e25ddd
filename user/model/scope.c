/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scopes to and from text. Services are kept in order, and joined where they touch. */
#include "model/scope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define PORT_MAX 65535

static const char *const names[XB_SERVICE_PROTOCOLS] = {
	[XB_SERVICE_TCP] = "tcp",
	[XB_SERVICE_UDP] = "udp",
	[XB_SERVICE_ICMP] = "icmp",
};

/* why: NULL if nobody can tell what was meant. */
static int no_service(const char *text, size_t size, const char *why)
{
	char shown[XB_SHOWN + 1];

	xb_utf8_show(text, size, shown, sizeof(shown));
	if (why)
		return xb_input_error("'%s' is not a service: %s", shown, why);
	return xb_input_error("'%s' is not a service: use tcp/PORT, udp/PORT, a range such as "
			      "tcp/6000-6063, tcp, udp or icmp, separated by ',', or all",
			      shown);
}

/* The decimal number at *text, PORT_MAX + 1 if it is larger than a port, and *text behind it; -1:
 * there is none. */
static int32_t take_port(const char **text, const char *end)
{
	int32_t port = 0;
	const char *from = *text;

	while (*text < end && **text >= '0' && **text <= '9') {
		port = port * 10 + (**text - '0');
		if (port > PORT_MAX)
			port = PORT_MAX + 1;
		++*text;
	}
	return *text == from ? -1 : port;
}

static bool is_port(int32_t number)
{
	return number >= 1 && number <= PORT_MAX;
}

/* The ports behind the protocol, all of them if the text ends there. False: it is no such text;
 * *why says more, if more is known. */
static bool parse_ports(const char *text, const char *end, struct xb_service *service,
			const char **why)
{
	int32_t first, last;

	service->first = 0;
	service->last = PORT_MAX;
	if (text == end)
		return true;
	if (service->protocol == XB_SERVICE_ICMP || *text++ != '/')
		return false;
	first = last = take_port(&text, end);
	if (first >= 0 && text < end && *text == '-') {
		text++;
		last = take_port(&text, end);
	}
	if (first < 0 || last < 0 || text != end)
		return false;
	if (!is_port(first) || !is_port(last))
		*why = "a port is a number from 1 to 65535";
	else if (last < first)
		*why = "the range ends before it begins";
	if (*why)
		return false;
	service->first = (uint16_t)first;
	service->last = (uint16_t)last;
	return true;
}

static int parse_one(const char *text, size_t size, struct xb_service *service)
{
	const char *why = NULL;

	for (enum xb_service_protocol i = 0; i < XB_SERVICE_PROTOCOLS; i++) {
		size_t length = strlen(names[i]);

		service->protocol = (uint16_t)i;
		if (size >= length && !memcmp(text, names[i], length) &&
		    parse_ports(text + length, text + size, service, &why))
			return 0;
	}
	return no_service(text, size, why);
}

/* Whether nothing lies between a and b, which does not begin before a. */
static bool touch(const struct xb_service *a, const struct xb_service *b)
{
	return a->protocol == b->protocol && b->first <= (uint32_t)a->last + 1;
}

static bool is_before(const struct xb_service *a, const struct xb_service *b)
{
	return a->protocol != b->protocol ? a->protocol < b->protocol : a->first < b->first;
}

/* Joins each service with those behind it that it touches. Returns how many are left. */
static uint32_t join(struct xb_service *services, uint32_t count)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (!touch(&services[last], &services[i]))
			services[++last] = services[i];
		else if (services[i].last > services[last].last)
			services[last].last = services[i].last;
	}
	return last + 1;
}

/* -E2BIG without a message: there is no room. */
static int add(struct xb_scope *scope, const struct xb_service *service)
{
	struct xb_service all[XB_SCOPE_SERVICES + 1];
	uint32_t at = scope->count;

	memcpy(all, scope->service, scope->count * sizeof(*all));
	for (; at > 0 && is_before(service, &all[at - 1]); at--)
		all[at] = all[at - 1];
	all[at] = *service;
	scope->count = join(all, scope->count + 1);
	if (scope->count > XB_SCOPE_SERVICES)
		return -E2BIG;
	memcpy(scope->service, all, scope->count * sizeof(*all));
	return 0;
}

int xb_scope_parse(const char *text, struct xb_scope *scope)
{
	memset(scope, 0, sizeof(*scope));
	if (!strcmp(text, "all"))
		return 0;
	for (;;) {
		size_t size = strcspn(text, ",");
		struct xb_service service;
		int error = parse_one(text, size, &service);

		if (error)
			return error;
		if (add(scope, &service))
			return xb_input_error("a scope can have at most %d services and ranges",
					      XB_SCOPE_SERVICES);
		if (!text[size])
			break;
		text += size + 1;
	}
	memset(scope->service + scope->count, 0,
	       (XB_SCOPE_SERVICES - scope->count) * sizeof(*scope->service));
	return 0;
}

static size_t format_one(const struct xb_service *service, char *out, size_t room)
{
	const char *name = names[service->protocol];
	int used;

	if (!service->first && service->last == PORT_MAX)
		used = snprintf(out, room, "%s", name);
	else if (service->first == service->last)
		used = snprintf(out, room, "%s/%u", name, service->first);
	else
		used = snprintf(out, room, "%s/%u-%u", name, service->first, service->last);
	return (size_t)used;
}

const char *xb_scope_format(const struct xb_scope *scope, char out[XB_SCOPE_TEXT])
{
	size_t used = 0;

	strcpy(out, "all");
	for (uint32_t i = 0; i < scope->count; i++) {
		if (i)
			out[used++] = ',';
		used += format_one(&scope->service[i], out + used, XB_SCOPE_TEXT - used);
	}
	return out;
}

bool xb_scope_is_sound(const struct xb_scope *scope)
{
	if (scope->count > XB_SCOPE_SERVICES)
		return false;
	for (uint32_t i = 0; i < scope->count; i++) {
		const struct xb_service *service = &scope->service[i];

		if (service->protocol >= XB_SERVICE_PROTOCOLS || service->first > service->last)
			return false;
		if (i && (!is_before(service - 1, service) || touch(service - 1, service)))
			return false;
	}
	return true;
}

bool xb_scope_equals(const struct xb_scope *a, const struct xb_scope *b)
{
	return a->count == b->count &&
	       !memcmp(a->service, b->service, a->count * sizeof(*a->service));
}

/* Since services that touch are joined, one of the outer ones has to have all of it. */
static bool has_service(const struct xb_scope *outer, const struct xb_service *inner)
{
	for (uint32_t i = 0; i < outer->count; i++) {
		const struct xb_service *service = &outer->service[i];

		if (service->protocol == inner->protocol && service->first <= inner->first &&
		    service->last >= inner->last)
			return true;
	}
	return false;
}

bool xb_scope_within(const struct xb_scope *inner, const struct xb_scope *outer)
{
	if (xb_scope_is_all(inner) || xb_scope_is_all(outer))
		return xb_scope_is_all(outer);
	for (uint32_t i = 0; i < inner->count; i++)
		if (!has_service(outer, &inner->service[i]))
			return false;
	return true;
}

bool xb_scope_has(const struct xb_scope *scope, enum xb_service_protocol protocol, uint16_t port)
{
	const struct xb_service service = {(uint16_t)protocol, port, port};

	return xb_scope_is_all(scope) || has_service(scope, &service);
}

int xb_service_parse(const char *text, struct xb_service *service)
{
	int error = parse_one(text, strlen(text), service);

	if (!error && service->protocol != XB_SERVICE_ICMP && service->first != service->last)
		error = xb_input_error("'%s' is not a single service: use tcp/PORT, udp/PORT or "
				       "icmp",
				       XB_SHOW(text));
	return error;
}

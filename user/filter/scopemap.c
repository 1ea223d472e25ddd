/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter/scopemap.h"

static uint64_t digest(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ULL;
	return hash;
}

#define DIGEST 0xcbf29ce484222325ULL /* of nothing */

uint64_t xb_scopemap_identity(const void *bytes, size_t size)
{
	uint64_t hash = digest(DIGEST, bytes, size);

	return hash ? hash : 1;
}

static uint64_t identity_of(const struct xb_class *class)
{
	uint64_t hash = DIGEST;
	uint8_t counts = class->counts;

	hash = digest(hash, &counts, sizeof(counts));
	if (class->scope)
		hash = digest(hash, class->scope->service,
			      class->scope->count * sizeof(*class->scope->service));
	return hash ? hash : 1;
}

static bool has_protocol(const struct xb_scope *scope, enum xb_service_protocol protocol)
{
	for (uint32_t i = 0; i < scope->count; i++)
		if (scope->service[i].protocol == protocol)
			return true;
	return false;
}

/* By their last six bits. */
static void add_ports(struct xb_scopes *scopes, const struct xb_service *service)
{
	uint64_t bits = 0;

	for (uint32_t port = service->first; port <= service->last && ~bits; port++)
		bits |= 1ULL << port % 64;
	if (service->protocol == XB_SERVICE_TCP)
		scopes->tcp_ports |= bits;
	if (service->protocol == XB_SERVICE_UDP)
		scopes->udp_ports |= bits;
}

static void add_class(struct xb_scopes *scopes, const struct xb_class *class, uint32_t number)
{
	uint16_t bit = (uint16_t)(1U << number);

	scopes->identity[number] = identity_of(class);
	if (!class->counts)
		scopes->drops |= bit;
	if (!class->scope) {
		scopes->all |= bit;
		scopes->tcp_ports = scopes->udp_ports = ~0ULL;
		return;
	}
	if (has_protocol(class->scope, XB_SERVICE_TCP))
		scopes->tcp |= bit;
	if (has_protocol(class->scope, XB_SERVICE_UDP))
		scopes->udp |= bit;
	if (has_protocol(class->scope, XB_SERVICE_ICMP))
		scopes->icmp |= bit;
	for (uint32_t i = 0; i < class->scope->count; i++)
		add_ports(scopes, &class->scope->service[i]);
}

struct xb_scopes xb_scopemap_scopes(const struct xb_class classes[XB_CLASSES], uint32_t used)
{
	struct xb_scopes scopes = {0};

	for (uint32_t i = 1; i < XB_CLASSES; i++)
		if (used >> i & 1)
			add_class(&scopes, &classes[i], i);
	return scopes;
}

void xb_scopemap_add_ports(uint64_t *words, const struct xb_scope *scope, uint32_t class)
{
	for (uint32_t i = 0; i < scope->count; i++) {
		const struct xb_service *service = &scope->service[i];
		uint32_t base = service->protocol == XB_SERVICE_UDP ? XB_SCOPE_PORTS : 0;

		if (service->protocol == XB_SERVICE_ICMP)
			continue;
		for (uint32_t port = service->first; port <= service->last; port++)
			words[(base + port) / 4] |= 1ULL << (port % 4 * 16 + class);
	}
}

struct xb_scope_span xb_scopemap_span4(const struct xb_entry *entry)
{
	return (struct xb_scope_span){.first = xb_entry_ipv4(entry) >> 16,
				      .count = entry->length < 16 ? 1U << (16 - entry->length) : 1};
}

void xb_scopemap_mark4(uint64_t *words, const struct xb_entry *entry, uint32_t class)
{
	struct xb_scope_span span = xb_scopemap_span4(entry);
	uint64_t bits = xb_scoped4_mark(class, entry->length);

	for (uint32_t i = 0; i < span.count; i++)
		__atomic_fetch_or(&words[span.first + i], bits, __ATOMIC_RELEASE);
	/* Last: as long as it has one length alone, packets do not ask for that of their /16. */
	__atomic_fetch_or(&words[XB_SCOPE_CELLS4], bits, __ATOMIC_RELEASE);
}

uint64_t xb_scopemap_hash(const struct xb_params *params, const struct xb_entry *entry,
			  uint32_t class)
{
	return xb_entry_is_ipv4(entry)
		       ? xb_hash_scoped4(&params->key, xb_scoped4_mark(class, entry->length),
					 xb_entry_ipv4(entry))
		       : xb_hash_ipv6(&params->key6, entry->hi, entry->lo,
				      xb_scoped6_tag(class, entry->length));
}

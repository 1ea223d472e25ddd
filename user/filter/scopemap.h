/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables in front of addresses that are listed for services: which classes a port has, and
 * which prefix lengths a source can match. See struct xb_scopes in xdp_bloom/layout.h. */
#ifndef XB_FILTER_SCOPEMAP_H
#define XB_FILTER_SCOPEMAP_H

#include "model/entry.h"
#include "model/scope.h"
#include "store/listclass.h"
#include "xdp_bloom/layout.h"

/* The classes as a program needs them. used: a bit for each that is in use, as xb_list_classes()
 * returns it. */
struct xb_scopes xb_scopemap_scopes(const struct xb_class classes[XB_CLASSES], uint32_t used);

/* FNV-1a over the bytes, never 0: so that the same has the same identity in every generation. */
uint64_t xb_scopemap_identity(const void *bytes, size_t size);

/* Adds the ports of the class to the words of XB_MAP_SCOPE_PORTS. */
void xb_scopemap_add_ports(uint64_t *words, const struct xb_scope *scope, uint32_t class);

/* The words of XB_MAP_SCOPE_LENGTHS4 that an IPv4 prefix touches, beside the last one. */
struct xb_scope_span {
	uint32_t first, count;
};
struct xb_scope_span xb_scopemap_span4(const struct xb_entry *entry);

/* Marks length and class of an IPv4 prefix, atomically. Bits are set, never cleared. */
void xb_scopemap_mark4(uint64_t *words, const struct xb_entry *entry, uint32_t class);

/* The hash of a prefix in a class, in the Bloom filter and in the exact table. */
uint64_t xb_scopemap_hash(const struct xb_params *params, const struct xb_entry *entry,
			  uint32_t class);

#endif

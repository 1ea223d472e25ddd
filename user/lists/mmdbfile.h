/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MaxMind DB files, format 2.0 (https://maxmind.github.io/MaxMind-DB): a tree over the bits of an
 * address, and behind it what is said of networks. libmaxminddb up to 1.12 crashes on files that
 * are damaged on purpose, and a list may come from anywhere; so it is read here, and
 * tests/engines/mmdb.py compares.
 */
#ifndef XB_LISTS_MMDBFILE_H
#define XB_LISTS_MMDBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/span.h"

#define XB_MMDB_TYPE 64 /* bytes of the name of a kind of database, terminator included */

/* Data that values stand in. */
struct xb_mmdb_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t steps; /* values that may still be looked at: a small file can ask for endless work
			 */
};

struct xb_mmdb {
	const uint8_t *tree;
	uint32_t nodes;
	uint32_t bits; /* of a record: 24, 28 or 32 */
	bool ipv6;
	char type[XB_MMDB_TYPE]; /* as it calls itself, safe for a terminal */
	struct xb_mmdb_section data;
};

/* Whether a file that begins with these bytes can be no text, but a database. */
bool xb_mmdb_suits(const char *bytes, size_t size);

/* The bytes have to stay. Returns 0, or an input error if that is no database, or a damaged one. */
int xb_mmdb_open(const char *bytes, size_t size, struct xb_mmdb *db);

/*
 * Calls take() for each network of which something is said, in order, IPv4 first, each address
 * once: other places at which the tree leads to IPv4 are left out (::ffff:0:0/96, 2002::/16 and
 * their kin). What is said of a network around ::/96 is said of 0.0.0.0/0, too. record: for
 * xb_mmdb_find(). Returns 0, an input error if the tree is damaged, or what take() returned, which
 * ends the walk.
 */
int xb_mmdb_walk(const struct xb_mmdb *db,
		 int (*take)(void *context, const struct xb_span *network, uint32_t record),
		 void *context);

enum xb_mmdb_kind {
	XB_MMDB_NONE, /* there is nothing */
	XB_MMDB_TEXT,
	XB_MMDB_NUMBER, /* unsigned, of up to 64 bits */
	XB_MMDB_BOOL,
	XB_MMDB_MAP,
	XB_MMDB_ARRAY,
	XB_MMDB_OTHER, /* bytes, fractions, negative or huge numbers */
};

struct xb_mmdb_value {
	enum xb_mmdb_kind kind;
	const char *text; /* size bytes, without a terminator */
	uint32_t size;	  /* of the text; of a map or an array: how many it has */
	uint64_t number;  /* the same of a bool: 0 or 1 */
	uint32_t inside;  /* where the first of a map or an array stands */
	uint32_t behind;  /* where what follows the value in the section stands */
};

/* The value at this place; pointers are followed. Returns 0, or an input error. */
int xb_mmdb_value_at(struct xb_mmdb_section *data, uint32_t at, struct xb_mmdb_value *value);

/* *at: a place within a map or an array; moves it behind the value there, with all in it. */
int xb_mmdb_skip(struct xb_mmdb_section *data, uint32_t *at);

/* The value of a key, `size` bytes; XB_MMDB_NONE if the value is no map, or has no such key. */
int xb_mmdb_member(struct xb_mmdb_section *data, const struct xb_mmdb_value *map, const char *key,
		   size_t size, struct xb_mmdb_value *value);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: one LMDB file that holds what is listed and what is wanted. The only truth; survives
 * reboot and kill -9. */
#ifndef XB_CORE_STORE_H
#define XB_CORE_STORE_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "change.h"
#include "entries.h"
#include "paths.h"

/*
 * Rate of the Bloom stage, per packet, when none is asked for. Alone it decides, so few may be hit
 * wrongly; with confirm behind it a wrong hit only costs time, and memory counts: see
 * docs/design.md for the measurement.
 */
#define XB_DEFAULT_RATE	  1e-4
#define XB_CONFIRMED_RATE 1e-2

/* How much is listed; kept with every change so that sizing needs no scan. */
struct xb_totals {
	uint64_t prefix4;    /* entries */
	uint64_t host4;	     /* entries */
	uint64_t host4_keys; /* addresses they expand to */
	uint64_t net6;	     /* entries */
	uint64_t allow;	     /* entries of the allowlist, names too */
	uint64_t names;	     /* entries */
};

/* The single record of the store. */
struct xb_meta {
	uint32_t schema;
	uint32_t next_list;
	uint64_t identity; /* random, never 0: what is built from this store carries it */
	uint64_t sequence; /* of the last change to what is listed */
	uint64_t capacity; /* wanted, in keys; 0: by what is listed */
	double rate; /* wanted false-positive rate of the Bloom stage per packet; 0: the default */
	struct xb_totals totals;
	uint32_t policy;      /* enum xb_policy */
	uint32_t unconfirmed; /* 1: no confirm stage is wanted */
	uint32_t refused;     /* kinds of lifelines not to be allowed, a bit each */
	uint32_t seal;	      /* of the record, see seal.h */
	struct xb_name_ports ports;
	uint64_t mark; /* random, drawn with each sequence number: of two stores that went different
			  ways from the same one, the numbers may agree, the marks do not */
	uint64_t transaction; /* LMDB's number of the one that wrote this, the last that committed
				 anything: an older page in place of a newer one shows */
};

#define XB_META_WITHOUT_MARK offsetof(struct xb_meta, mark) /* bytes, of earlier schemas */

#define XB_DNS_PORT 53 /* by default the only one */

double xb_meta_rate(const struct xb_meta *meta);

struct xb_list {
	uint32_t id;
	uint32_t verdict; /* enum xb_domain_verdict, of its domains */
	uint64_t members;
	char name[65];
	bool stored; /* as the rest says, when the transaction began */
	uint32_t stored_verdict;
	uint64_t stored_members;
};

struct xb_list_index {
	uint32_t *slot;
	size_t room; /* a power of two */
};

struct xb_store {
	MDB_env *env;
	MDB_dbi meta, leaves, lists, expiry, ifaces, changes, sessions;
	bool outdated;			 /* has tables of an earlier version */
	bool read_only;			 /* on a file system that cannot be written */
	int namespace_lock, out_writers; /* -1: not held */
};

/* A transaction: a snapshot to read, or the one write. Everything that was changed is in `change`,
 * in order. */
struct xb_txn {
	struct xb_store *store;
	MDB_txn *txn;
	bool writes;	/* no snapshot */
	uint64_t edits; /* counts what a commit has to keep */
	uint32_t as_of; /* what has expired by then is not seen: xb_member_overlook(); 0: all is */
	struct xb_entries entries;
	struct xb_meta meta;
	uint64_t next_mark; /* of a write: what goes with the next sequence number */
	bool unmarked;	    /* the change log is of an earlier schema, and of no use */
	struct xb_list *lists;
	size_t list_count, list_room;
	struct xb_list_index by_name, by_id;
	struct xb_changes change;
};

/* Readers write nothing: one of an earlier schema they read as a copy in memory. Writers bring it
 * up to date, under the writer lock, which they must not hold yet. */
enum xb_store_use { XB_STORE_READ, XB_STORE_WRITE, XB_STORE_CREATE };

/*
 * Opens, and with XB_STORE_CREATE makes, the store in the directory. The caller closes it. -ENOENT
 * without message: there is none. One that cannot be written can be read; nobody writes it then by
 * another way while it is open.
 */
int xb_store_open(const char *directory, enum xb_store_use use, struct xb_store **store);
void xb_store_close(struct xb_store *store);

/* Under the writer lock, before anything is read: what a writer that was killed had committed is
 * seen by readers from now on, too. See latest.h. */
int xb_store_recover(struct xb_store *store);

/* Both are ended by commit or abort, which free them. A write waits for the other writer. */
int xb_store_read(struct xb_store *store, struct xb_txn **txn);
int xb_store_write(struct xb_store *store, struct xb_txn **txn);

/* Durable when it returns 0. Frees the transaction in either case. */
int xb_txn_commit(struct xb_txn *txn);
void xb_txn_abort(struct xb_txn *txn);

/* Whether so many records are all that the table should have: pages of it may be damaged, or
 * another table's, with nothing wrong in them. */
bool xb_store_has_all(struct xb_txn *txn, MDB_dbi table, size_t found);

/* A message for a failure of LMDB: full disk, full map, damage. */
int xb_store_error(int error, const char *doing);

/* Lists. A list exists while it has members, or a verdict other than XB_DOMAIN_DROP. */
bool xb_list_name_ok(const char *name);
struct xb_list *xb_list_find(struct xb_txn *txn, const char *name);
/* Also one that xb_list_need() made, or that was emptied, in this transaction. */
struct xb_list *xb_list_by_name(struct xb_txn *txn, const char *name);
struct xb_list *xb_list_by_id(struct xb_txn *txn, uint32_t id);
int xb_list_need(struct xb_txn *txn, const char *name, struct xb_list **list); /* creates it */

/* Lists of what the machine allows by itself; their names cannot be typed. */
#define XB_LIST_AUTO  "auto:"
#define XB_LIST_ALLOW "allow" /* where `allow add` puts what names no list */
bool xb_list_is_auto(const struct xb_list *list);
int xb_list_need_auto(struct xb_txn *txn, const char *kind, struct xb_list **list);

#endif

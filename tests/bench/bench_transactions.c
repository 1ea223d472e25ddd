/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_transactions STATE COUNT: what a transaction of the store takes that looks for one address
 * and ends without a change, by the code that ships: the first of a process, one of COUNT that
 * read, and one of as many that may write. Prints one JSON object, in seconds.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/addresses.h"
#include "store/membership.h"
#include "store/store.h"
#include "support/seconds.h"

typedef int begin_function(struct xb_store *store, struct xb_txn **txn);

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "bench_transactions: %s: %s\n", what,
		xb_error_class() ? xb_error_message() : strerror(-error));
	exit(1);
}

/* Looks for an address that nobody lists. */
static void transaction(struct xb_store *store, begin_function *begin, uint32_t number)
{
	const struct xb_entry entry = {.hi = (uint64_t)address_number(ADDRESSES_CLEAN + number)
					     << 32,
				       .kind = XB_HOST4,
				       .length = 32};
	struct xb_members members;
	struct xb_txn *txn;
	int error;

	must(begin(store, &txn), "begin");
	error = xb_members_of(txn, &entry, &members);
	must(error == -ENOENT ? 0 : error, "look");
	xb_txn_abort(txn);
}

/* Seconds of one. */
static double many(struct xb_store *store, begin_function *begin, uint32_t count)
{
	double start = seconds();

	for (uint32_t i = 0; i < count; i++)
		transaction(store, begin, i);
	return (seconds() - start) / count;
}

int main(int argc, char **argv)
{
	double start, opened, first, read, written;
	struct xb_store *store;
	uint32_t count;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_transactions STATE COUNT; scripts/bench does it\n");
		return 2;
	}
	count = (uint32_t)strtoul(argv[2], NULL, 10);
	start = seconds();
	must(xb_store_open(argv[1], XB_STORE_WRITE, &store), argv[1]);
	opened = seconds() - start;
	first = many(store, xb_store_read, 1);
	read = many(store, xb_store_read, count);
	written = many(store, xb_store_write, count);
	xb_store_close(store);
	json_dumpf(json_pack("{s:f,s:f,s:f,s:f}", "open", opened, "first", first, "read", read,
			     "write", written),
		   stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the meta table beside the one of that name: each has a key of its own,
 * and a checksum in its last four bytes, made while they are 0. */
#ifndef XB_STORE_SEALEDRECORD_H
#define XB_STORE_SEALEDRECORD_H

#include "store/types.h"

/* Finds the record under this key, checksum included, where LMDB has it: until the transaction
 * changes something or ends. 1: it is there; 0: it is not; negative: an error with its message,
 * also if the record has another checksum. */
int xb_sealed_find(struct xb_txn *txn, const char *key, const void **record, size_t *size);

/* Copies it; one of another size is an error. */
int xb_sealed_get(struct xb_txn *txn, const char *key, void *record, size_t size);

/* Seals the record, and writes it. */
int xb_sealed_put(struct xb_txn *txn, const char *key, void *record, size_t size);

int xb_sealed_remove(struct xb_txn *txn, const char *key);

#endif

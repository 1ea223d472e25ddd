/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/table.h"

bool xb_table_has_all(struct xb_txn *txn, MDB_dbi table, size_t found)
{
	MDB_stat stat;

	return !mdb_stat(txn->txn, table, &stat) && stat.ms_entries == found;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XB_BENCH_TABLE_H
#define XB_BENCH_TABLE_H

#include <linux/types.h>

/* Tables of sources, in random order. TABLES is how many a program has. */
#ifndef TABLES
#define TABLES 1
#endif
#define TABLE_LINES	(1024 * 64)
#define TABLE_LINE	16
#define TABLE_ADDRESSES (TABLE_LINES * TABLE_LINE)

/* IPv4 addresses in host byte order, or IPv6 addresses of TABLE_WORDS6 words in network byte
 * order. */
struct table_line {
	__u32 address[TABLE_LINE];
};

#define TABLE_WORDS6 4
#define TABLE_LINE6  (TABLE_LINE / TABLE_WORDS6)

#endif

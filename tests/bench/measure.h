/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the timed programs and the program that times them share. */
#ifndef XB_BENCH_MEASURE_H
#define XB_BENCH_MEASURE_H

#include <linux/types.h>

/* Tables of listed addresses, host byte order, in random order; drawn one after the other, so that
 * reading a table costs next to nothing. One of any, one of those next to an allowed prefix. */
#define TABLES		2
#define TABLE_LINES	(1024 * 64)
#define TABLE_LINE	16
#define TABLE_ADDRESSES (TABLE_LINES * TABLE_LINE)

struct table_line {
	__u32 address[TABLE_LINE];
};

/* A cache line of what the shipped filter's bits are compared with. */
struct bare_line {
	__u64 word[8];
};

#endif

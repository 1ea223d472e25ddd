/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources drawn one after the other from a table, so that drawing costs next to nothing. */
#ifndef XB_BENCH_TABLE_BPF_H
#define XB_BENCH_TABLE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TABLE_LINES);
	__type(key, __u32);
	__type(value, struct table_line);
} table SEC(".maps");

/* The line that has the number-th source of the table that begins with line first, when a line has
 * that many. */
static __always_inline struct table_line *table_line(__u32 first, __u32 number, __u32 each)
{
	__u32 index = first + number / each % TABLE_LINES;

	return bpf_map_lookup_elem(&table, &index);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The anchor's maps that have an element for each row, made without an anchor. */
#ifndef XB_TESTS_ROWMAPS_H
#define XB_TESTS_ROWMAPS_H

#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "xdp_bloom/layout.h"

/* Returns its descriptor, or -1 with errno. Not by libbpf, which first asks the kernel with bytes
 * that valgrind takes for undefined. */
static inline int rowmaps_make(uint32_t type, uint32_t value_bytes)
{
	union bpf_attr asked;

	memset(&asked, 0, sizeof(asked));
	asked.map_type = type;
	asked.key_size = sizeof(uint32_t);
	asked.value_size = value_bytes;
	asked.max_entries = XB_IFACE_ROWS;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &asked, sizeof(asked));
}

#endif

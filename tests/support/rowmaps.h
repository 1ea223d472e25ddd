/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an anchor has for each row: the table of interfaces, a plain file here, and two maps. */
#ifndef XB_TESTS_ROWMAPS_H
#define XB_TESTS_ROWMAPS_H

#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "xdp_bloom/layout.h"

#define ROWMAPS_BYTES (XB_IFACE_CELLS * sizeof(struct xb_iface_cell))

static struct xb_anchor anchor;

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

static inline int rowmaps_begin(void **state)
{
	anchor = (struct xb_anchor){
		.ifaces = memfd_create("ifaces", MFD_CLOEXEC),
		.stats = rowmaps_make(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(struct xb_counts)),
		.notes = rowmaps_make(BPF_MAP_TYPE_ARRAY, sizeof(struct xb_iface_note)),
	};
	return anchor.ifaces < 0 || anchor.stats < 0 || anchor.notes < 0 ||
	       ftruncate(anchor.ifaces, ROWMAPS_BYTES);
}

static inline int rowmaps_end(void **state)
{
	return close(anchor.ifaces) | close(anchor.stats) | close(anchor.notes);
}

#endif

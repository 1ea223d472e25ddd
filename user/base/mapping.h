/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file or BPF map in memory, of which only the pages that are touched get mapped. */
#ifndef XB_BASE_MAPPING_H
#define XB_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mapping all of a large BPF array costs milliseconds, a page of it microseconds. */
struct xb_mapping {
	uint8_t *base;	 /* address space reserved for everything */
	size_t size;	 /* bytes, whole pages */
	int fd;		 /* not owned */
	uint8_t *mapped; /* a byte a page; NULL: all is mapped */
};

/* Reserves; maps nothing yet. */
int xb_mapping_open(struct xb_mapping *window, int fd, size_t size);

/* Maps everything at once. */
int xb_mapping_map_all(struct xb_mapping *window);

/* Makes size bytes at offset usable; they may span pages. */
int xb_mapping_map(struct xb_mapping *window, size_t offset, size_t size);

/* Whether they are mapped. */
bool xb_mapping_has(const struct xb_mapping *window, size_t offset, size_t size);

void xb_mapping_close(struct xb_mapping *window);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of the anchor's rings have in common. */
#ifndef XB_ATTACH_RING_H
#define XB_ATTACH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/paths.h"

/* Maps a whole array into memory. Nothing stays open after an error. */
int xb_ring_map(struct xb_mapping *window, int map, size_t size);

/* Takes out what an earlier reader was told and did not read. */
int xb_ring_empty(int ring);

/* Whether the interface is attached. cells: the map "ifaces". `bloomctl test` sends frames through
 * the filter that no attached interface has seen. */
bool xb_ring_is_attached(const struct xb_mapping *cells, uint32_t ifindex);

/* 1: the anchor's pins are in this directory, which is open; 0: they are those of another anchor;
 * -ENOENT: there are none. */
int xb_ring_is_in_place(int directory, const char *pins);

#endif

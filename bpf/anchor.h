/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the anchor: entry and filter share them, and they outlive generations. */
#ifndef XDP_BLOOM_ANCHOR_H
#define XDP_BLOOM_ANCHOR_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "xdp_bloom/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, XB_IFACE_CELLS);
	__type(key, __u32);
	__type(value, struct xb_iface_cell);
} ifaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_IFACE_ROWS);
	__type(key, __u32);
	__type(value, struct xb_counts);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, XB_IFACE_ROWS);
	__type(key, __u32);
	__type(value, struct xb_iface_note);
} notes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_watch);
} watch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, XB_DROPS_BYTES);
} drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, XB_OFFENDERS_BYTES);
} offenders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_CLASS_COUNTS);
	__type(key, __u32);
	__type(value, struct xb_class_count);
} class_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_HITS_SLOTS);
	__type(key, __u32);
	__type(value, struct xb_hits);
} hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, XB_HITS_SLOTS);
	__type(key, __u32);
	__type(value, struct xb_hits_name);
} hits_names SEC(".maps");

#endif

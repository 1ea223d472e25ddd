/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The anchor, which outlives generations: the slot through which all interfaces make their tail
 * call, and their statistics. */
#ifndef XB_ATTACH_ANCHOR_H
#define XB_ATTACH_ANCHOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/guard.h"
#include "base/mapping.h"
#include "base/netns.h"
#include "xdp_bloom/layout.h"

#define XB_ANCHOR_PINS "link" /* directory below the pin directory */
#define XB_ANCHOR_OLDER                                                                            \
	"link-older-" /* and the layout of an anchor that is being replaced: attach/upgrade.h */

struct xb_anchor {
	const char *pins; /* the pin directory; not owned */
	enum xb_flavour flavour;
	struct xb_netns netns; /* of the interfaces it filters */
	bool elsewhere;	       /* that is not the one this process is in */
	int identity, slot;
	int ifaces, stats, notes, watch, drops, offenders, class_counts, hits,
		hits_names; /* of all programs */
	int entry; /* program; -1 with the dispatcher, which loads one for each interface */
	struct xb_guard guard; /* of the trial that has the slot; program -1: there is no trial */
};

/* Opens the pinned anchor. -ENOENT without a message: there is none. Another layout is an error,
 * -ESTALE if it is older. */
int xb_anchor_open(const char *pins, struct xb_anchor *anchor);

/* The error for what a newer version has put in force, which stays as it is. what: the layout that
 * is newer than ours. */
int xb_anchor_refuse_newer(const char *pins, const char *what, uint32_t layout, uint32_t ours);

/* Creates and pins all of the anchor, or nothing. Sets aside an anchor of an older layout, which
 * stays in force. */
int xb_anchor_create(const char *pins, enum xb_flavour flavour, struct xb_anchor *anchor);

/*
 * Makes room for another anchor. An anchor of an older layout keeps its pins under another name,
 * and so continues to enforce. The guard of its trial, which stands in its slot, goes with it. What
 * is left of an anchor that lost pins is removed.
 */
int xb_anchor_set_aside(const char *pins);

void xb_anchor_close(struct xb_anchor *anchor);

/* An error that says where to go if the anchor is of another network namespace. */
int xb_anchor_at_home(const struct xb_anchor *anchor);

/* For commands that only read: a notice if the anchor is of another network namespace, because here
 * the same name may mean another interface. */
void xb_anchor_note_elsewhere(const struct xb_anchor *anchor);

/* Unpins it. Interfaces must be detached first. */
void xb_anchor_destroy(const char *pins);

/* The flavour this kernel and libxdp offer. */
enum xb_flavour xb_anchor_flavour(void);

struct bpf_program;
struct bpf_object;

/* Gives the object the maps that all programs share, before it is loaded; a libbpf error. */
int xb_anchor_lend(const struct xb_anchor *anchor, struct bpf_object *object);

/* Before a program is loaded: sets what the slot of this anchor asks of it. */
void xb_anchor_set_flavour(const struct xb_anchor *anchor, struct bpf_program *program);

/* *id: identity of the program in the slot; 0: empty. */
int xb_anchor_slot(const struct xb_anchor *anchor, uint32_t *id);

/* Reads again which trial has the slot, after the writer lock was not held for a while. */
int xb_anchor_find_guard(struct xb_anchor *anchor);

/* Gives the interface a row of statistics (zeroed), or keeps the one it has. name: its present
 * name; a later command finds out by it that the interface was renamed. */
int xb_anchor_enrol(const struct xb_anchor *anchor, uint32_t ifindex, const char *name);
int xb_anchor_dismiss(const struct xb_anchor *anchor, uint32_t ifindex);

/* What is called when interfaces are about to lose their rows, and with these what was counted for
 * them, and again when they have lost them. None by default. */
void xb_rows_sink(void (*sink)(const struct xb_anchor *anchor));
void xb_rows_tell(const struct xb_anchor *anchor); /* calls it */

struct xb_enrolled {
	uint32_t ifindex, row;
	char name[16]; /* at the last look of a command that writes */
};

/* Every enrolled interface; the caller frees *all. */
int xb_anchor_enrolled(const struct xb_anchor *anchor, struct xb_enrolled **all, size_t *count);
/* Whether it has a row; false if that cannot be read. */
bool xb_anchor_is_enrolled(const struct xb_anchor *anchor, uint32_t ifindex);

/* Sets whether queries on the interface are answered: enum xb_mute. A row that is new has
 * XB_MUTE_UNSEEN. *before: what it was; XB_MUTE_NONE if the interface has no row. */
int xb_anchor_mute(const struct xb_anchor *anchor, uint32_t ifindex, uint32_t mute,
		   uint32_t *before);

/* What a writer has noted of the interface in the row; all zero, but for `mute`: nothing yet. */
int xb_anchor_note_get(const struct xb_anchor *anchor, uint32_t row, struct xb_iface_note *note);
int xb_anchor_note_put(const struct xb_anchor *anchor, uint32_t row,
		       const struct xb_iface_note *note);
/* The same of the first `rows` rows, at once. */
int xb_anchor_notes(const struct xb_anchor *anchor, uint32_t rows, struct xb_iface_note *notes);

/* Sums the row over all CPUs. */
int xb_anchor_counts(const struct xb_anchor *anchor, uint32_t row, struct xb_counts *sum);

/* How many packets the first `rows` rows have, of all reasons and CPUs. */
int xb_anchor_packets(const struct xb_anchor *anchor, uint32_t rows, uint64_t *packets);

#endif

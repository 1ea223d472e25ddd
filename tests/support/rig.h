/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An installation of a test's own: directories, pins, an anchor, packets through the entry program.
 */
#ifndef XB_TESTS_RIG_H
#define XB_TESTS_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/writepath.h"
#include "filter/generation.h"
#include "model/limit.h"

struct rig {
	struct xb_paths paths;
	char state[256], pins[256], run[256];
	struct xb_written written;
};

/*
 * A fresh one, enforcing an empty list for an interface that does not exist. Pins go below
 * XB_TEST_BPFFS, everything else below XB_TEST_DIR. Exits with a message when the environment is
 * not there.
 */
void rig_begin(struct rig *rig, const char *name);
void rig_end(struct rig *rig);

/* Changes through the writer; the entry is text. Exit the test on failure. */
void rig_add(struct rig *rig, const char *entry, const char *list);
/* Returns false if it was not listed. list NULL: every list. */
bool rig_del(struct rig *rig, const char *entry, const char *list);
/* Many at once, in one transaction. */
void rig_add_all(struct rig *rig, const struct xb_entry *entries, size_t count);
void rig_add_all_to(struct rig *rig, const struct xb_entry *entries, size_t count,
		    const char *list);
/* Both at once, without what follows the answer: the filter may stay fuller than it was sized for.
 */
void rig_change_all(struct rig *rig, const struct xb_entry *entries, size_t count, bool listed);
/* Each entry out of one list and into another, or NULL, in one transaction and in place. */
struct rig_move {
	struct xb_entry entry;
	const char *from, *to;
};
void rig_move_all(struct rig *rig, const struct rig_move *moves, size_t count);
void rig_rotate(struct rig *rig);
/* With room for so many keys. */
void rig_rotate_for(struct rig *rig, uint64_t capacity);

/* The allowlist, in list `default`. rig_disallow returns false if it was not there. */
void rig_allow(struct rig *rig, const char *entry);
bool rig_disallow(struct rig *rig, const char *entry);

/* enum xb_policy, in force when it returns. */
void rig_policy(struct rig *rig, uint32_t policy);

/* A scope such as tcp/25, or all, for a list; in force when it returns. */
void rig_scope(struct rig *rig, const char *list, const char *scope);

/* What becomes of queries for the domains of a list; in force when it returns. */
void rig_verdict(struct rig *rig, const char *list, enum xb_domain_verdict verdict);
/* Answers a second on each CPU; 0: any number, as it is until the first call. */
void rig_answer_limit(struct rig *rig, uint32_t limit);
/* Ports of all kinds (0: none). */
void rig_ports(struct rig *rig, const struct xb_name_ports *ports);

/* One that lets so many packets of a source pass in a day, and as many at once: while a test takes
 * seconds, the burst alone. */
struct xb_limit rig_limit_of(const char *name, const char *scope, uint64_t burst);
/* A limit, in force when it returns; one of the same name is replaced. */
void rig_limit(struct rig *rig, const struct xb_limit *limit);
/* Returns false if there was none of this name. */
bool rig_unlimit(struct rig *rig, const char *name);

/* The number-th processor that this process may use; -1: there are fewer. */
int rig_processor(int number);

/* A rotation with or without the exact stage; it stays so until the next call. */
void rig_confirm(struct rig *rig, bool confirm);

/* The generation in force; the caller closes it. */
struct xb_generation *rig_generation(struct rig *rig);

/* Descriptor of the entry program as pinned. */
int rig_entry(struct rig *rig);

/* A frame from hexadecimal digits and blanks; returns its size. */
uint32_t rig_bytes(const char *hex, uint8_t *out);

/* Verdict of one frame. */
uint32_t rig_run(int program, const void *frame, uint32_t size);

/* The same, and the frame that the program leaves; *size: room in out, then its bytes. */
uint32_t rig_run_out(int program, const void *frame, uint32_t bytes, void *out, uint32_t *size);

/* Verdicts of minimal frames from this source, host byte order. */
uint32_t rig_run_ipv4(int program, uint32_t source);
uint32_t rig_run_ipv6(int program, uint64_t hi, uint64_t lo);
/* The entry's first address, of either family. */
uint32_t rig_run_from(int program, const struct xb_entry *address);

/* Statistics of frames that test runs send (they come from no attached interface). */
void rig_counts(struct rig *rig, struct xb_counts *counts);

/* What all maps of the filter in force and of the link take of the kernel's memory. */
uint64_t rig_memory(struct rig *rig);

/* How often the exact stage has moved a key in this generation. */
uint64_t rig_moves(const struct xb_exact *confirm);

/*
 * Whether bits, counters, prefix words, buckets, allowlist and key counts equal those of a
 * generation built anew from the store with the same keys and size, and its names are looked up as
 * deep. Prints the first difference.
 */
bool rig_matches_rebuild(struct rig *rig);

/* Exits with the error's message, unless it is 0. */
void rig_must(int error, const char *what);

/* A repeatable source of numbers. */
uint64_t rig_random(uint64_t *state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of many sources through the entry program; see source.h for who they are. */
#ifndef XB_TESTS_CROWD_H
#define XB_TESTS_CROWD_H

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"
#include "source.skel.h"

enum crowd_kind {
	CROWD_INNOCENT4,
	CROWD_INNOCENT6,
	CROWD_STABLE4,
	CROWD_STABLE6,
	CROWD_VISITOR4, /* see visitors.h */
	CROWD_VISITOR6,
};

struct crowd {
	struct source_bpf *skeleton;
	int program;
	uint8_t frame[62];
};

static inline void crowd_must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline struct source_bpf *crowd_load(void)
{
	struct source_bpf *skeleton = source_bpf__open();
	struct bpf_program *program;

	crowd_must(skeleton, "open the sources");
	/* A program array takes programs of one kind, and the entry has frags. */
	bpf_object__for_each_program (program, skeleton->obj)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	crowd_must(!source_bpf__load(skeleton), "load the sources");
	return skeleton;
}

static inline int crowd_program(const struct source_bpf *skeleton, enum crowd_kind kind)
{
	switch (kind) {
	case CROWD_INNOCENT4:
		return bpf_program__fd(skeleton->progs.innocent4);
	case CROWD_INNOCENT6:
		return bpf_program__fd(skeleton->progs.innocent6);
	case CROWD_STABLE4:
		return bpf_program__fd(skeleton->progs.stable4);
	case CROWD_STABLE6:
		return bpf_program__fd(skeleton->progs.stable6);
	case CROWD_VISITOR4:
		return bpf_program__fd(skeleton->progs.visitor4);
	case CROWD_VISITOR6:
		return bpf_program__fd(skeleton->progs.visitor6);
	}
	return -1;
}

/* One sender, with a frame and numbers of its own. Exits the test on failure. */
static inline struct crowd *crowd_open(struct rig *rig, enum crowd_kind kind, uint32_t first,
				       uint32_t seed)
{
	bool ipv4 = kind == CROWD_INNOCENT4 || kind == CROWD_STABLE4 || kind == CROWD_VISITOR4;
	uint16_t protocol = htons(ipv4 ? ETH_P_IP : ETH_P_IPV6);
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	int entry = rig_entry(rig);
	uint32_t zero = 0;

	crowd->skeleton = crowd_load();
	crowd->program = crowd_program(crowd->skeleton, kind);
	crowd->skeleton->bss->number = first;
	crowd->skeleton->bss->seed = seed;
	crowd_must(!bpf_map_update_elem(bpf_map__fd(crowd->skeleton->maps.next_program), &zero,
					&entry, 0),
		   "put the entry behind the sources");
	close(entry);
	memcpy(crowd->frame + 12, &protocol, sizeof(protocol));
	crowd->frame[14] = ipv4 ? 0x45 : 0x60;
	crowd->frame[17] = 48; /* IPv4: total length */
	return crowd;
}

/* Whom the frames of a stable crowd come from. */
static inline void crowd_choose(struct crowd *crowd, const uint64_t *sources, uint32_t count)
{
	memcpy(crowd->skeleton->bss->stable, sources, count * sizeof(*sources));
	crowd->skeleton->bss->stable_count = count;
}

static inline void crowd_close(struct crowd *crowd)
{
	source_bpf__destroy(crowd->skeleton);
	free(crowd);
}

#define CROWD_BATCH (1U << 20)

/* So many frames, each from the next source. */
static inline void crowd_send(struct crowd *crowd, uint64_t count)
{
	while (count) {
		uint32_t batch = count < CROWD_BATCH ? (uint32_t)count : CROWD_BATCH;
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = crowd->frame,
			    .data_size_in = sizeof(crowd->frame), .repeat = (int)batch);

		crowd_must(!bpf_prog_test_run_opts(crowd->program, &options), "test run");
		count -= batch;
	}
}

#endif

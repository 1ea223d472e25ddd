/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visitors by the million: see visitor.bpf.c. */
#ifndef XB_TESTS_VISITORS_H
#define XB_TESTS_VISITORS_H

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/knownpins.h"
#include "rig.h"
#include "visitor.skel.h"

/* Numbers first, first + step, ... below end. */
struct visitors {
	struct rig *rig;
	uint32_t first, end, step;
	bool ipv6, come; /* come: frames from them; else they become known */
	uint64_t lost;
};

static inline void visitors_must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline struct bpf_program *visitors_program(const struct visitors *visitors,
						   const struct visitor_bpf *skeleton)
{
	if (visitors->come)
		return visitors->ipv6 ? skeleton->progs.come6 : skeleton->progs.come4;
	return visitors->ipv6 ? skeleton->progs.meet6 : skeleton->progs.meet4;
}

static inline struct visitor_bpf *visitors_load(const struct visitors *visitors)
{
	struct visitor_bpf *skeleton = visitor_bpf__open();
	struct xb_knownpins known;
	struct bpf_program *program;

	visitors_must(skeleton && !xb_knownpins_open(visitors->rig->pins, &known),
		      "open the visitors");
	bpf_object__for_each_program (program, skeleton->obj) {
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
		bpf_program__set_autoload(program, program == visitors_program(visitors, skeleton));
	}
	visitors_must(!bpf_map__reuse_fd(skeleton->maps.known_state, known.state) &&
			      !bpf_map__reuse_fd(skeleton->maps.known_sets, known.sets) &&
			      !visitor_bpf__load(skeleton),
		      "load the visitors");
	xb_knownpins_close(&known);
	return skeleton;
}

/* Of a thread. */
static inline void *visitors_go(void *context)
{
	struct visitors *visitors = context;
	struct visitor_bpf *skeleton = visitors_load(visitors);
	uint32_t left = (visitors->end - visitors->first + visitors->step - 1) / visitors->step;
	uint16_t protocol = htons(visitors->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	int entry = rig_entry(visitors->rig);
	uint32_t zero = 0;
	uint8_t frame[62] = {0};

	memcpy(frame + 12, &protocol, sizeof(protocol));
	frame[14] = visitors->ipv6 ? 0x60 : 0x45;
	frame[17] = 48; /* IPv4: total length */
	visitors_must(
		!bpf_map_update_elem(bpf_map__fd(skeleton->maps.next_program), &zero, &entry, 0),
		"put the entry behind the visitors");
	skeleton->bss->number = visitors->first;
	skeleton->data->step = visitors->step;
	while (left) {
		uint32_t batch = left < 1U << 16 ? left : 1U << 16;
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = sizeof(frame), .repeat = (int)batch);

		visitors_must(
			!bpf_prog_test_run_opts(
				bpf_program__fd(visitors_program(visitors, skeleton)), &options),
			"test run");
		left -= batch;
	}
	visitors->lost = skeleton->bss->lost;
	close(entry);
	visitor_bpf__destroy(skeleton);
	return NULL;
}

#endif

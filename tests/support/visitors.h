/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visitors by the million, who become known (visitor.bpf.c) or send frames (source.bpf.c). */
#ifndef XB_TESTS_VISITORS_H
#define XB_TESTS_VISITORS_H

#include <pthread.h>

#include "attach/knownpins.h"
#include "crowd.h"
#include "visitor.skel.h"

/* Numbers first, first + step, ... below end. */
struct visitors {
	struct rig *rig;
	uint32_t first, end, step;
	bool ipv6, come; /* come: frames from them; else they become known */
	uint64_t lost;
};

static inline struct visitor_bpf *visitors_load(const struct visitors *visitors)
{
	struct visitor_bpf *skeleton = visitor_bpf__open();
	struct xb_knownpins known;

	crowd_must(skeleton && !xb_knownpins_open(visitors->rig->pins, &known),
		   "open the visitors");
	crowd_must(!bpf_map__reuse_fd(skeleton->maps.known_state, known.state) &&
			   !bpf_map__reuse_fd(skeleton->maps.known_sets, known.sets) &&
			   !visitor_bpf__load(skeleton),
		   "load the visitors");
	xb_knownpins_close(&known);
	return skeleton;
}

static inline void visitors_meet(struct visitors *visitors, uint32_t count)
{
	struct visitor_bpf *skeleton = visitors_load(visitors);
	uint8_t frame[62] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)count);

	skeleton->bss->number = visitors->first;
	skeleton->data->step = visitors->step;
	crowd_must(!bpf_prog_test_run_opts(bpf_program__fd(visitors->ipv6 ? skeleton->progs.meet6
									  : skeleton->progs.meet4),
					   &options),
		   "test run");
	visitors->lost = skeleton->bss->lost;
	visitor_bpf__destroy(skeleton);
}

/* Of a thread. */
static inline void *visitors_go(void *context)
{
	struct visitors *visitors = context;
	uint32_t count = (visitors->end - visitors->first + visitors->step - 1) / visitors->step;
	struct crowd *crowd;

	if (!visitors->come) {
		if (count)
			visitors_meet(visitors, count);
		return NULL;
	}
	crowd = crowd_open(visitors->rig, visitors->ipv6 ? CROWD_VISITOR6 : CROWD_VISITOR4,
			   visitors->first, 0);
	crowd->skeleton->data->step = visitors->step;
	crowd_send(crowd, count);
	crowd_close(crowd);
	return NULL;
}

#endif

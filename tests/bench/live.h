/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that really leave: an XDP program run with live frames, as fast as it can be. */
#ifndef XB_BENCH_LIVE_H
#define XB_BENCH_LIVE_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>

#include "bench/must.h"

#define LIVE_BATCH 64

static inline void parse_mac(const char *text, uint8_t mac[6])
{
	must(sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1], &mac[2], &mac[3],
		    &mac[4], &mac[5]) == 6
		     ? 0
		     : -EINVAL,
	     text);
}

static inline uint32_t index_of(const char *interface)
{
	uint32_t index = if_nametoindex(interface);

	must(index ? 0 : -errno, interface);
	return index;
}

/*
 * Nanoseconds a frame took, by the kernel's clock: without setting up and taking down, which waits
 * for a tick, and without what others do on this CPU when it is their turn. The receiver's work is
 * in it, done by softirqs on the CPU that sends; what ksoftirqd does of it is not.
 */
static inline double live_run(const struct bpf_program *program, const void *frame, uint32_t size,
			      uint32_t count)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = size,
		    .repeat = (int)count, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
		    .batch_size = LIVE_BATCH);

	must(bpf_prog_test_run_opts(bpf_program__fd(program), &options) ? -errno : 0,
	     "live frames");
	return options.duration;
}

#endif

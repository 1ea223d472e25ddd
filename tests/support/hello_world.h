/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installation that tests of TLS and HTTP ask, and what it counted a frame for: setup and
 * teardown of their groups. */
#ifndef XB_TESTS_HELLO_WORLD_H
#define XB_TESTS_HELLO_WORLD_H

#include <linux/bpf.h>
#include <unistd.h>

#include "support/hello.h"
#include "support/rig.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static struct rig rig;
static int program;
static struct xb_anchor counts_link;
static uint32_t counts_row;

static const struct xb_name_ports all_ports = {
	.dns = {53}, .tls = {TLS_PORT, 8443}, .http = {HTTP_PORT, 65535}};

static struct xb_counts last_counts;

static inline void read_counts(struct xb_counts *counts)
{
	assert_int_equal(xb_anchor_counts(&counts_link, counts_row, counts), 0);
}

/* The reason that a frame was counted for, which must be one. */
static inline enum xb_reason reason_for(const char *name, const struct dns_frame *frame)
{
	uint32_t verdict = rig_run(program, frame->byte, frame->size);
	enum xb_reason reason = XB_REASON_COUNT;
	struct xb_counts now;

	read_counts(&now);
	for (int i = 0; i < XB_REASON_COUNT; i++) {
		uint64_t more = now.reason[i].packets - last_counts.reason[i].packets;

		if (more > 1 || (more && reason != XB_REASON_COUNT))
			fail_msg("%s: counted twice", name);
		if (more)
			reason = (enum xb_reason)i;
	}
	last_counts = now;
	if (reason == XB_REASON_COUNT)
		fail_msg("%s: not counted", name);
	if (verdict != (xb_reason_drops(reason) ? XDP_DROP : XDP_PASS))
		fail_msg("%s: verdict %u for reason %d", name, verdict, reason);
	return reason;
}

struct listed {
	const char *domain, *list;
};

static const struct listed world[] = {
	{"example.com", "default"}, {"=exact.test", "default"},	   {"child.parent.test", "default"},
	{"d.d", "default"},	    {"refused.test", "refused"},   {"nxdomain.test", "nxdomain"},
	{"count.test", "count"},    {"truncate.test", "truncate"},
};

static inline int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "hellos");
	program = rig_entry(&rig);
	rig_verdict(&rig, "refused", XB_DOMAIN_REFUSED);
	rig_verdict(&rig, "nxdomain", XB_DOMAIN_NXDOMAIN);
	rig_verdict(&rig, "truncate", XB_DOMAIN_TRUNCATE);
	rig_verdict(&rig, "count", XB_DOMAIN_COUNT);
	for (size_t i = 0; i < ROWS(world); i++)
		rig_add(&rig, world[i].domain, world[i].list);
	rig_allow(&rig, "allowed.example.com");
	rig_ports(&rig, &all_ports);
	assert_int_equal(xb_anchor_open(rig.pins, &counts_link), 0);
	read_counts(&last_counts);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	xb_anchor_close(&counts_link);
	close(program);
	rig_end(&rig);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installation of the tests of lists that hold for services, and how a frame from a source to a
 * service is checked. */
#ifndef XB_TESTS_SCOPED_WORLD_H
#define XB_TESTS_SCOPED_WORLD_H

#include <string.h>
#include <unistd.h>

#include "support/counted_reason.h"
#include "support/rig.h"
#include "support/service_frame.h"

static struct rig rig;
static int program;

static inline struct xb_entry address(const char *text)
{
	struct xb_entry entry;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	return entry;
}

/* The one reason under which the frame was counted. */
static inline enum xb_reason reason_of(const void *frame, uint32_t size)
{
	struct xb_counts before, after;

	rig_counts(&rig, &before);
	rig_run(program, frame, size);
	rig_counts(&rig, &after);
	return counted_reason(&before, &after);
}

/* to: tcp/25, udp/53 or icmp */
static inline void expect_form(const char *source, const char *to, enum frame_form form,
			       enum xb_reason reason)
{
	struct xb_entry entry = address(source);
	struct service_frame frame;
	struct xb_service service;
	enum xb_reason got;

	assert_int_equal(xb_service_parse(to, &service), 0);
	frame = frame_to(&entry, (enum xb_service_protocol)service.protocol, service.first, form);
	got = reason_of(frame.byte, frame.size);
	if (got != reason)
		fail_msg("%s to %s, form %d: %s instead of %s", source, to, form,
			 xb_reason_name(got), xb_reason_name(reason));
}

static inline void expect(const char *source, const char *to, enum xb_reason reason)
{
	expect_form(source, to, FRAME_PLAIN, reason);
}

static inline int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "scopes");
	program = rig_entry(&rig);
	rig_add(&rig, "198.51.100.7", "mail");
	rig_add(&rig, "203.0.113.0/24", "mail");
	rig_add(&rig, "203.0.112.128/27", "mail");
	rig_add(&rig, "10.0.0.0/9", "mail");
	rig_add(&rig, "2001:db8:bad::/48", "mail");
	rig_add(&rig, "2001:db8::7", "mail");
	rig_add(&rig, "198.51.100.9", "everywhere");
	rig_scope(&rig, "mail", "tcp/25,tcp/465,tcp/587");
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	close(program);
	rig_end(&rig);
	return 0;
}

#endif

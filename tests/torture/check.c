/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check STATE PINS RUN: the independent checker of the torture. Reads lines, answers each with "ok"
 * or what is wrong.
 *
 * drop|pass|answer ENTRY [SERVICE]: what becomes of frames from its first and its last address, to
 * this service if one is named (of queries for the domain) in the generation that enforces.
 *
 * agree: store and generation; it is the same as one built anew, bit by bit.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "model/entry.h"
#include "support/dns.h"
#include "support/rig.h"
#include "support/service_frame.h"

static uint8_t form[XB_NAME_BYTES];

static struct xb_entry last_address(const struct xb_entry *entry)
{
	struct xb_entry last = *entry;
	unsigned int free = xb_entry_full_length(entry) - entry->length;

	if (xb_entry_is_ipv4(entry)) {
		last.hi |= (free ? ~0ULL >> (64 - free) : 0) << 32;
	} else {
		last.lo |= free >= 64 ? ~0ULL : (1ULL << free) - 1;
		last.hi |= free > 64 ? ~0ULL >> (128 - free) : 0;
	}
	return last;
}

/* Of a frame from a single address. to: NULL for any. */
static uint32_t run_to(int program, const struct xb_entry *entry, const struct xb_service *to)
{
	struct service_frame frame;

	if (!to)
		return rig_run_from(program, entry);
	frame = frame_to(entry, to->protocol, to->first, FRAME_PLAIN);
	return rig_run(program, frame.byte, frame.size);
}

static bool judged(int program, const struct xb_entry *entry, const struct xb_service *to,
		   const char *text, uint32_t wanted)
{
	struct dns_frame frame;
	struct xb_entry last;

	if (!xb_entry_is_name(entry)) {
		last = last_address(entry);
		return run_to(program, entry, to) == wanted && run_to(program, &last, to) == wanted;
	}
	dns_query(*text == '=' ? text + 1 : text, false, &frame);
	return rig_run(program, frame.byte, frame.size) == wanted;
}

static const char *answer(struct rig *rig, int program, char *line)
{
	char *text = strchr(line, ' '), *service;
	struct xb_service asked, *to = NULL;
	struct xb_entry entry;

	if (!strcmp(line, "agree"))
		return rig_matches_rebuild(rig) ? "ok" : "the generation is not that of the store";
	if (!text)
		return "no such line";
	*text++ = '\0';
	service = strchr(text, ' ');
	if (service) {
		*service++ = '\0';
		to = &asked;
		if (xb_service_parse(service, to))
			return xb_error_message();
	}
	if (xb_entry_parse(text, strlen(text), form, &entry, NULL))
		return xb_error_message();
	if (!strcmp(line, "drop"))
		return judged(program, &entry, to, text, XDP_DROP) ? "ok" : "passes";
	if (!strcmp(line, "pass"))
		return judged(program, &entry, to, text, XDP_PASS) ? "ok" : "drops";
	if (!strcmp(line, "answer"))
		return judged(program, &entry, to, text, XDP_TX) ? "ok" : "is not answered";
	return "no such line";
}

int main(int argc, char **argv)
{
	struct rig rig = {0};
	struct xb_generation *generation;
	char line[512];
	int program;

	if (argc != 4) {
		fprintf(stderr, "usage: check STATE PINS RUN; the torture does it\n");
		return 2;
	}
	snprintf(rig.state, sizeof(rig.state), "%s", argv[1]);
	snprintf(rig.pins, sizeof(rig.pins), "%s", argv[2]);
	snprintf(rig.run, sizeof(rig.run), "%s", argv[3]);
	rig.paths = (struct xb_paths){rig.state, rig.pins, rig.run};
	generation = rig_generation(&rig);
	program = generation->program;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		puts(answer(&rig, program, line));
	}
	xb_generation_close(generation);
	return 0;
}

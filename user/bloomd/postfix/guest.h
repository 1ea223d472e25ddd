/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of Postfix that is connected: what it has sent, and answers that it has not read. Both
 * have a fixed room. */
#ifndef XB_BLOOMD_GUEST_H
#define XB_BLOOMD_GUEST_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "bloomd/postfix/answer.h"

enum guest_protocol { GUEST_SOCKETMAP, GUEST_POLICY, GUEST_PROTOCOLS };

#define GUEST_IN  2048 /* bytes */
#define GUEST_OUT 4096 /* bytes; room for an answer at least */
_Static_assert(GUEST_OUT >= ANSWER_MOST, "an answer fits");

struct guest {
	TAILQ_ENTRY(guest) others; /* the one that has been silent for longest comes first */
	TAILQ_ENTRY(guest) next;   /* of those that have asked, if it has */
	struct postfix *postfix;
	int fd;
	sd_event_source *source;
	enum guest_protocol protocol;
	union {
		struct socketmap map;
		struct policy policy;
	};
	char in[GUEST_IN], out[GUEST_OUT];
	size_t in_size, in_at;	 /* what is behind in_at is not read yet */
	size_t out_size, out_at; /* what is behind out_at is not sent yet */
	bool eof;		 /* it sends nothing more */
	bool broken;		 /* it is to be closed */
	bool asking;		 /* it waits for its turn */
};

TAILQ_HEAD(guest_list, guest);

/* Reads once what was sent, if there is no rest of what it sent before. */
void guest_read(struct guest *guest);

/* Whether there is a complete request now, and room for its answer. Reads on in what was sent. */
bool guest_asks(struct guest *guest);

void guest_answer(struct guest *guest, const struct answer *answer);

/* Sends what it can. */
void guest_flush(struct guest *guest);

/* For what it waits: EPOLLIN, or EPOLLOUT if there is something left to do. 0: it is over. */
uint32_t guest_events(const struct guest *guest);

#endif

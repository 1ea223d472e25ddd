/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The side of bloomd of engine/control.h. */
#ifndef XB_BLOOMD_CONTROL_H
#define XB_BLOOMD_CONTROL_H

#include "bloomd/base/agent.h"
#include "engine/control.h"

struct control;

/* Answers one request: writes "ok ..." or "refused ..." into reply, without the end of the line. */
typedef void control_answer(void *context, char *request, char reply[XB_CONTROL_LINE]);

int control_start(struct agent *agent, control_answer *answer, void *context,
		  struct control **control);
void control_stop(struct control *control);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By the wall clock entries expire: whether it was set, and whether it agrees with the server's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "engine/fleethosts.h"

double clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double clock_ahead(void)
{
	return clock_now() - (double)agent_clock() / 1e6;
}

void clock_look(struct fleet *fleet)
{
	double ahead = clock_ahead();

	if (fabs(ahead - fleet->clock) > XB_FLEET_SKEW)
		fleet->timed = false;
	if (fleet->clock > ahead + XB_FLEET_SKEW) {
		xb_warning("fleet: the clock was set back by %.0f s", fleet->clock - ahead);
		fleet->resync.expired = true;
		fleet->resync.stepped = agent_clock();
	}
	fleet->clock = ahead;
}

static void tell_skew(struct fleet *fleet)
{
	bool skewed = fabs(fleet->skew) > XB_FLEET_SKEW;

	if (skewed && !fleet->skewed)
		xb_warning("fleet: the clock of this host is %.0f s %s that of the server: entries "
			   "expire at other times than on other hosts",
			   fabs(fleet->skew), fleet->skew > 0 ? "ahead of" : "behind");
	if (!skewed && fleet->skewed)
		log_info("fleet: the clock of this host agrees with that of the server again");
	fleet->skewed = skewed;
	fleet->timed = !skewed;
}

/* [seconds, microseconds]. The server said it after it was asked and before its answer came; how
 * long either took is not known, and is no skew. */
static void on_time(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	char seconds[24] = "", micros[24] = "";
	double asked = fleet->time_asked, now = clock_now(), time;

	fleet->time_asked = 0;
	if (reply->kind != REPLY_ARRAY || reply->size != 2 || reply->node[0].kind != REPLY_STRING ||
	    reply->node[1].kind != REPLY_STRING || reply->node[0].size > 20 ||
	    reply->node[1].size > 20)
		return;
	memcpy(seconds, reply->node[0].text, reply->node[0].size);
	memcpy(micros, reply->node[1].text, reply->node[1].size);
	time = strtod(seconds, NULL) + strtod(micros, NULL) / 1e6;
	fleet->skew = time < asked ? asked - time : time > now ? now - time : 0;
	tell_skew(fleet);
	/* The clock may have been set in between. */
	if (now - asked > XB_FLEET_SKEW)
		fleet->timed = false;
}

int clock_ask(struct fleet *fleet)
{
	struct request time = {0};

	if (fleet->time_asked > 0)
		return 0;
	request_word(&time, "TIME");
	fleet->time_asked = clock_now();
	return request_send(&time, fleet->writer, 0, on_time, fleet);
}

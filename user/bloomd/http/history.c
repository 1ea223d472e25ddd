/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/history.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "engine/carry.h"
#include "model/reason.h"

#define SECOND 1000000ULL /* us */

struct sample {
	time_t time;
	uint64_t packets[XB_REASON_COUNT];
};

struct history {
	struct agent *agent;
	sd_event_source *timer;
	struct sample sample[HISTORY_SAMPLES];
	size_t first, count;
};

static int read_rows(const struct xb_paths *paths, struct xb_carried **rows, size_t *count)
{
	struct xb_anchor anchor;
	int error = xb_anchor_open(paths->pins, &anchor);

	*rows = NULL;
	*count = 0;
	if (error && error != -ENOENT)
		return error;
	if (error)
		return xb_carry_read(paths, NULL, rows, count);
	error = xb_carry_read(paths, &anchor, rows, count);
	xb_anchor_close(&anchor);
	return error;
}

/* What cannot be read leaves a gap. */
static void take_sample(struct history *history)
{
	struct sample *sample =
		&history->sample[(history->first + history->count) % HISTORY_SAMPLES];
	struct xb_carried *rows;
	size_t count;

	if (read_rows(&history->agent->paths, &rows, &count)) {
		free(rows);
		return;
	}
	*sample = (struct sample){.time = time(NULL)};
	for (size_t i = 0; i < count; i++)
		for (enum xb_reason reason = 0; reason < XB_REASON_COUNT; reason++)
			sample->packets[reason] += rows[i].counts.reason[reason].packets;
	free(rows);
	if (history->count < HISTORY_SAMPLES)
		history->count++;
	else
		history->first = (history->first + 1) % HISTORY_SAMPLES;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	(void)time;
	take_sample(context);
	sd_event_source_set_time_relative(source, HISTORY_STEP * SECOND);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int history_start(struct agent *agent, struct history **out)
{
	struct history *history = calloc(1, sizeof(*history));
	int error;

	*out = history;
	if (!history)
		return xb_out_of_memory();
	history->agent = agent;
	error = sd_event_add_time_relative(agent->loop, &history->timer, CLOCK_MONOTONIC, 0, SECOND,
					   on_time, history);
	return error < 0 ? xb_system_error(-error, "cannot set a timer") : 0;
}

void history_stop(struct history *history)
{
	if (!history)
		return;
	sd_event_source_disable_unref(history->timer);
	free(history);
}

static json_t *sample_json(const struct sample *sample)
{
	json_t *packets = json_object();

	for (enum xb_reason reason = 0; reason < XB_REASON_COUNT; reason++)
		if (sample->packets[reason])
			json_object_set_new(packets, xb_reason_name(reason),
					    json_integer((json_int_t)sample->packets[reason]));
	return json_pack("{s:I,s:o}", "time", (json_int_t)sample->time, "packets", packets);
}

json_t *history_json(const struct history *history)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < history->count; i++)
		json_array_append_new(
			samples,
			sample_json(&history->sample[(history->first + i) % HISTORY_SAMPLES]));
	return samples;
}

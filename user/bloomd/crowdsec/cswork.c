/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/crowdsec/cswork.h"

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/rotate.h"
#include "engine/writepath.h"

/* From so many entries on, a new generation is likely. */
#define HEAVY 50000

static int apply(struct xb_writer *writer, void *context)
{
	return xb_patch_apply(writer, context);
}

static unsigned int how_to_write(const struct cswork *work)
{
	return (work->changes->count > HEAVY ? XB_WRITE_HEAVY : 0) |
	       (work->whole ? XB_WRITE_SURVEY : 0);
}

void cswork_run(const struct cswork *work)
{
	const struct crowdsec_config *config = work->config;
	struct cswork_outcome *outcome = work->outcome;
	struct xb_patch patch = {
		.list = crowdsec_config_list(config),
		.judges = config->judges,
		.verdict = config->verdict,
		.scopes = config->scopes,
		.scope = config->scope,
		.items = work->changes->item,
		.count = work->changes->count,
		.factor = config->factor,
	};
	struct xb_written written = {0};
	int error = xb_write(work->paths, how_to_write(work), apply, &patch, &written);

	if (error)
		snprintf(outcome->message, sizeof(outcome->message), "%.*s", XB_FEED_TEXT - 1,
			 xb_error_message());
	xb_utf8_clean(outcome->message);
	outcome->added = patch.added;
	outcome->renewed = patch.renewed;
	outcome->removed = patch.removed;
	outcome->held = patch.held;
	outcome->members = patch.members;
	outcome->done = !error || error == XB_UNMET;
	xb_write_settle(work->paths, &written);
	xb_written_free(&written);
}

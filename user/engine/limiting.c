/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/limiting.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/error.h"
#include "engine/control.h"
#include "engine/writepath.h"
#include "filter/inforce.h"
#include "filter/limitmap.h"
#include "model/suffix.h"
#include "store/fleet.h"
#include "store/knownwish.h"

struct adding {
	const struct xb_limit *limit;
	bool remembers; /* sources can be known */
};

int xb_limit_need_suffixes(const struct xb_limit *limit)
{
	struct xb_suffixes suffixes;
	int error = limit->names ? xb_suffixes_read(XB_SUFFIX_FILE, &suffixes) : 0;

	if (limit->names && !error)
		xb_suffixes_free(&suffixes);
	return error;
}

static int add(struct xb_writer *writer, void *context)
{
	struct adding *adding = context;
	const struct xb_limit *limit = adding->limit;
	struct xb_limits_wanted wanted;
	struct xb_known_wish wish;
	int error = xb_limits_get(writer->txn, &wanted);

	if (!error)
		error = xb_known_wish_get(writer->txn, &wish);
	if (error)
		return error;
	if (xb_limits_find(&wanted, limit->name))
		return xb_input_error("there is a limit %s; to change it, delete it first",
				      limit->name);
	adding->remembers = wish.on;
	error = xb_limit_need_suffixes(limit);
	if (!error && *limit->list)
		error = xb_share_check_ours(writer->txn, limit->list);
	return error ? error : xb_limits_put(writer->txn, limit);
}

/* name: is sound. */
static int delete (struct xb_writer *writer, void *name)
{
	bool found;
	int error = xb_limits_remove(writer->txn, name, &found);

	if (error || found)
		return error;
	xb_input_error("there is no limit %s", (const char *)name);
	return 1;
}

int xb_limit_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		  struct xb_written *written)
{
	struct adding adding = {.limit = &wish->request->limit_add};
	int error;

	if (wish->request->kind == XB_REQUEST_LIMIT_DEL)
		return xb_write_wish(paths, 0, wish, delete,
				     (void *)(uintptr_t)wish->request->limit_del, written);
	error = xb_write_wish(paths, 0, wish, add, &adding, written);
	if (!error && adding.limit->known != 1 && !adding.remembers)
		xb_notice("no source is known, because remembering is off: until it is on, limit "
			  "%s is the same for all",
			  adding.limit->name);
	return error;
}

bool xb_limit_is_listed(const struct xb_paths *paths, const struct xb_limit *limit, uint32_t policy,
			bool learns, char why[XB_LIMIT_WHY])
{
	const char *lack = policy == XB_POLICY_ALLOW_ONLY
				   ? "the policy allow-only admits listed sources"
			   : !xb_control_may_be_there(paths) ? "bloomd does not run"
			   : !limit->forgeable && !learns
				   ? "nothing remembers handshakes, which show that a source is "
				     "not forged (`known on` does)"
				   : NULL;

	if (lack)
		snprintf(why, XB_LIMIT_WHY, "sources over limit %s do not come to list %s: %s",
			 limit->name, limit->list, lack);
	return !lack;
}

static uint32_t limits_of(const struct xb_generation *generation)
{
	uint32_t count = 0;

	for (uint32_t number = 1; number < XB_LIMITS; number++)
		count += generation->params.limits.of.identity[number] != 0;
	return count;
}

static int begin_anew(struct xb_generation *generation)
{
	uint32_t lines = generation->params.limits.lines;
	uint64_t seed;
	int error = 0;

	if (!lines)
		return 0;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return xb_system_error(errno, "no random numbers");
	error = xb_mapping_map_all(&generation->meter);
	if (!error)
		xb_limitmap_fill((struct xb_meter_line *)(void *)generation->meter.base, lines,
				 seed);
	return error;
}

/* The same of one that was opened, if there was one. *limits: the most that any has. */
static int begin_opened(int error, struct xb_generation *generation, uint32_t *limits)
{
	if (error)
		return error == -ENOENT || error == -ESTALE ? 0 : error;
	if (limits_of(generation) > *limits)
		*limits = limits_of(generation);
	error = begin_anew(generation);
	xb_generation_close(generation);
	return error;
}

int xb_limits_reset(const struct xb_paths *paths, uint32_t *limits)
{
	struct xb_generation *generation;
	struct xb_anchor anchor;
	int error = xb_anchor_open(paths->pins, &anchor);

	*limits = 0;
	if (!error) {
		error = xb_generation_open(paths, &anchor, &generation);
		error = begin_opened(error, generation, limits);
		if (!error) {
			error = xb_generation_open_tried(paths, &anchor, &generation);
			error = begin_opened(error, generation, limits);
		}
		xb_anchor_close(&anchor);
	}
	if (error && error != -ENOENT)
		return error;
	if (*limits)
		return 0;
	xb_input_error("no filter with limits is in force");
	return 1;
}

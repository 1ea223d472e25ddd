/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/place.h"

#include <stdlib.h>

#include "attach/attach.h"
#include "base/error.h"
#include "base/netns.h"
#include "store/wanted.h"

/*
 * In its own flavour an anchor can tell that it filters nothing: a bpf_link dies with its device.
 * But an interface that is missed may come back, so the namespace that misses it has to be gone as
 * well.
 */
bool xb_place_is_dead(const struct xb_anchor *anchor, bool wanted)
{
	struct xb_ifpins pins = {0};
	bool dead;

	if (!anchor->elsewhere || anchor->flavour != XB_FLAVOUR_LINK)
		return false;
	dead = !xb_ifpins_read(anchor->pins, &pins);
	wanted = wanted || pins.count;
	for (size_t i = 0; dead && i < pins.count; i++)
		dead = !pins.item[i].ifindex;
	xb_ifpins_free(&pins);
	return dead && (!wanted || xb_netns_is_gone(&anchor->netns));
}

enum xb_place xb_place_of(const struct xb_writer *writer, uint64_t store,
			  const struct xb_home *home)
{
	bool ours = writer->anchored && writer->active && writer->active->params.store == store;

	return ours && !writer->anchor.elsewhere ? XB_PLACE_HOME : xb_home_place(home);
}

/* What the store says of the wanted interfaces without a look at them. */
struct wishes {
	uint64_t store;
	struct xb_home home;
	bool any;
};

static int read_home(struct xb_writer *writer, struct wishes *wishes)
{
	struct xb_wanted *wanted = NULL;
	struct xb_txn *txn;
	size_t count = 0;
	int error = xb_store_read(writer->store, &txn);

	if (error)
		return error;
	wishes->store = txn->meta.identity;
	error = xb_home_get(txn, &wishes->home);
	if (!error)
		error = xb_wanted_all(txn, &wanted, &count);
	wishes->any = count;
	free(wanted);
	xb_txn_abort(txn);
	return error;
}

/* A disk that cannot be written keeps nothing from being enforced. */
static void write_home(struct xb_writer *writer)
{
	int error = xb_store_write(writer->store, &writer->txn);
	struct xb_txn *txn = writer->txn;

	if (!error)
		error = xb_home_put(txn);
	if (!error) {
		writer->txn = NULL;
		error = xb_txn_commit(txn);
	}
	xb_txn_abort(writer->txn);
	writer->txn = NULL;
	if (error)
		xb_warning("cannot record the network namespace of the wanted interfaces: %s",
			   xb_error_message());
}

/* A filter of another store that is in force here is none of it. */
static void go_away(struct xb_writer *writer, uint64_t store)
{
	writer->away = true;
	writer->foreign = writer->how & XB_WRITE_LEAVE && writer->active &&
			  writer->active->params.store != store;
	if (!writer->foreign)
		return;
	xb_generation_close(writer->active);
	writer->active = NULL;
}

static int choose_home(struct xb_writer *writer, const struct wishes *wishes)
{
	enum xb_place place;
	unsigned int how = writer->how;

	if (!wishes->any)
		return 0;
	place = xb_place_of(writer, wishes->store, &wishes->home);
	if ((place == XB_PLACE_AWAY && how & XB_WRITE_LEAVE) ||
	    (place == XB_PLACE_HEIR && how & (XB_WRITE_LEAVE | XB_WRITE_ADOPT))) {
		go_away(writer, wishes->store);
		return 0;
	}
	if (place == XB_PLACE_AWAY || (place == XB_PLACE_HEIR && !(how & XB_WRITE_SETTLE)))
		return xb_home_refuse(&wishes->home, place, writer->paths->state);
	if (place == XB_PLACE_HEIR)
		xb_notice("the network namespace in which interfaces were wanted is gone: they are "
			  "wanted in this one from now on");
	if (!xb_home_is_here(&wishes->home))
		write_home(writer);
	return 0;
}

int xb_place_choose(struct xb_writer *writer)
{
	struct wishes wishes = {0};
	bool elsewhere = writer->anchored && writer->anchor.elsewhere;
	int error = read_home(writer, &wishes);

	writer->away = false;
	if (error)
		return error;
	if (elsewhere &&
	    !xb_place_is_dead(&writer->anchor, wishes.any && !(writer->how & XB_WRITE_LEAVE)))
		return xb_anchor_at_home(&writer->anchor);
	error = choose_home(writer, &wishes);
	if (error || !elsewhere)
		return error;
	error = xb_detach_all(&writer->anchor);
	xb_writer_close_kernel(writer);
	if (!error)
		xb_anchor_destroy(writer->paths->pins);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may write where: at home, in another network namespace, and where the home is gone. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/place.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

static const struct xb_paths paths = {.state = "/the/state"};
static char notice[256];
static struct xb_home home; /* of the store, when it wanted x0 */
static pid_t keeper;	    /* of a network namespace that nobody else is in; 0: there is none */

static void keep_notice(enum xb_notice_kind kind, const char *message)
{
	assert_int_equal(kind, XB_NOTE);
	snprintf(notice, sizeof(notice), "%s", message);
}

static int begin_place(void **state)
{
	xb_notice_sink(keep_notice);
	xb_error_clear();
	notice[0] = '\0';
	keeper = 0;
	return begin(state) || unshare(CLONE_NEWNET);
}

static void end_of_keeper(void)
{
	if (keeper) {
		kill(keeper, SIGKILL);
		waitpid(keeper, NULL, 0);
	}
	keeper = 0;
}

static int end_place(void **state)
{
	end_of_keeper();
	return end(state);
}

/* Goes into another network namespace; the former one lasts as long as its keeper. */
static void go_elsewhere(void)
{
	keeper = fork();
	assert_true(keeper >= 0);
	if (!keeper) {
		pause();
		_exit(0);
	}
	assert_int_equal(unshare(CLONE_NEWNET), 0);
}

static struct xb_home kept(void)
{
	struct xb_home found;
	struct xb_txn *txn;

	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(xb_home_get(txn, &found), 0);
	xb_txn_abort(txn);
	return found;
}

static void want_x0(void)
{
	struct xb_wanted wanted = {.name = "x0"};
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	home = kept();
}

static struct xb_writer writer_of(unsigned int how)
{
	return (struct xb_writer){.paths = &paths, .store = store, .how = how, .away = true};
}

/* It may write, at home or away from it. */
static void assert_chosen(unsigned int how, bool away)
{
	struct xb_writer writer = writer_of(how);

	assert_int_equal(xb_place_choose(&writer), 0);
	assert_int_equal(writer.away, away);
	assert_false(writer.foreign);
	assert_null(writer.txn);
}

static void assert_refused(unsigned int how, const char *words)
{
	struct xb_writer writer = writer_of(how);

	assert_true(xb_place_choose(&writer) < 0);
	assert_false(writer.away);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_non_null(strstr(xb_error_message(), words));
	assert_non_null(strstr(xb_error_message(), paths.state));
}

static void assert_at_home(void)
{
	static const unsigned int hows[] = {0, XB_WRITE_HEAVY, XB_WRITE_ADOPT, XB_WRITE_LEAVE,
					    XB_WRITE_SETTLE};

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		assert_chosen(hows[i], false);
	assert_string_equal(notice, "");
}

/* A store that wants nothing has none. */
TEST(at_home)
{
	assert_at_home();
	assert_false(kept().known);
	want_x0();
	assert_at_home();
	assert_int_equal(kept().netns.cookie, home.netns.cookie);
}

/* As a store of a former version is, which did not record it. */
TEST(the_first_writer_is_at_home)
{
	MDB_val key = {4, "home"};
	struct xb_txn *txn;

	want_x0();
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_del(txn->txn, store->meta, &key, NULL), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_false(kept().known);
	assert_at_home();
	assert_true(kept().known);
}

TEST(away_only_the_store_is_written)
{
	want_x0();
	go_elsewhere();
	assert_refused(0, "wants interfaces of another network namespace");
	assert_refused(XB_WRITE_ADOPT, "wants interfaces of another network namespace");
	assert_refused(XB_WRITE_SETTLE, "wants interfaces of another network namespace");
	assert_chosen(XB_WRITE_LEAVE, true);
	assert_int_equal(kept().netns.cookie, home.netns.cookie);
}

TEST(an_heir_settles_if_it_is_asked_to)
{
	want_x0();
	go_elsewhere();
	end_of_keeper();
	assert_refused(0, "is gone");
	assert_refused(XB_WRITE_HEAVY, "is gone");
	assert_chosen(XB_WRITE_ADOPT, true);
	assert_chosen(XB_WRITE_LEAVE, true);
	/* It is not its home while it is away. */
	assert_chosen(XB_WRITE_SETTLE | XB_WRITE_LEAVE, true);
	assert_string_equal(notice, "");
	assert_refused(0, "is gone");
	assert_chosen(XB_WRITE_SETTLE, false);
	assert_non_null(strstr(notice, "wanted in this one from now on"));
	/* From now on anybody is at home here. */
	assert_chosen(0, false);
}

static struct xb_generation *generation_of(uint64_t identity)
{
	struct xb_generation *generation = xb_generation_new();

	assert_non_null(generation);
	generation->params.store = identity;
	return generation;
}

static uint64_t identity(void)
{
	struct xb_txn *txn;
	uint64_t found;

	assert_int_equal(xb_store_read(store, &txn), 0);
	found = txn->meta.identity;
	xb_txn_abort(txn);
	return found;
}

/* Away, with a filter in force: whether it is one that this writer does not look at. */
static void assert_foreign(unsigned int how, uint64_t store_of_filter, bool foreign)
{
	struct xb_writer writer = writer_of(how);

	writer.active = generation_of(store_of_filter);
	assert_int_equal(xb_place_choose(&writer), 0);
	assert_true(writer.away);
	assert_int_equal(writer.foreign, foreign);
	assert_int_equal(writer.active == NULL, foreign);
	xb_generation_close(writer.active);
}

/* Whoever is away leaves the filter of another store alone. */
TEST(what_is_in_force_away)
{
	want_x0();
	go_elsewhere();
	assert_foreign(XB_WRITE_LEAVE, identity() + 1, true);
	assert_foreign(XB_WRITE_LEAVE, identity(), false);
	end_of_keeper();
	assert_foreign(XB_WRITE_ADOPT, identity() + 1, false);
}

/* What the record says does not matter then. */
TEST(the_filter_in_force_decides)
{
	struct xb_writer writer = writer_of(0);

	want_x0();
	go_elsewhere();
	assert_int_equal(xb_place_of(&writer, 77, &home), XB_PLACE_AWAY);
	writer.active = generation_of(77);
	assert_int_equal(xb_place_of(&writer, 77, &home), XB_PLACE_AWAY);
	writer.anchored = true;
	assert_int_equal(xb_place_of(&writer, 77, &home), XB_PLACE_HOME);
	assert_int_equal(xb_place_of(&writer, 78, &home), XB_PLACE_AWAY);
	writer.anchor.elsewhere = true;
	assert_int_equal(xb_place_of(&writer, 77, &home), XB_PLACE_AWAY);
	xb_generation_close(writer.active);
	writer.active = NULL;
	writer.anchor.elsewhere = false;
	assert_int_equal(xb_place_of(&writer, 77, &home), XB_PLACE_AWAY);
}

static struct xb_anchor anchor_elsewhere(void)
{
	return (struct xb_anchor){.pins = directory,
				  .flavour = XB_FLAVOUR_LINK,
				  .elsewhere = true,
				  .netns = xb_netns_self()};
}

/* A pin that cannot be read may filter. */
TEST(when_an_anchor_is_dead)
{
	struct xb_anchor anchor = anchor_elsewhere();
	char path[64];
	int fd;

	go_elsewhere();
	/* No bpf_link is pinned there. */
	assert_true(xb_place_is_dead(&anchor, false));
	assert_false(xb_place_is_dead(&anchor, true));
	end_of_keeper();
	assert_true(xb_place_is_dead(&anchor, true));
	snprintf(path, sizeof(path), "%s/iface-3", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_false(xb_place_is_dead(&anchor, false));
	assert_false(xb_place_is_dead(&anchor, true));
	assert_int_equal(unlink(path), 0);
	anchor.flavour = XB_FLAVOUR_DISPATCHER;
	assert_false(xb_place_is_dead(&anchor, false));
	assert_false(xb_place_is_dead(&anchor, true));
	anchor.flavour = XB_FLAVOUR_LINK;
	anchor.elsewhere = false;
	assert_false(xb_place_is_dead(&anchor, false));
}

TEST(an_anchor_elsewhere_refuses)
{
	struct xb_writer writer = writer_of(0);

	writer.anchored = true;
	writer.anchor = anchor_elsewhere();
	want_x0();
	go_elsewhere();
	assert_true(xb_place_choose(&writer) < 0);
	assert_false(writer.away);
	assert_non_null(strstr(xb_error_message(), "filters interfaces of another network"));
	assert_non_null(strstr(xb_error_message(), directory));
}

EACH_TEST(begin_place, end_place);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may write where: at home, in another network namespace, and where the home is gone. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/place.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

static const struct xb_paths paths = {.state = "/the/state"};
static char notice[256];
static pid_t keeper; /* of a network namespace that nobody else is in; 0: there is none */

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

static void want(const char *name)
{
	struct xb_wanted wanted = {0};
	struct xb_txn *txn;

	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
}

static struct xb_home kept(void)
{
	struct xb_home home;
	struct xb_txn *txn;

	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(xb_home_get(txn, &home), 0);
	xb_txn_abort(txn);
	return home;
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

static const unsigned int hows[] = {0, XB_WRITE_HEAVY, XB_WRITE_ADOPT, XB_WRITE_LEAVE,
				    XB_WRITE_SETTLE};

#define EACH_HOW(i)                                                                                \
	size_t i = 0;                                                                              \
	i < sizeof(hows) / sizeof(hows[0]);                                                        \
	i++

TEST(a_store_that_wants_nothing_has_no_home)
{
	for (EACH_HOW(i))
		assert_chosen(hows[i], false);
	assert_false(kept().known);
}

TEST(at_home)
{
	struct xb_home home;

	want("x0");
	home = kept();
	for (EACH_HOW(i))
		assert_chosen(hows[i], false);
	assert_int_equal(kept().netns.cookie, home.netns.cookie);
	assert_string_equal(notice, "");
}

/* As a store of a former version is, which did not record it. */
TEST(the_first_writer_is_at_home)
{
	MDB_val key = {4, "home"};
	struct xb_txn *txn;

	want("x0");
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_del(txn->txn, store->meta, &key, NULL), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_false(kept().known);
	assert_chosen(0, false);
	assert_true(kept().known);
	assert_string_equal(notice, "");
}

TEST(away_only_the_store_is_written)
{
	struct xb_home home;

	want("x0");
	home = kept();
	go_elsewhere();
	assert_refused(0, "wants interfaces of another network namespace");
	assert_refused(XB_WRITE_ADOPT, "wants interfaces of another network namespace");
	assert_refused(XB_WRITE_SETTLE, "wants interfaces of another network namespace");
	assert_chosen(XB_WRITE_LEAVE, true);
	assert_int_equal(kept().netns.cookie, home.netns.cookie);
}

TEST(an_heir_settles_if_it_is_asked_to)
{
	want("x0");
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

/* Whoever is away leaves the filter of another store alone, and does not look at it. */
TEST(what_is_in_force_away)
{
	struct xb_writer writer;

	want("x0");
	go_elsewhere();
	writer = writer_of(XB_WRITE_LEAVE);
	writer.active = generation_of(identity() + 1);
	assert_int_equal(xb_place_choose(&writer), 0);
	assert_true(writer.away && writer.foreign);
	assert_null(writer.active);
	writer = writer_of(XB_WRITE_LEAVE);
	writer.active = generation_of(identity());
	assert_int_equal(xb_place_choose(&writer), 0);
	assert_true(writer.away && !writer.foreign);
	assert_non_null(writer.active);
	xb_generation_close(writer.active);
	end_of_keeper();
	writer = writer_of(XB_WRITE_ADOPT);
	writer.active = generation_of(identity() + 1);
	assert_int_equal(xb_place_choose(&writer), 0);
	assert_true(writer.away && !writer.foreign);
	assert_non_null(writer.active);
	xb_generation_close(writer.active);
}

/* What the record says does not matter then. */
TEST(the_filter_in_force_decides)
{
	struct xb_home home;
	struct xb_writer writer = writer_of(0);

	want("x0");
	home = kept();
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

TEST(when_an_anchor_is_dead)
{
	struct xb_anchor anchor = {.pins = directory,
				   .flavour = XB_FLAVOUR_LINK,
				   .elsewhere = true,
				   .netns = xb_netns_self()};

	go_elsewhere();
	/* No bpf_link is pinned there. */
	assert_true(xb_place_is_dead(&anchor, false));
	assert_false(xb_place_is_dead(&anchor, true));
	end_of_keeper();
	assert_true(xb_place_is_dead(&anchor, true));
	anchor.flavour = XB_FLAVOUR_DISPATCHER;
	assert_false(xb_place_is_dead(&anchor, false));
	assert_false(xb_place_is_dead(&anchor, true));
	anchor.flavour = XB_FLAVOUR_LINK;
	anchor.elsewhere = false;
	assert_false(xb_place_is_dead(&anchor, false));
}

/* A pin that cannot be read may filter. */
TEST(an_unknown_pin_is_alive)
{
	struct xb_anchor anchor = {
		.pins = directory, .flavour = XB_FLAVOUR_LINK, .elsewhere = true};
	char path[64];
	int fd;

	assert_true(xb_place_is_dead(&anchor, false));
	snprintf(path, sizeof(path), "%s/iface-3", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_false(xb_place_is_dead(&anchor, false));
}

TEST(an_anchor_elsewhere_refuses)
{
	struct xb_writer writer = writer_of(0);

	writer.anchored = true;
	writer.anchor = (struct xb_anchor){.pins = directory,
					   .flavour = XB_FLAVOUR_LINK,
					   .elsewhere = true,
					   .netns = xb_netns_self()};
	want("x0");
	go_elsewhere();
	assert_true(xb_place_choose(&writer) < 0);
	assert_false(writer.away);
	assert_non_null(strstr(xb_error_message(), "filters interfaces of another network"));
	assert_non_null(strstr(xb_error_message(), directory));
}

EACH_TEST(begin_place, end_place);

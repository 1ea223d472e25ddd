/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot made on one host and taken on another: the other's lists are as the maker's, but for
 * what the maker had not seen, or what the tail of the other does not tell. What would take out
 * much waits for an operator, and what is damaged is not taken. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/fleet/follow.h"
#include "bloomd/fleet/former.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/snapshot.h"
#include "store/logtail.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"
#include "support/fleettail.h"

static int begin(void **state)
{
	tail_time = 1;
	return begin_hosts(state);
}

/* "added N, renewed N, ...": what is not zero. */
static void assert_result(const struct snapshot_result *result, const char *expected)
{
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{"added", result->added},
		{"renewed", result->renewed},
		{"removed", result->removed},
		{"unchanged", result->unchanged},
		{"kept", result->kept},
		{"republished", result->republished},
		{"given", result->given},
		{"partial", result->partial},
		{"away", result->partial && result->away},
	};
	struct listed_text out = {0};
	char number[32];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!counts[i].count)
			continue;
		snprintf(number, sizeof(number), " %" PRIu64, counts[i].count);
		add_text(&out, out.used ? ", %s" : "%s", counts[i].name);
		add_text(&out, "%s", number);
	}
	assert_string_equal(out.text, expected);
}

static void assert_digest(const char *list)
{
	const struct xb_share *share = xb_share_of(at(&taker), list);
	struct xb_digest digest;

	assert_int_equal(xb_share_digest(at(&taker), share, NOW, &digest), 0);
	assert_true(xb_digest_equals(&digest, &manifest_list_of(&manifest, list)->digest));
}

/* --- one entry after another --- */

static const uint8_t other_way[MAC_BYTES] = {9};

/* What is the case before a snapshot is made and taken, and afterwards. Lists and outboxes are
 * texts as assert_store() and assert_waits() have them. */
struct scenario {
	const char *maker, *taker;
	/* Where the maker stands, and by which chain; 0: at 100 of the first log. at_tail: by that
	 * of the taker's entry at the position. */
	uint64_t term, position;
	const uint8_t *chain;
	bool at_tail;
	bool parted;  /* the logs parted at 40: the maker stands at 100 of the second */
	bool went_on; /* the taker went through 44 to 50 of the first log, to 50 of the second */
	uint64_t stranger_seen, own_seen; /* changes that the maker has */
	uint64_t from, to;		  /* the taker's tail has fillers there */
	uint64_t tail_time;		  /* s since 1970 */
	const char *log;  /* and then "POSITION own|stranger [-]ENTRY LIST..."; own are numbered */
	const char *gone; /* an entry that is not in force any more */
	const char *here; /* changes by commands on the taker */
	const char *waits_again; /* a change that it publishes again */
	enum xb_again whose;
	unsigned int share; /* what the taker shares of "bans", if not 0 */
	uint32_t time;	    /* the manifest's, if not 0 */
	bool accept;
	const char *store, *waits, *result; /* of the taker, at last */
};

static void stand_by(struct host *host, uint64_t term, uint64_t position,
		     const uint8_t chain[MAC_BYTES])
{
	struct xb_fleet fleet;

	stand(host, term == 1 ? epoch : other_epoch, term, position);
	assert_int_equal(xb_fleet_get(at(host), &fleet), 1);
	memcpy(fleet.chain, chain, sizeof(fleet.chain));
	assert_int_equal(xb_fleet_put(at(host), &fleet), 0);
}

static void put_maker(const struct scenario *scenario)
{
	static const uint8_t nothing[MAC_BYTES];
	uint8_t own[XB_FLEET_ID], chain[MAC_BYTES];
	const void *bytes;
	size_t size;

	own_id(own);
	memcpy(chain, scenario->chain ? scenario->chain : nothing, sizeof(chain));
	if (scenario->at_tail) {
		assert_int_equal(xb_logtail_get(at(&taker), 1, scenario->position, &bytes, &size),
				 1);
		memcpy(chain, (const uint8_t *)bytes + size - MAC_BYTES, MAC_BYTES);
	}
	if (scenario->maker)
		list_all(at(&maker), scenario->maker);
	if (scenario->stranger_seen)
		assert_int_equal(xb_fleet_mark_raise(at(&maker), stranger, scenario->stranger_seen),
				 0);
	if (scenario->own_seen)
		assert_int_equal(xb_fleet_mark_raise(at(&maker), own, scenario->own_seen), 0);
	if (scenario->parted)
		part_at_40();
	if (scenario->term)
		stand_by(&maker, scenario->term, scenario->position, chain);
}

static void write_log(const char *log)
{
	struct texts texts = texts_of(log);
	uint8_t own[XB_FLEET_ID];
	uint64_t number = 0;

	own_id(own);
	for (char *text; (text = next_text(&texts));) {
		uint64_t position = strtoull(strsep(&text, " "), NULL, 10);
		bool is_own = !strcmp(strsep(&text, " "), "own"), is_delete = *text == '-';
		struct change_row row = {.entry = strsep(&text, " ") + is_delete};

		assert_true(next_list(&text, &row));
		row.added = !is_delete;
		if (is_delete)
			row.comment = NULL;
		apply(1, position, epoch, is_own ? own : stranger, is_own ? ++number : position,
		      &row);
	}
}

static void put_taker(const struct scenario *scenario)
{
	if (scenario->taker)
		list_all(at(&taker), scenario->taker);
	if (scenario->tail_time)
		tail_time = scenario->tail_time * 1000;
	if (scenario->to)
		fill_tail(scenario->from, scenario->to);
	if (scenario->went_on) {
		fill_tail(44, 50);
		unlist(at(&taker), "filler.example.com", "names");
		stand_by(&taker, 2, 50, other_way);
	}
	if (scenario->log)
		write_log(scenario->log);
	if (scenario->gone)
		unlist(at(&taker), scenario->gone, "bans");
}

/* The taker has this change to publish again: "[-]ENTRY LIST[ until TIME]". */
static void wait_again(const char *change_text, enum xb_again whose)
{
	struct texts texts = texts_of(change_text);
	char *text = next_text(&texts);
	bool put = *text != '-';
	struct change_row row = {.entry = strsep(&text, " ") + !put};
	struct xb_shared_change change = {.entry = entry_of(row.entry), .put = put, .added = put};

	assert_true(next_list(&text, &row));
	change.list = row.list;
	change.expires = row.expires;
	assert_int_equal(xb_outbox_put_again(at(&taker), &change, whose), 1);
}

static void change_taker(const struct scenario *scenario)
{
	struct texts here = texts_of(scenario->here ?: "");

	if (scenario->waits_again)
		wait_again(scenario->waits_again, scenario->whose);
	for (char *text; (text = next_text(&here)) && *text;)
		change_here(&taker, text + (*text == '-'), *text != '-');
	if (scenario->share)
		assert_int_equal(xb_share_set(at(&taker), "bans", scenario->share), 0);
}

static void run(void **state)
{
	const struct scenario *scenario = *state;
	struct snapshot_result result;

	put_taker(scenario);
	put_maker(scenario);
	change_taker(scenario);
	make();
	if (scenario->time)
		manifest.time = scenario->time * 1000ULL;
	result = take_with(scenario->accept);
	assert_int_equal(result.outcome, SNAPSHOT_TAKEN);
	assert_store(at(&taker), scenario->store ?: "");
	assert_waits(&taker, scenario->waits ?: "");
	assert_result(&result, scenario->result);
}

#define SCENARIO(label, ...)                                                                       \
	static const struct scenario row_##label = {__VA_ARGS__};                                  \
	TEST_OF(label, run, &row_##label)

SCENARIO(what_waits_here_is_passed_by, .maker = "192.0.2.1 bans (theirs); 192.0.2.4 bans",
	 .taker = "192.0.2.4 bans", .here = "192.0.2.1; 192.0.2.2; -192.0.2.4",
	 .store = "192.0.2.1 bans; 192.0.2.2 bans",
	 .waits = "192.0.2.1 bans; 192.0.2.2 bans; -192.0.2.4 bans", .result = "kept 3");

/* This host died between adding to the log and noting that; then the log was trimmed. It was
 * deleted since: its own put does not bring it back. */
SCENARIO(what_the_snapshot_has_waits_no_more, .own_seen = 1, .here = "192.0.2.1; 192.0.2.2",
	 .accept = true, .store = "192.0.2.2 bans", .waits = "192.0.2.2 bans",
	 .result = "removed 1, kept 1");

/* What another has listed stays, and is published again. What another has taken out may have been
 * listed again since: its publisher knows. */
SCENARIO(uncovered_puts_of_others_stay, .maker = "192.0.2.1 bans; 192.0.2.2 bans",
	 .taker = "192.0.2.2 bans; 192.0.2.3 bans", .parted = true, .from = 40, .to = 48,
	 .log = "49 stranger 192.0.2.4 bans; 50 stranger -192.0.2.2 bans",
	 .store = "192.0.2.1 bans; 192.0.2.2 bans; 192.0.2.4 bans; filler.example.com names",
	 .waits = "filler.example.com names; 192.0.2.4 bans",
	 .result = "added 2, removed 1, kept 2, republished 2");

/* The maker had the change, and went back in the log since: what this host deleted long ago is not
 * deleted again. */
SCENARIO(a_maker_that_went_back_has_it_all_the_same, .maker = "192.0.2.1 bans", .parted = true,
	 .own_seen = 1, .taker = "192.0.2.1 bans", .log = "50 own -192.0.2.1 bans",
	 .store = "192.0.2.1 bans", .result = "added 1");

/* By a clock that is ahead it is over; by this host's clock it ends by itself. */
SCENARIO(what_is_over_for_the_maker_alone_stays, .maker = "192.0.2.3 bans",
	 .taker = "192.0.2.1 bans until 2000000009; 192.0.2.2 bans until 2000000099",
	 .time = NOW + 9, .store = "192.0.2.1 bans until 2000000009; 192.0.2.3 bans",
	 .result = "added 1, removed 1");

SCENARIO(covered_changes_are_not_passed_by, .maker = "192.0.2.1 bans", .stranger_seen = 50,
	 .log = "49 stranger 192.0.2.4 bans; 50 stranger 192.0.2.1 bans", .store = "192.0.2.1 bans",
	 .result = "removed 1, unchanged 1");

/* After a failover the log has other entries at the same positions: numbers tell. */
SCENARIO(lost_changes_at_covered_positions_are_passed_by, .maker = "192.0.2.1 bans",
	 .stranger_seen = 49, .log = "49 stranger 192.0.2.4 bans; 50 stranger 192.0.2.5 bans",
	 .store = "192.0.2.1 bans; 192.0.2.5 bans", .waits = "192.0.2.5 bans",
	 .result = "added 1, removed 1, kept 1, republished 1");

/* Deleted, twice; put again later, in force; put, then deleted by another; put, but gone since;
 * expired. */
SCENARIO(own_uncovered_changes_wait_again, .maker = "192.0.2.3 bans",
	 .taker = "192.0.2.3 bans; 192.0.2.4 bans", .parted = true, .from = 41, .to = 43,
	 .log = "44 own -192.0.2.4 bans; 45 own -192.0.2.3 bans; "
		"46 own 192.0.2.1 bans until 2000000005 (mine); 47 own 192.0.2.2 bans; "
		"48 stranger -192.0.2.2 bans; 49 own 192.0.2.5 bans; "
		"50 own 192.0.2.6 bans until 1999999999",
	 .gone = "192.0.2.5",
	 .store = "192.0.2.1 bans until 2000000005 (mine); 192.0.2.3 bans; "
		  "filler.example.com names",
	 .waits = "filler.example.com names; 192.0.2.1 bans until 2000000005 (mine); "
		  "-192.0.2.4 bans; 192.0.2.3 bans",
	 .result = "added 1, kept 2, republished 4");

/* --- a state that lacks what this host has seen, and of which its tail does not have all --- */

SCENARIO(a_partial_tail_takes_nothing_out, .maker = "192.0.2.1 bans",
	 .taker = "192.0.2.1 bans (old); 192.0.2.3 bans", .parted = true, .from = 42, .to = 50,
	 .store = "192.0.2.1 bans; 192.0.2.3 bans; filler.example.com names",
	 .waits = "filler.example.com names",
	 .result = "renewed 1, kept 1, republished 1, partial 1, away 1");

/* Somebody may have lengthened it in the part of the log that neither has. */
SCENARIO(a_partial_tail_shortens_nothing, .parted = true, .from = 42, .to = 50,
	 .maker = "192.0.2.1 bans until 2000000010; 192.0.2.2 bans until 2000000010; "
		  "192.0.2.3 bans until 2000000030 (longer); 192.0.2.4 bans",
	 .taker = "192.0.2.1 bans until 2000000020 (mine); 192.0.2.2 bans; "
		  "192.0.2.3 bans until 2000000020; 192.0.2.4 bans until 2000000020",
	 .store = "192.0.2.1 bans until 2000000020 (mine); 192.0.2.2 bans; "
		  "192.0.2.3 bans until 2000000030 (longer); 192.0.2.4 bans; "
		  "filler.example.com names",
	 .waits = "filler.example.com names",
	 .result = "renewed 2, kept 3, republished 1, partial 1, away 1");

/* The maker does not know the epoch at all, and the tail has not its beginning. */
SCENARIO(an_unknown_epoch_is_partial, .maker = "192.0.2.1 bans", .taker = "192.0.2.3 bans",
	 .term = 2, .position = 100, .from = 2, .to = 50,
	 .store = "192.0.2.1 bans; 192.0.2.3 bans; filler.example.com names",
	 .waits = "filler.example.com names",
	 .result = "added 1, kept 1, republished 1, partial 1, away 1");

/* A host that was not away for long. */
SCENARIO(what_the_snapshot_lacks_is_published, .parted = true, .tail_time = NOW - 3000, .from = 42,
	 .to = 50, .maker = "192.0.2.1 bans until 2000000010; 192.0.2.2 bans",
	 .taker = "192.0.2.1 bans until 2000000020 (longer); 192.0.2.2 bans; "
		  "192.0.2.3 bans until 2000000005 (mine)",
	 .store = "192.0.2.1 bans until 2000000020 (longer); 192.0.2.2 bans; "
		  "192.0.2.3 bans until 2000000005 (mine); filler.example.com names",
	 .waits = "filler.example.com names; 192.0.2.1 bans until 2000000020 (longer); "
		  "192.0.2.3 bans until 2000000005 (mine)",
	 .result = "unchanged 1, kept 2, republished 1, given 2, partial 1");

/* Others may have deleted it in the meantime. */
SCENARIO(not_after_an_hour, .taker = "192.0.2.3 bans", .parted = true, .tail_time = NOW - 3700,
	 .from = 42, .to = 50, .store = "192.0.2.3 bans; filler.example.com names",
	 .waits = "filler.example.com names", .result = "kept 1, republished 1, partial 1, away 1");

/* --- deletes that this host publishes again, of an entry that the snapshot lists: which of them is
 * later is known only if this host has gone through the snapshot's state --- */

#define ENTRY	"192.0.2.3"
#define DELETED .waits_again = "-" ENTRY " bans", .whose = XB_AGAIN_OWN
/* What comes of the delete: the put is published again, since others may have had the delete. */
#define GIVES_WAY .store = ENTRY " bans", .waits = ENTRY " bans"
#define STAYS	  .waits = "-" ENTRY " bans"

/* Somebody has put the entry there since the log was lost, maybe. */
SCENARIO(another_log, DELETED, .maker = ENTRY " bans", .term = 2, .position = 40, GIVES_WAY,
	 .result = "added 1");
SCENARIO(a_name, .waits_again = "-a.example names", .whose = XB_AGAIN_OWN,
	 .maker = "a.example names", .term = 2, .position = 51, .store = "a.example names",
	 .waits = "a.example names", .result = "added 1");
SCENARIO(further_on_in_this_log, DELETED, .maker = ENTRY " bans", .term = 1, .position = 51,
	 GIVES_WAY, .result = "added 1");

/* The delete came later than all that is there. */
SCENARIO(the_own_place, DELETED, .maker = ENTRY " bans", .term = 1, .position = 50, STAYS,
	 .result = "kept 1");
SCENARIO(the_own_place_on_another_way, DELETED, .maker = ENTRY " bans", .term = 1, .position = 50,
	 .chain = other_way, GIVES_WAY, .result = "added 1");

/* The server was restored from a copy. */
SCENARIO(a_place_of_the_tail, .went_on = true, DELETED, .maker = ENTRY " bans", .term = 1,
	 .position = 45, .at_tail = true, STAYS, .result = "kept 1, partial 1, away 1");

/* As that of a host that has taken this snapshot, and gone on from there. */
SCENARIO(the_place_before_the_tail, .went_on = true, DELETED, .maker = ENTRY " bans", .term = 1,
	 .position = 43, STAYS, .result = "kept 1, partial 1, away 1");
SCENARIO(before_the_tail, .went_on = true, DELETED, .maker = ENTRY " bans", .term = 1,
	 .position = 42, GIVES_WAY, .result = "added 1, partial 1, away 1");

/* After a failover the log went on another way: the tail has another entry at the position. */
SCENARIO(a_place_on_another_way, .went_on = true, DELETED, .maker = ENTRY " bans", .term = 1,
	 .position = 45, .chain = other_way, GIVES_WAY, .result = "added 1, partial 1, away 1");

/* What this host has seen of the log, it has not seen of this list. */
SCENARIO(a_list_that_is_followed_anew, DELETED, .maker = ENTRY " bans", .term = 1, .position = 50,
	 .share = BOTH, GIVES_WAY, .result = "added 1");
SCENARIO(an_entry_of_another_list_too, DELETED, .maker = ENTRY " bans names",
	 .taker = ENTRY " names", .term = 2, .position = 51, .store = ENTRY " names bans",
	 .waits = ENTRY " bans", .result = "added 1, unchanged 1");

/* This host's clock may be ahead. */
SCENARIO(a_put_that_has_expired_here, DELETED, .maker = ENTRY " bans until 1999999999", .term = 2,
	 .position = 51, .waits = ENTRY " bans until 1999999999", .result = "");
SCENARIO(a_put_does_not_make_way, .waits_again = ENTRY " bans", .whose = XB_AGAIN_OWN,
	 .taker = ENTRY " bans", .maker = ENTRY " bans until 2000000010", .term = 2, .position = 51,
	 GIVES_WAY, .result = "kept 1");

/* What others have put there, this host does not have. */
SCENARIO(of_a_list_that_is_not_followed, DELETED, .share = XB_SHARE_PUBLISH, .term = 2,
	 .position = 51,
	 .maker = "192.0.2.1 bans; 192.0.2.2 bans until 1999999999; " ENTRY " bans; 192.0.2.4 bans",
	 .result = "");

/* One that was never published comes later than all. */
SCENARIO(a_new_delete, .maker = ENTRY " bans", .taker = ENTRY " bans", .term = 2, .position = 51,
	 .here = "-" ENTRY, STAYS, .result = "kept 1");

/* A put of a snapshot waits again, and this host meets a later snapshot. */
#define OLDER                                                                                      \
	.waits_again = ENTRY " bans until 2000000005", .whose = XB_AGAIN_OLDER,                    \
	.taker = ENTRY " bans until 2000000005"

SCENARIO(a_later_snapshot_without_the_put, OLDER, .maker = "192.0.2.1 bans", .term = 2,
	 .position = 51, .accept = true, .store = "192.0.2.1 bans", .result = "added 1, removed 1");

/* It is of a place before the one from which the put came. */
SCENARIO(a_known_snapshot_without_the_put, OLDER, .maker = "192.0.2.1 bans", .term = 1,
	 .position = 50, .store = "192.0.2.1 bans; " ENTRY " bans until 2000000005",
	 .waits = ENTRY " bans until 2000000005", .result = "added 1, kept 1");
SCENARIO(a_later_snapshot_that_prolongs_the_put, OLDER, .maker = ENTRY " bans", .term = 2,
	 .position = 51, GIVES_WAY, .result = "renewed 1");

/* --- what else it leaves --- */

/* The log behind the snapshot has the delete: all is as before. */
TEST(a_delete_that_was_not_lost)
{
	struct xb_shared_change change = {.entry = entry_of(ENTRY), .list = "bans"};
	const struct scenario *scenario = &row_another_log;

	run((void **)&scenario);
	assert_int_equal(xb_outbox_meets(at(&taker), &change, true), 0);
	settle(&taker);
	assert_waits(&taker, "");
}

/* A snapshot of this host must not say that it has what another deleted. */
TEST(an_uncovered_delete_has_no_mark)
{
	const struct scenario *scenario = &row_uncovered_puts_of_others_stay;
	uint64_t mark;

	run((void **)&scenario);
	assert_int_equal(xb_fleet_mark_get(at(&taker), stranger, &mark), 0);
	assert_int_equal(mark, 0);
}

TEST(the_taker_becomes_as_the_maker)
{
	struct xb_ancestor lineage[XB_LINEAGE_MAX];
	struct snapshot_result result;
	struct xb_fleet fleet;
	uint64_t mark;

	list_all(at(&maker),
		 "192.0.2.1 bans (same); 192.0.2.2 bans until 2000000009 (new comment); "
		 "2001:db8::/32 bans; a.example.com names (ü); "
		 "192.0.2.9 bans until 2000000000 (expired by now); "
		 "192.0.2.8 bans until 1 (expired long ago); 192.0.2.77 private; 10.0.0.0/7 bans; "
		 "!192.0.2.66 bans");
	assert_int_equal(xb_fleet_mark_raise(at(&maker), stranger, 5), 0);
	part_at_40();
	stand(&taker, epoch, 1, 40);
	list_all(at(&taker), "192.0.2.1 bans (same); 192.0.2.2 bans (old comment); "
			     "192.0.2.3 bans private; 128.0.0.0/7 bans; !192.0.2.65 bans; "
			     "a.example.com private");
	make();
	assert_int_equal(manifest_list_of(&manifest, "bans")->count, 4);
	result = take();
	assert_store(at(&taker),
		     "128.0.0.0/7 bans; 192.0.2.1 bans (same); 192.0.2.2 bans until 2000000009 "
		     "(new comment); 192.0.2.3 private; 2001:db8::/32 bans; a.example.com private "
		     "names (ü); !192.0.2.65 bans");
	assert_result(&result, "added 2, renewed 1, removed 1, unchanged 1");
	assert_digest("names");
	assert_int_equal(xb_fleet_get(at(&taker), &fleet), 1);
	assert_memory_equal(fleet.epoch, other_epoch, XB_FLEET_ID);
	assert_int_equal(fleet.term, 2);
	assert_int_equal(fleet.position, 100);
	assert_memory_equal(fleet.chain, manifest.chain, MAC_BYTES);
	assert_int_equal(xb_fleet_lineage_get(at(&taker), lineage), 1);
	assert_memory_equal(lineage[0].epoch, epoch, XB_FLEET_ID);
	assert_int_equal(lineage[0].position, 40);
	assert_int_equal(xb_fleet_mark_get(at(&taker), stranger, &mark), 0);
	assert_int_equal(mark, 5);
	settle(&taker);
	assert_waits(&taker, "");
}

TEST(lists_that_are_not_followed_stay)
{
	list_all(at(&maker), "192.0.2.1 bans names");
	list_all(at(&taker), "192.0.2.2 bans; 192.0.2.5 more");
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_PUBLISH), 0);
	assert_int_equal(xb_share_set(at(&taker), "more", ALL), 0);
	make();
	take();
	assert_store(at(&taker), "192.0.2.1 names; 192.0.2.2 bans; 192.0.2.5 more");
}

TEST(a_snapshot_waits_for_an_empty_outbox_unless_it_begins)
{
	change_here(&maker, "192.0.2.1", true);
	xb_error_clear();
	assert_int_equal(snapshot_make(at(&maker), &key, false, chunks, blooms, &manifest),
			 -EAGAIN);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_int_equal(snapshot_make(at(&maker), &key, true, chunks, blooms, &manifest), 0);
	assert_int_equal(manifest_list_of(&manifest, "bans")->count, 1);
	assert_int_equal(manifest.term, 2);
	assert_int_equal(manifest.ancestors, 1);
	assert_memory_equal(manifest.lineage[0].epoch, epoch, XB_FLEET_ID);
	assert_int_equal(manifest.lineage[0].position, 100);
}

/* --- those that would take out much of a list wait for an operator --- */

static void assert_held(uint64_t before, uint64_t after, uint64_t loses)
{
	struct snapshot_result result = take_with(false);

	assert_int_equal(result.outcome, SNAPSHOT_HELD);
	assert_int_equal(result.held_count, 1);
	assert_string_equal(result.held[0].list, "bans");
	assert_int_equal(result.held[0].before, before);
	assert_int_equal(result.held[0].after, after);
	assert_int_equal(result.held[0].loses, loses);
	give_up(&taker);
}

static enum snapshot_outcome outcome_with(double factor)
{
	struct snapshot_terms terms = terms_of(false);
	struct snapshot_result result;

	terms.factor = factor;
	assert_int_equal(try_take(&terms, &result), 0);
	give_up(&taker);
	return result.outcome;
}

TEST(losing_more_than_half_is_held)
{
	fill_bans(at(&maker), 0, 1000);
	fill_bans(at(&maker), 5000, 7000);
	fill_bans(at(&taker), 0, 2001);
	settle(&taker);
	make();
	/* What comes does not make up for what goes. */
	assert_held(2001, 3000, 1001);
	assert_int_equal(outcome_with(3), SNAPSHOT_TAKEN);
	assert_int_equal(outcome_with(1.5), SNAPSHOT_HELD);
	assert_int_equal(take_with(true).removed, 1001);
}

TEST(half_or_a_thousand_are_taken)
{
	fill_bans(at(&maker), 0, 1);
	fill_bans(at(&taker), 0, 1000);
	settle(&taker);
	make();
	assert_int_equal(take().removed, 999);
	give_up(&taker);
	fill_bans(at(&taker), 1000, 1001);
	assert_held(1001, 1, 1000);
}

TEST(emptying_is_held)
{
	fill_bans(at(&taker), 0, 1);
	settle(&taker);
	make();
	assert_held(1, 0, 1);
	assert_int_equal(take_with(true).removed, 1);
}

TEST(a_list_that_was_not_shared_loses_nothing)
{
	fill_bans(at(&maker), 0, 100);
	fill_bans(at(&taker), 1, 101);
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_FOLLOW), 0);
	settle(&taker);
	make();
	assert_held(100, 100, 1);
	unlist(at(&taker), "198.18.0.100", "bans");
	assert_int_equal(take().added, 1);
	assert_int_equal(xb_share_of(at(&taker), "bans")->flags, XB_SHARE_FOLLOW | XB_SHARE_JOINED);
}

/* --- chunks that are not what they should be --- */

static void assert_not_taken(const struct mac_key *with)
{
	struct snapshot_terms terms = terms_of(true);
	struct snapshot_result result;

	terms.key = with;
	assert_int_equal(try_take(&terms, &result), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "chunk"));
}

/* Each other byte: test_comparison.c; another chunk: test_snapshotfiles.c. */
TEST(damaged_chunks_are_refused)
{
	struct mac_key other = {{8}};
	uint8_t last;
	off_t size;

	list_all(at(&maker), "192.0.2.1 bans; a.example.com names until 2000000001 (comment)");
	make();
	assert_not_taken(&other);
	size = manifest.chunks[0].size + manifest.chunks[1].size;
	assert_int_equal(pread(chunks, &last, 1, size - 1), 1);
	last ^= 0x10;
	assert_int_equal(pwrite(chunks, &last, 1, size - 1), 1);
	assert_not_taken(&key);
	last ^= 0x10;
	assert_int_equal(pwrite(chunks, &last, 1, size - 1), 1);
	assert_int_equal(ftruncate(chunks, size - 1), 0);
	assert_not_taken(&key);
}

/* --- what is published again meets the log --- */

/* The log has a change of the entry by another at 51: a put, or a delete. */
static void follow(bool put)
{
	const struct change_row row = {"bans", ENTRY, put ? "" : NULL, put, 0};
	struct logentry entry = {
		.kind = LOGENTRY_CHANGE, .term = 1, .time = 1, .first = 1, .last = 1};
	struct xb_writer writer = {
		.builder_lock = -1, .writer_lock = -1, .txn = at(&taker), .now = NOW};
	struct follow_queue queue = {0};
	struct follow context = {.key = &key, .queue = &queue};
	uint8_t before[MAC_BYTES] = {0}, *bytes;
	size_t size;

	memcpy(entry.epoch, epoch, sizeof(entry.epoch));
	memcpy(entry.publisher, stranger, sizeof(entry.publisher));
	add_row(&entry.changes, &row);
	assert_int_equal(logentry_write(&entry, &key, 51, before, &bytes, &size), 0);
	assert_int_equal(follow_queue_add(&queue, 51, bytes, size), 0);
	assert_int_equal(follow_apply(&writer, &context), 0);
	assert_int_equal(context.done, 1);
	follow_queue_clear(&queue);
	free(bytes);
	logentry_free(&entry);
}

TEST(a_delete_makes_way_to_a_put)
{
	wait_again("-" ENTRY " bans", XB_AGAIN_OWN);
	follow(true);
	assert_store(at(&taker), ENTRY " bans");
	assert_waits(&taker, "");
}

/* Others' puts of it are not in the store, and are later all the same. */
TEST(also_of_a_list_that_is_not_followed)
{
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_PUBLISH), 0);
	wait_again("-" ENTRY " bans", XB_AGAIN_OWN);
	follow(true);
	assert_store(at(&taker), "");
	assert_waits(&taker, "");
}

/* Its publisher may not come back; but what a snapshot had makes way. */
TEST(a_put_of_another_does_not_make_way_to_a_delete)
{
	list_entry(at(&taker), ENTRY, "bans");
	wait_again(ENTRY " bans", XB_AGAIN_ANOTHERS);
	follow(false);
	assert_store(at(&taker), ENTRY " bans");
	assert_waits(&taker, ENTRY " bans");
	give_up(&taker);
	list_entry(at(&taker), ENTRY, "bans");
	wait_again(ENTRY " bans", XB_AGAIN_OLDER);
	follow(false);
	assert_store(at(&taker), "");
	assert_waits(&taker, "");
}

/* An earlier version has taken positions up to this one from the server. */
TEST(going_back_ends_at_the_last_number)
{
	static const uint64_t from[] = {UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX, 17, 0};
	struct logentry entry = {.kind = LOGENTRY_BEAT, .term = 1, .time = 1};
	uint8_t before[MAC_BYTES] = {0}, *bytes;
	size_t size;

	memcpy(entry.epoch, epoch, sizeof(entry.epoch));
	memcpy(entry.publisher, stranger, sizeof(entry.publisher));
	assert_int_equal(logentry_write(&entry, &key, 51, before, &bytes, &size), 0);
	alarm(60);
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		bool behind = from[i] < UINT64_MAX;

		assert_int_equal(xb_logtail_append(at(&taker), 1, UINT64_MAX, bytes, size), 0);
		assert_int_equal(former_cut(at(&taker), 1, from[i]), 0);
		assert_int_equal(xb_fleet_former_has(at(&taker), UINT64_MAX, entry.chain), behind);
		assert_int_equal(xb_fleet_former_end(at(&taker), UINT64_MAX, entry.chain), 0);
	}
	alarm(0);
	free(bytes);
}

EACH_TEST(begin, end_hosts);

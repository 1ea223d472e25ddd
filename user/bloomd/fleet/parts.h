/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts that carry a fleet have in common, and what they ask of each other. */
#ifndef XB_BLOOMD_FLEETPARTS_H
#define XB_BLOOMD_FLEETPARTS_H

#include <jansson.h>

#include "bloomd/base/agent.h"
#include "bloomd/feeds/fetcher.h"
#include "bloomd/fleet/fleetconfig.h"
#include "bloomd/fleet/follow.h"
#include "bloomd/fleet/manifest.h"
#include "bloomd/fleet/request.h"
#include "bloomd/fleet/snapshot.h"
#include "bloomd/fleet/snapshotparts.h"
#include "bloomd/fleet/view.h"
#include "engine/control.h"

#define FLEET_SECOND 1000000ULL /* us */
#define FLEET_WHY    256	/* bytes of a reason */

struct fleet;

enum fleet_phase {
	FLEET_CONNECTING,
	FLEET_READING,
	FLEET_RESYNCING,
	FLEET_REWINDING,
	FLEET_BEGINNING,
	FLEET_HELD,
	FLEET_WAITING,
	FLEET_FAILED,
};

/* What the server has, seen from this host. */
struct fleet_log {
	bool any;	     /* it has an entry */
	uint64_t first, end; /* positions, or STREAM_NOWHERE */
	bool known;	     /* the last entry could be read: */
	uint64_t term;	     /* its term */
	uint8_t epoch[XB_FLEET_ID];
	bool own;		  /* there is an entry at this host's position: */
	uint8_t chain[MAC_BYTES]; /* its chain */
	bool of_other_key;	  /* this host's key does not make that chain */
};

/* An entry that is to become the last one of the log, the manifest of a snapshot, or both at once.
 */
struct fleet_append {
	bool busy;
	uint64_t end;	   /* of the log that it is for; 0: there is no log */
	uint64_t position; /* of the entry */
	bool begins; /* in the place of all that the log has; otherwise its last entry has this
			chain: */
	uint8_t chain[MAC_BYTES];
	uint64_t term;	/* that it begins */
	uint8_t *bytes; /* of the entry; NULL: none */
	size_t size;
	uint8_t *manifest; /* that is set only while the lease is this host's; NULL: none */
	size_t manifest_size;
	bool more;	/* changes wait than those of this entry */
	bool stood;	/* the log was watched before: if EXEC does nothing, it is tried again */
	bool waits;	/* for what the log ends with */
	bool overtaken; /* another host has the lease, or nobody */
	bool refused;	/* a word of the transaction was; the message is kept */
	char why[FLEET_WHY];
};

/* The log since the writer's connection watches it: EXEC does nothing if somebody has changed it
 * meanwhile. */
struct fleet_watch {
	bool set;
	unsigned int asked;  /* answers that have not come: the last one counts */
	bool refused;	     /* the server does not let it be watched, */
	char why[FLEET_WHY]; /* for this reason */
	bool known;	     /* the server has said what the log ended with then: */
	uint64_t end;	     /* the position of an entry; 0: there is no log */
	bool chained;	     /* that entry could be read, and has this chain: */
	uint8_t chain[MAC_BYTES];
	uint64_t begun;	     /* the term that a host began with it; 0: none */
	uint64_t sent, came; /* when it was asked, and when the answer came, agent_clock() */
};

/* How an append ended. */
enum fleet_appended { FLEET_APPENDED, FLEET_OVERTAKEN, FLEET_NOT_APPENDED };

/* The snapshot that waits for an operator's answer. */
struct held_snapshot {
	bool known; /* whether one waits */
	uint8_t id[XB_FLEET_ID];
	struct manifest_list lists[XB_SHARES_MAX];
	size_t list_count;
};

struct fleet_resync {
	bool wanted;	  /* an operator asked for one */
	bool accept;	  /* an operator accepts what is held */
	bool expired;	  /* something may be out too early: */
	uint64_t stepped; /* since then, agent_clock() */
	const char *cause;
	struct manifest *manifest;
	int chunks;			 /* -1: none */
	size_t next;			 /* chunk that is to come */
	uint32_t missing;		 /* tries in a row for which there was no snapshot */
	uint64_t still_end, still_since; /* the log ends there, and what the server has leads
					    nowhere, since then, agent_clock() */
	uint32_t failures;
	/* What waits for an operator. */
	struct snapshot_shrink shrinks[XB_SHARES_MAX];
	size_t shrink_count;
	struct held_snapshot held;
};

/* What the log has behind a place to which this host goes back. */
struct fleet_replay {
	int file;		  /* each entry's size, 4 bytes, and its bytes; -1: none */
	size_t size;		  /* what of the file is whole entries */
	uint64_t from, last, end; /* positions: of the place, of the last entry that is there, of
				     the last one that is wanted */
	uint8_t chain[MAC_BYTES]; /* of the entry at `last` */
	void (*then)(struct fleet *fleet); /* NULL: nothing is fetched */
};

/* Its process leaves here how it ended. */
struct bigwrite_left;

/* why: NULL: it ended well. The result goes afterwards. */
typedef void bigwrite_ended(struct fleet *fleet, const void *result, const char *why);

struct fleet_bigwrite {
	pid_t child;
	sd_event_source *worker;
	struct bigwrite_left *left;
	bigwrite_ended *ended;
};

/* That a snapshot may have on the server. */
struct fleet_chunks {
	uint8_t id[XB_FLEET_ID];
	uint64_t count;
};

#define STORED_MOST 8

struct fleet_snapshots {
	bool busy, begins;
	uint64_t wanted;	    /* since when a log is to begin, agent_clock(); 0: none is */
	bool hurries;		    /* so much has changed that one is due */
	bool asked, unreadable;	    /* the former one is being asked for; is too large */
	uint64_t due;		    /* when the next one is to be made, agent_clock() */
	uint64_t changes;	    /* since the last one that is known */
	uint8_t known[XB_FLEET_ID]; /* that one */
	uint64_t known_position;    /* of that one in the log */
	uint64_t log_first;	    /* position where the log began lately; 0: not known */
	uint32_t failures;	    /* in a row */
	char why[200];		    /* the last one failed; "": it did not */
	struct manifest *former, *manifest; /* NULL: none */
	int chunks, blooms, answer;	    /* files of the child; -1: none */
	size_t next;			    /* part to be sent */
	double clock;			    /* clock_ahead() when its process began */
	bool sent;			    /* all are: the manifest waits to be set */
	uint64_t leased;		    /* until then the lease is this host's, agent_clock() */
	uint64_t renewed;		    /* when that was asked for */
	/* what is removed from the server */
	struct fleet_chunks stored[STORED_MOST], removes;
	size_t stored_count;
	uint64_t removed;
	bool keeps; /* for a while */
	void (*then)(struct fleet *fleet), (*cleaned)(struct fleet *fleet);
	uint8_t *entry; /* that begins a log */
	size_t entry_size;
	pid_t child;
	sd_event_source *worker;
};

enum verify_state { VERIFY_NONE, VERIFY_BUSY, VERIFY_DONE, VERIFY_FAILED };

/* The child of a verification leaves here how it ended. */
struct verify_end;

struct fleet_verifying {
	enum verify_state state;
	uint32_t token; /* of the last request; 0: there was none */
	size_t limit;	/* of differences */
	char why[256];	/* it failed */
	uint64_t asked; /* when somebody wanted to know how far it is, agent_clock() */
	struct conn *conn;
	struct manifest *manifest;
	uint64_t patience; /* until when it waits for this host to read on */
	sd_event_source *look;
	struct snapshot_parts parts;
	struct snapshot_part part; /* that is being fetched */
	uint64_t done, total;	   /* bytes of parts */
	pid_t child;
	sd_event_source *worker;
	struct verify_end *end;
};

/* Snapshots of the server that become files. */
struct fleet_filing {
	bool busy, complained;
	bool behind;  /* the server's snapshot is older than the files, and that was told */
	uint64_t due; /* when the server is asked, agent_clock() */
	struct manifest *manifest;
	int chunks; /* -1: none */
	size_t next;
	pid_t child;
	sd_event_source *worker;
	char *why; /* the child leaves here what is wrong */
};

/* Files that become the state, in the place of a server. */
struct fleet_loading {
	struct fetcher *fetcher; /* that runs; NULL: none does */
	uint32_t failures;	 /* in a row */
	uint64_t time;		 /* ms since 1970: when the snapshot that is looked at was made */
	/* Of its manifest, if that need not be loaded again. */
	char etag[FETCH_HEADER_MAX], modified[FETCH_HEADER_MAX];
	bool stale; /* it was told that no newer one comes */
};

struct fleet {
	struct agent *agent;
	const struct fleet_config *config; /* NULL: the host leaves */
	struct mac_key key;
	char prefix[XB_FLEET_NAME + 8]; /* of all keys */
	struct fleet_view view;
	struct joining *joining; /* NULL: the process has ended */
	bool joined;		 /* the store says what the configuration does */

	enum fleet_phase phase;
	bool failing; /* nothing has worked since it failed: what it tries is not shown */
	char message[256], unpublished[256], outcome[64];
	double since, last_message;

	/* reading */
	struct conn *reader;
	bool connected, checking, asked; /* asked: XREAD is not answered yet */
	uint64_t ready;			 /* since when it is connected, agent_clock() */
	uint32_t failures, count;
	sd_event_source *again; /* connects, checks or applies again */
	void (*then)(struct fleet *fleet);
	struct fleet_log log;
	uint64_t logless; /* since when there is no log, agent_clock(); 0: there is */
	struct follow_queue queue;
	char bad[256];	    /* what is wrong with the next entry; "": nothing is known to be */
	uint64_t bad_since; /* agent_clock() */
	bool forged;	    /* no host of the fleet wrote it */
	bool gap;	    /* an entry came that is not the next one */
	bool key_known;	    /* the log is of this host's key */
	bool foreign;	    /* the fleet has lists that this host does not share */
	bool complained;

	/* publishing */
	struct conn *writer;
	bool writable;
	uint64_t writer_ready;
	uint32_t writer_failures;
	sd_event_source *reopen, *republish;
	bool silent; /* publishing failed, and waits */
	struct fleet_watch log_watch;
	struct fleet_append append;
	void (*appended)(struct fleet *fleet, enum fleet_appended outcome);

	struct fleet_resync resync;
	struct fleet_replay replay;
	uint64_t unreplayed; /* position from which nothing could be fetched for that */
	struct fleet_bigwrite bigwrite;
	struct fleet_snapshots snapshots;
	struct fleet_verifying verifying;

	/* snapshots as files */
	struct fleet_filing filing;
	struct fleet_loading loading;
	uint64_t files_time; /* seconds since 1970: when that was made which the files have, or came
				from files; 0: none */

	/* noticing and reporting */
	sd_event_source *watch, *look, *tick;
	uint64_t looked;     /* at the store, agent_clock() */
	uint64_t hosts_due;  /* when to ask for all reports, agent_clock() */
	json_t *hosts;	     /* as they report */
	json_t *former;	     /* this host's report as of the time before; NULL: none */
	double reports_read; /* when they were, by this host's clock; 0: never */
	double clock;	     /* clock_ahead() when it was looked at last */
	bool timed;	     /* the server has agreed with this clock since it was set last */
	double skew;
	double time_asked; /* 0: no answer is to come */
	bool skewed, reports_denied, reports_asked, reports_large;
	json_t *resyncs; /* cause -> count */
};

/* --- phases.c --- */

/* message: printf; NULL: none. */
__attribute__((format(printf, 3, 4))) void fleet_enter(struct fleet *fleet, enum fleet_phase phase,
						       const char *format, ...);
/* The server answers, but this host cannot go on: says why, once, and compares the log with the
 * store again after this time. Until fleet_works(), only this is shown. */
__attribute__((format(printf, 3, 4))) void fleet_fail(struct fleet *fleet, uint64_t delay,
						      const char *format, ...);
void fleet_works(struct fleet *fleet);
/* The phase for people. */
enum fleet_phase fleet_shown(const struct fleet *fleet);

/* --- fleet.c --- */

/* Counts what came from the server and was refused: "entry", "snapshot" or "answer". */
void fleet_refuses(struct fleet *fleet, const char *what);
/* Calls the function after this time, and no other that was to come. */
void fleet_then(struct fleet *fleet, uint64_t delay, void (*then)(struct fleet *fleet));
/* The connection is of no use: closes it, and opens another one later. */
void fleet_lost(struct fleet *fleet, const char *outcome, const char *message);
/* The server was not reached at this URL: it will be looked up again, and `why` is the message with
 * its cause, as xb_peer_cause() knows it. */
#define FLEET_WHY 256
void fleet_missed(struct fleet *fleet, const char *url, const char *message, char why[FLEET_WHY]);
/* The server answers as it should: what was wrong is over. */
void fleet_heard(struct fleet *fleet);
/* How often a connection failed in a row, with the one that is lost now. One that lasted is no
 * failure; one that is lost at once is, though it was made. */
uint32_t fleet_failures(uint32_t failures, bool was_ready, uint64_t ready);
/* An answer is not what it must be: as fleet_lost(). */
void fleet_unexpected(struct fleet *fleet, const char *request, const struct server_reply *reply);
/* What is wrong with it, for people. */
#define REPLY_SHOWN 160
const char *fleet_reply_text(const struct server_reply *reply, char text[REPLY_SHOWN]);
/* Looks at the store. */
void fleet_see(struct fleet *fleet);
/* Whether nobody in the fleet is known to have lists that this host does not publish and follow. */
bool fleet_has_all(const struct fleet *fleet);
void fleet_retry_joining(struct fleet *fleet);
/* Sends a request by the reader; on failure the connection is lost. */
void fleet_ask(struct fleet *fleet, const struct request *request, uint32_t seconds,
	       conn_answered *answered);
/* Compares what the fleet has with the store, and goes on from there. */
void fleet_check(struct fleet *fleet);
uint32_t fleet_random(void);

/* --- clock.c --- */

double clock_now(void); /* seconds since 1970 */
/* By how many seconds the wall clock is ahead of agent_clock(): another one if it was set. */
double clock_ahead(void);
/* What had expired by a clock that was ahead is no longer here, but on other hosts it is: notices
 * that it was set. Asked also when the store has changed, as what expires does, and before anything
 * is made that other hosts would take. */
void clock_look(struct fleet *fleet);
/* Asks the server what time it is, unless it was asked and has not answered yet; 0, or negative:
 * the request cannot be sent. */
int clock_ask(struct fleet *fleet);

/* --- reading.c --- */
void reading_begin(struct fleet *fleet); /* the reader is connected */
void reading_check(
	struct fleet *fleet); /* compares the log with the store, and goes on from there */
void reading_apply(struct fleet *fleet); /* what is in the queue */
bool reading_is_caught_up(const struct fleet *fleet);

/* --- publishing.c --- */
void publishing_open(struct fleet *fleet);
void publishing_close(struct fleet *fleet);
/* The connection is of no use: closes it, and opens another one later. */
void publishing_fail(struct fleet *fleet);
void publishing_try(struct fleet *fleet);
/* Appends fleet->append; calls `appended` once, never from within. If that begins nothing new, what
 * waits is published. */
void publishing_append(struct fleet *fleet, void (*appended)(struct fleet *, enum fleet_appended));

/* --- resync.c --- */
void resync_start(struct fleet *fleet, const char *cause); /* from the server's snapshot */
void resync_stop(struct fleet *fleet);
/* Parts of it for those who have the snapshot from elsewhere: */
void resync_begin(struct fleet *fleet, const char *cause); /* without a manifest yet */
bool resync_open(struct fleet *fleet);			   /* the file for the chunks */
void resync_fail(struct fleet *fleet, const char *why);

/* --- replay.c --- */
/* From behind a position, where the entry has this chain, up to another. */
struct replay_span {
	uint64_t from, end;
	const uint8_t *chain;
};
/* Fetches that part of the log, and calls `then`. What does not go on from the entry before, or has
 * no room, ends it early: it is read afterwards, as usual. */
void replay_fetch(struct fleet *fleet, const struct replay_span *span,
		  void (*then)(struct fleet *fleet));
void replay_stop(struct fleet_replay *replay);
struct replayed {
	uint64_t changes;
	bool foreign; /* as in struct follow */
};
/* In a write that has gone back to that place: applies what was fetched; nothing, if nothing was.
 * Returns 0 or an error with its message. */
int replay_apply(struct xb_writer *writer, const struct fleet *fleet, struct replayed *replayed);
/* The write was made. */
void replay_count(struct fleet *fleet, const struct replayed *replayed);

/* --- bigwrite.c --- */
/* The body of a write in a process of its own. The result is memory that both processes share, all
 * zero at first. Returns 0, BIGWRITE_GIVEN_UP, or an error with its message. */
typedef int bigwrite_body(struct xb_writer *writer, struct fleet *fleet, void *result);
#define BIGWRITE_GIVEN_UP 1 /* the write is; that is no failure */
/* Starts it, and tells its end, unless it is stopped. Returns NULL, or why it cannot. */
const char *bigwrite_start(struct fleet *fleet, bigwrite_body *body, size_t size,
			   bigwrite_ended *ended);
void bigwrite_stop(struct fleet_bigwrite *bigwrite);

/* --- resynctake.c --- */
void resynctake_start(struct fleet *fleet); /* all that it needs was fetched */
/* Whether this snapshot waits for an operator, who has not asked for anything. */
bool resynctake_is_held(const struct fleet *fleet, const struct manifest *manifest);
void resynctake_hold(struct fleet *fleet); /* as it waits */

/* --- loading.c: in the place of the reader, if snapshots come as files --- */
void loading_begin(struct fleet *fleet);
void loading_stop(struct fleet *fleet);
void loading_check(struct fleet *fleet);
/* How the resync ended. */
void loading_taken(struct fleet *fleet);
void loading_held(struct fleet *fleet);
void loading_failed(struct fleet *fleet, const char *why);

/* --- filing.c --- */
void filing_try(struct fleet *fleet); /* if the configuration asks for files, and it is time */
void filing_disconnect(struct fleet *fleet);
void filing_stop(struct fleet *fleet);

/* --- rewinding.c --- */
void rewinding_start(struct fleet *fleet);
/* The entry behind this host's position. True: it is a former one, and what the log has of these is
 * read in one write; false: it is not. */
bool rewinding_read_again(struct fleet *fleet, const struct stream_entry *next);

/* --- snapshots.c --- */
void snapshots_begin(struct fleet *fleet); /* a new log */
void snapshots_try(struct fleet *fleet);   /* if one is due */
void snapshots_stop(struct fleet *fleet);
/* This is the newest one that this host knows of. */
void snapshots_know(struct fleet_snapshots *snapshots, const struct manifest *manifest);
void snapshots_lost(struct fleet *fleet, const char *outcome); /* the connection is */
/* For those who make it: its end, and what they ask of the server. */
void snapshots_fail(struct fleet *fleet, const char *why); /* tries again after a while */
void snapshots_fail_reply(struct fleet *fleet, const struct server_reply *reply);
void snapshots_why(const struct server_reply *reply, char why[200]);
void snapshots_made(struct fleet *fleet);
void snapshots_give_back(struct fleet *fleet); /* the lease */
bool snapshots_has_lease(const struct fleet *fleet);
/* Whether the server says that this host has it: the reply is what stands there. */
bool snapshots_is_holder(const struct fleet *fleet, const struct server_reply *reply);
void snapshots_keep_lease(struct fleet *fleet);
void snapshots_tell(struct fleet *fleet, const struct request *request, conn_answered *answered);
conn_answered snapshots_ignore;
bool snapshots_is_ok(const struct server_reply *reply);

/* --- snapshotsend.c --- */
void snapshotsend_start(struct fleet *fleet); /* the lease is this host's */
/* Sets the manifest if it waits for that; nothing else is being appended. */
void snapshotsend_put(struct fleet *fleet);

/* --- snapshotclean.c --- */
/* Before the first chunk is sent: removes those of snapshots that are not used. */
void snapshotclean_before(struct fleet *fleet, void (*then)(struct fleet *fleet));
/* The snapshot is the newest now: the chunks of the former one go after a while. */
void snapshotclean_after(struct fleet *fleet, void (*then)(struct fleet *fleet));
/* The server refused a part: those that it has go, and then snapshots_fail(). */
void snapshotclean_failed(struct fleet *fleet, const char *why);

/* --- beginning.c --- */
/* The snapshot is the state at the entry that begins the log: its place, epoch and chain. */
int beginning_place(const struct fleet *fleet, struct manifest *manifest);
/* That entry, as the manifest says; it is always the same. The caller frees the bytes. */
int beginning_entry(const struct fleet *fleet, const struct manifest *manifest, uint8_t **bytes,
		    size_t *size, uint8_t chain[MAC_BYTES]);
void beginning_append(struct fleet *fleet); /* its snapshot's chunks are on the server */

/* --- verifying.c --- */

/* Answers an operator: "verify LIMIT" and "verifying TOKEN". */
void verifying_begin(struct fleet *fleet, const char *limit, char reply[XB_CONTROL_LINE]);
void verifying_tell(struct fleet *fleet, const char *token, char reply[XB_CONTROL_LINE]);
void verifying_stop(struct fleet *fleet);

/* --- reporting.c --- */
void reporting_tick(struct fleet *fleet);
void reporting_save(struct fleet *fleet); /* the state */
void reporting_show(struct fleet *fleet); /* the counters, at the start */
void reporting_end(struct fleet *fleet);

#endif

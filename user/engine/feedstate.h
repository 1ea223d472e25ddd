/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of each feed: a file NAME.json in the directory feeds/ of the state directory,
 * which bloomd replaces after each fetch, and which everybody may read who may read the store. */
#ifndef XB_ENGINE_FEEDSTATE_H
#define XB_ENGINE_FEEDSTATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XB_FEED_DIRECTORY "feeds" /* in the state directory */
#define XB_FEED_NAME_MAX  40	  /* bytes, without a terminator */
#define XB_FEED_TEXT	  256	  /* bytes of each text, terminator included */
#define XB_FEED_LINES	  1024	  /* the same, of what is told of several lines */
#define XB_FEED_LIST	  65	  /* bytes of the name of a list, terminator included */
#define XB_FEED_LEFT	  (16 * XB_FEED_LIST)

/* Times are seconds since 1970, 0: never or unknown. Texts are UTF-8, safe for a terminal. */
struct xb_feed_state {
	char name[XB_FEED_NAME_MAX + 1];
	char list[XB_FEED_LIST];    /* that it fills */
	char left[XB_FEED_LEFT];    /* that it filled before, a blank between two: not dealt with
				       yet */
	char outcome[32];	    /* of the last attempt; "": there was none */
	char guard[32];		    /* that refused it; "": none did */
	char message[XB_FEED_TEXT]; /* why it failed; "": it did not */
	int64_t status;		    /* of HTTP, of the last attempt; 0: there was none */
	int64_t last_attempt;	    /* when it ended */
	int64_t last_success;	    /* updated or unchanged */
	int64_t last_import;	    /* of which the list is, or whose times it has */
	int64_t content_time;	    /* of what is in force: as the server says, or since when */
	int64_t next_fetch;	    /* planned */
	int64_t period;		    /* seconds between fetches, as configured */
	int64_t failures;	    /* in a row */
	int64_t entries;	    /* put into the list by the last import */
	int64_t flush;		    /* 1: the list is emptied when the feed is removed */
	int64_t replaces;	    /* 1: the list has entries of a feed that is gone; they go when
				       it is filled anew */
	int64_t lasts;		    /* seconds until the first of them ends; 0: none does */
	int64_t left_out;	    /* lines of it that were not taken */
	int64_t bogons;		    /* entries of it that are bogons, and were not taken */
	char first_left_out[XB_FEED_LINES]; /* "NUMBER: TEXT, NUMBER: TEXT" of the first of these */
	char notes[XB_FEED_LINES];   /* what else its reader had to tell, in this form, too */
	char format[32];	     /* that the last import was read as */
	char etag[XB_FEED_TEXT];     /* of what is in force, or of a file: what identifies it */
	char modified[XB_FEED_TEXT]; /* Last-Modified of the same */
	char digest[32];	     /* of the content */
	char terms[32];		     /* of the configuration with which it was imported */
	char stamp[33];		     /* of the list as it was left, see engine/stamp.h */
};

/* From now on it fills this list; another one that it filled is left. False: that has no room, and
 * is forgotten. */
bool xb_feed_fills(struct xb_feed_state *feed, const char *list);

/* Steps through feed->left or the like: *at begins at its beginning. False: there is no more. */
bool xb_feed_left_next(const char **at, char list[XB_FEED_LIST]);

/* Puts the list there once, or takes it out. False: it has no room. */
bool xb_feed_left_add(char left[XB_FEED_LEFT], const char *list);
void xb_feed_left_take(char left[XB_FEED_LEFT], const char *list);

/* Letters, digits, '.', '_' and '-', a letter or digit first: it becomes a file name. */
bool xb_feed_name_ok(const char *name);

/* Reads the state of one feed; state: the state directory. -ENOENT without a message: there is none
 * yet; then, and after an error, only the name is set. */
int xb_feed_state_read(const char *state, const char *name, struct xb_feed_state *feed);

/* Replaces it, durably. */
int xb_feed_state_write(const char *state, const struct xb_feed_state *feed);

/* Removes it; that it is not there is no error. */
int xb_feed_state_remove(const char *state, const char *name);

/* All of them, sorted by name; the caller frees *feeds. A file that cannot be read becomes a feed
 * with the outcome "unreadable" and a message. */
int xb_feed_states_read(const char *state, struct xb_feed_state **feeds, size_t *count);

/* Whether the last attempt brought or confirmed a list. */
bool xb_feed_is_well(const struct xb_feed_state *feed);

#define XB_FEED_UPDATED	  "updated"   /* a new list is in force */
#define XB_FEED_UNCHANGED "unchanged" /* the one in force is the newest */
#define XB_FEED_REFUSED	  "refused"   /* by the guard */
#define XB_FEED_FAILED	  "failed"    /* on this machine */

/* The object for `bloomctl -j feeds`: times as text, what is unknown left out. */
json_t *xb_feed_state_json(const struct xb_feed_state *feed);

#endif

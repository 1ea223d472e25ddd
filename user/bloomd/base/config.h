/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of bloomd: its values, and how each section says what its keys set. */
#ifndef XB_BLOOMD_CONFIG_H
#define XB_BLOOMD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"
#include "model/scope.h"

/* [api]: the sockets for programs. */
struct api_config {
	bool off;
	char *group, *query_group; /* NULL: that of the run directory; that of api.sock */
	unsigned int query_mode;   /* 0: as api.sock */
	uint64_t clients;	   /* at most; 0: the default */
	bool allow;		   /* clients may change the allowlist */
};

/* [postfix]: the sockets for Postfix. */
struct postfix_config {
	char *socketmap, *policy; /* absolute paths; NULL: there is none */
	char *group;		  /* NULL: that of the directory */
	unsigned int mode;	  /* 0: the default */
	/* What Postfix does with a client that is listed, is on lists that count alone, or of which
	 * nothing can be said; NULL: the default. */
	char *listed, *counted, *unavailable;
	/* Names of lists for the domains of senders, each with its NUL, and an empty one at the
	 * end; NULL: the policy judges no sender. */
	char *senders;
};

/* What a section says of the list that it fills. */
struct config_terms {
	bool judges, scopes; /* it says a verdict; a scope */
	uint32_t verdict;
	struct xb_scope scope;
};

struct feed_config;
struct crowdsec_config;
struct fleet_config;
struct owner;

/* Name of the bouncer among the feeds, and of its list, unless the configuration names it. */
#define CONFIG_CROWDSEC "crowdsec"

/* All of it; unset values are zero or NULL. */
struct config {
	struct api_config api;
	struct postfix_config postfix;
	char *http_listen;	   /* ADDRESS:PORT or unix:PATH; NULL: no server */
	uint32_t known_save;	   /* seconds between two saves of known sources; 0: the default */
	struct feed_config *feeds; /* the first of them */
	struct crowdsec_config *crowdsec; /* NULL: there is no such section */
	struct fleet_config *fleet;	  /* NULL: there is no such section */
	struct owner *owners;		  /* of lists, see bloomd/base/owners.h */
	char at[XB_PATH_MAX + 16];	  /* "FILE:LINE" of the key that is being read */
};

struct config_key;

/* Sets the field of a key in the structure of its section from the text of the value. Returns 0, or
 * an error with its message (the caller puts file and line in front). */
typedef int config_set(const struct config_key *key, void *section, const char *value);

/* The last of a section has no name. */
struct config_key {
	const char *name;
	config_set *set;
	size_t field;  /* where it begins in the structure */
	uint64_t most; /* the largest value, or the size of a path with its end, if `set` has one */
};

/* Of a field of a structure, and perhaps the most. */
#define CONFIG_KEY(key, setter, type, member, ...)                                                 \
	{                                                                                          \
		.name = (key), .set = (setter), .field = offsetof(struct type, member),            \
		__VA_ARGS__                                                                        \
	}

/* For fields of char *, which the section owns: any text; the name of a list, which is not the
 * allowlist's own; a group that is there; the whole path of a file that is there, and of one that
 * not everybody can read; or nobody but its owner, root. */
config_set config_text, config_list, config_group, config_file, config_secret, config_private;

/* For the octal mode of a socket, such as 0660 (unsigned int); "90s", "1h" and the like, from 1 to
 * the most (uint32_t, seconds); a whole number from 1 to the most, and 1 to 1 GiB, "64m" and the
 * like (uint64_t); a number of 1 or more, and more than "0%" to "100%", which is 1 (double). */
config_set config_mode, config_seconds, config_number, config_bytes, config_factor, config_share;

/* For yes or no; no or yes, where the field says what is off; flush or keep (bool). */
config_set config_yes, config_no, config_flush;

/* For the verdict and the scope of a list (struct config_terms). */
config_set config_verdict, config_scope;

/* Whether it is the name of a list, which is not the allowlist's own; the whole path of a file that
 * is there, and that not everybody can read, of less than `most` bytes. 0, or an error with its
 * message. */
int config_check_list(const char *name);
int config_check_secret(const char *path, size_t most);

extern const struct config_key api_keys[], postfix_keys[];

struct config_section {
	const char *name;
	const struct config_key *keys;
	bool has_word; /* it is "NAME WORD" */
	/* The structure that the keys set, before each of them; the word, or "". NULL with a
	 * message. */
	void *(*open)(struct config *config, const char *word);
};

#endif

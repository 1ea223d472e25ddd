/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of bloomd: its values, and how each section says what its keys set. */
#ifndef XB_BLOOMD_CONFIG_H
#define XB_BLOOMD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"

/* [api]: the sockets for programs. */
struct api_config {
	bool off;
	char *group, *query_group; /* NULL: that of the run directory; that of api.sock */
	unsigned int query_mode;   /* 0: as api.sock */
	unsigned int clients;	   /* at most; 0: the default */
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

struct feed_config;
struct crowdsec_config;
struct fleet_config;

/* Name of the bouncer among the feeds, and of its list, unless the configuration names it. */
#define CONFIG_CROWDSEC "crowdsec"

/* All of it; unset values are zero or NULL. */
struct config {
	struct api_config api;
	struct postfix_config postfix;
	char *http_listen;	   /* ADDRESS:PORT or unix:PATH; NULL: no server */
	uint32_t known_save;	   /* seconds between two saves of known sources; 0: the default */
	struct feed_config *feeds; /* the first of them */
	struct feed_config *feed;  /* whose section is being read */
	struct crowdsec_config *crowdsec; /* NULL: there is no such section */
	struct fleet_config *fleet;	  /* NULL: there is no such section */
	char at[XB_PATH_MAX + 16];	  /* "FILE:LINE" of the key that is being read */
};

/* Sets the key of a section from its text. Returns 0, or an error with its message (the caller puts
 * file and line in front). */
typedef int config_set(struct config *config, const char *value);

struct config_key {
	const char *name;
	config_set *set;
};

/* Makes *text a copy of the value, in the place of an earlier one. Returns 0 or an error with its
 * message. */
int config_set_text(char **text, const char *value);

/* The same for the name of a list, which is not the allowlist's own; and for the whole path of a
 * file that is there, of less than `most` bytes. */
int config_set_list(char **text, const char *value);
int config_set_file(char **text, const char *value, size_t most);

/* Sets *chosen: whether the value is `yes`; `no` is the other one that the key takes. Errors as
 * above. */
int config_set_choice(const char *key, const char *value, const char *no, const char *yes,
		      bool *chosen);

/* Sets *mode from the octal mode of a socket, such as 0660. Errors as above. */
int config_set_mode(const char *value, unsigned int *mode);

/* Sets *seconds from "90s", "1h" and the like: from 1 to the most. Errors as above. */
int config_set_seconds(const char *value, uint32_t most, uint32_t *seconds);

/* Sets *number from a whole number from 1 to the most; *bytes from 1 to 1 GiB, "64m" and the like.
 * Errors as above. */
int config_set_number(const char *value, uint64_t most, uint64_t *number);
int config_set_bytes(const char *value, uint64_t *bytes);

/* Sets *factor from a number of 1 or more; *share from more than "0%" to "100%", which is 1. Errors
 * as above. */
int config_set_factor(const char *value, double *factor);
int config_set_share(const char *value, double *share);

extern const struct config_key api_keys[], postfix_keys[];

struct config_section {
	const char *name;
	const struct config_key *keys; /* the last has no name */
	/* Of sections "NAME WORD": called with the word before each key. NULL: there is no word. */
	config_set *begin;
};

#endif

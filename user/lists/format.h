/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A format that list files come in: what one line says in it. Each family of formats has a file:
 * addresses, ranges, columns, json, crowdsec, mmdb, placerows, domains, adblock, rules, dnsmasq,
 * unbound, rpz, rbldnsd, iptables, nft, webservers, sets, firewalld, mikrotik. */
#ifndef XB_LISTS_FORMAT_H
#define XB_LISTS_FORMAT_H

#include <stdbool.h>

#include "base/text.h"
#include "lists/items.h"
#include "model/listchoice.h"

#define XB_LIST_LINE_BYTES 4096 /* at most, without the line end */
#define XB_LIST_LINE_PART  8192 /* bytes kept of a longer line: still too long */
#define XB_LIST_SLACK	   4	/* bytes that can be read behind a line */

struct xb_list_set;
struct xb_list_sets;
struct xb_list_zone;
struct xb_list_data;
struct xb_list_iptables;
struct xb_list_web;
struct xb_list_mikrotik;
struct xb_list_columns;
struct xb_list_rows;
struct xb_list_format;

/* The state of reading a file. All zero but for `file` is the beginning. */
struct xb_reading {
	struct xb_listfile *file;
	const struct xb_list_choice *choice; /* NULL: none was made */
	const struct xb_list_format *format; /* NULL: the first line with an entry decides */
	bool recognized;		     /* the first line did decide */
	bool begun;			     /* a line came that is neither blank nor a comment */
	bool indented;			     /* the line had blanks in front */
	uint64_t open_comment; /* the last line that is one and ends with a backslash; 0: none */
	bool hopeless;	       /* an error is about the file, or nothing may be left out for it */
	char *text;	       /* of a format that is a document */
	size_t text_bytes, text_room;
	uint64_t text_line;	   /* in which it begins, from 1 */
	struct xb_list_sets *sets; /* of formats with named sets: those that were seen */
	struct xb_list_set *set;   /* of ipset */
	struct xb_list_zone *zone; /* of rpz */
	const char *zone_name;	   /* as told; NULL: the file says it */
	struct xb_list_data *data; /* of unbound */
	struct xb_list_iptables *iptables;
	struct xb_list_mikrotik *mikrotik;
	struct xb_list_web *web;    /* of deny */
	unsigned int conditions;    /* of adblock: `!#if` whose `!#endif` has not come */
	uint64_t most;		    /* addresses that an entry may have, of ip4set; 0: any */
	uint32_t left;		    /* seconds that a file of rbldnsd holds; 0: always */
	bool in_block;		    /* of geo */
	bool geo_begun, geo_ranges; /* a line was read; it was a range */
	char value[XB_SHOWN + 1];   /* of all that are not 0 */
	uint64_t opened; /* of ruleset: the first line by which any name may pass; 0: none */
	struct xb_list_columns *columns;
	struct xb_list_rows *rows; /* of delegated and places */
};

/* The line was not understood: it is counted, and nothing of it is kept. */
#define XB_LINE_UNKNOWN 1

/* Lines come without blanks around them, none empty or a comment; a parser may cut them up. */
struct xb_list_format {
	const char *name;
	bool (*detect)(const char *line); /* NULL: only when asked for by name */
	/* 0, or an error. With `loose`, an input error is counted and kept with the line, as
	 * XB_LINE_UNKNOWN is; otherwise it ends the import. */
	int (*parse)(struct xb_reading *reading, char *line);
	const char *comments; /* characters with which a comment line begins */
	bool loose;
	bool strict;	  /* a line counts for others: none can be left out */
	bool excepts;	  /* `!DOMAIN` is no comment, if the format was named */
	bool slashes;	  /* a comment may begin with two slashes, too */
	bool bare;	  /* what was kept is not looked at again: addresses may be held bare */
	const char *sets; /* what its named sets are called, of which one is read; NULL: none */
	char separator;	  /* of columns, whose lines come with the blanks and comments they have; 0:
			     none */
	/* Tried on the untouched line. 1: taken; 0: the line is something else. May be NULL. */
	int (*quick)(struct xb_reading *reading, const char *line, size_t size);
	/*
	 * Called once after the last line, for what a line says only together with others; the
	 * items are in store order, repeats among them. None may stay doubtful: xb_line_settle.
	 * May be NULL.
	 */
	int (*finish)(struct xb_reading *reading);
	/*
	 * Formats for which the beginning of such a file may pass ("plain domains"), although they
	 * mean something else by the same lines; and whether a line is surely of this format, not
	 * of those. It ends the reading of a file that was recognized as one of those. May be NULL.
	 */
	const char *passes_for;
	bool (*marks)(const char *line);
	/*
	 * For a format in which lines mean nothing: instead of parse(), once, with the whole text,
	 * which ends with a NUL. Sets file->lines to the line it is at, from reading->text_line
	 * on. NULL: it has lines.
	 */
	int (*document)(struct xb_reading *reading, char *text, size_t size);
	/* Of a document that is no text, and comes byte by byte as it is: whether a file begins so.
	 * It sets file->lines to what stands for them. NULL: it is text. */
	bool (*begins)(const char *bytes, size_t size);
};

extern const struct xb_list_format xb_plain_format, xb_netset_format, xb_spamhaus_format,
	xb_spamhaus_json_format, xb_ipsum_format, xb_ipset_format;
extern const struct xb_list_format xb_domains_format, xb_hosts_format, xb_adblock_format;
extern const struct xb_list_format xb_dnsmasq_format, xb_unbound_format, xb_smartdns_format;
extern const struct xb_list_format xb_ip4set_format, xb_ip4trie_format, xb_ip6trie_format,
	xb_dnset_format;
extern const struct xb_list_format xb_mikrotik_format, xb_pf_format, xb_csf_format,
	xb_firewalld_format;
extern const struct xb_list_format xb_iptables_format, xb_nft_format, xb_deny_format, xb_geo_format;
extern const struct xb_list_format xb_ruleset_format, xb_regex_format, xb_urls_format;
extern const struct xb_list_format xb_rpz_format;
extern const struct xb_list_format xb_p2p_format, xb_ipfilter_format;
extern const struct xb_list_format xb_words_format;
extern const struct xb_list_format xb_csv_format, xb_semicolons_format, xb_tsv_format,
	xb_pipes_format, xb_table_format;
extern const struct xb_list_format xb_json_format, xb_extract_format, xb_crowdsec_format;
extern const struct xb_list_format xb_mmdb_format, xb_delegated_format, xb_places_format;

/* Of a line or value that is wrong: 0 if it may be left out, which is noted, with all that it said,
 * which is the items from `before` on. Otherwise returns the error. */
int xb_line_leave_out(struct xb_reading *reading, size_t before, int error);

/*
 * A line is about the set of that name. *counts: whether that is the set to read, the chosen one or
 * the only one. An input error, for which nothing can be left out: another one came before, and
 * none was chosen.
 */
int xb_sets_take(struct xb_reading *reading, const char *name, bool *counts);

/* After the last line: an input error if the chosen set is not there, or the format has none. */
int xb_sets_check(const struct xb_reading *reading);

/* Whether a set of this type has addresses and nothing else, by the words of ipset; otherwise an
 * input error. */
int xb_set_check_type(const char *type);

/* When columns were chosen: sets reading->format by the line, unless it is blank or a comment. An
 * input error if several formats are possible, or for a choice that is none. */
int xb_listcolumns_detect(struct xb_reading *reading, const char *line);

/* Free what their formats have put into it. */
void xb_listsets_end(struct xb_reading *reading);
void xb_listunbound_end(struct xb_reading *reading);
void xb_listzone_end(struct xb_reading *reading);
void xb_listiptables_end(struct xb_reading *reading);
void xb_listweb_end(struct xb_reading *reading);
void xb_listmikrotik_end(struct xb_reading *reading);
void xb_listcolumns_end(struct xb_reading *reading);
void xb_listplaces_end(struct xb_reading *reading);

#endif

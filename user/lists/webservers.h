/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a configuration of nginx or Apache says of sources, in its sections, as their readers keep
 * it; webservers.c makes rules of it. */
#ifndef XB_LISTS_WEBSERVERS_H
#define XB_LISTS_WEBSERVERS_H

#include "lists/firewall.h"
#include "lists/format.h"

#define XB_WEB_NONE  UINT32_MAX
#define XB_WEB_DEPTH 64 /* of sections in each other */

#define XB_WEB_STATEMENT 65536 /* bytes */

/* What a line says of one source. */
struct xb_web_access {
	bool allows;
	uint32_t set;	       /* XB_WEB_NONE: everybody */
	const char *condition; /* NULL: none */
	uint64_t line;
	const char *text;
	uint32_t next; /* of the section */
};

/* A `Require` of Apache, or a group of them. */
struct xb_web_node {
	enum { ADDRESSES, GRANTED, DENIED, SOMETHING, ALL, ANY, NEITHER } kind;
	bool negated;
	uint32_t parent, first, last, next; /* nodes */
	uint32_t set;
	struct xb_sources sources; /* in no order */
	uint64_t line;
	const char *text;
};

struct xb_web_section {
	uint32_t parent;       /* section */
	uint32_t self;	       /* the section to which its lines belong: itself, or one around it */
	const char *condition; /* which requests it is for; NULL: all that come to the file */
	bool adds;	       /* its rules hold together with those around it */
	bool skipped;	       /* nothing of it holds */
	bool has_order, deny_last;
	uint32_t first, last; /* of access */
	uint32_t root;	      /* the node that holds what is required; XB_WEB_NONE: nothing */
	uint32_t group;	      /* the one that is open */
	struct xb_web_access passes; /* .condition: something by which everybody may pass */
	uint32_t chains[2];	     /* of access, of what is required */
	unsigned int depth;
	uint64_t line;
	const char *text;
};

/* What characters mean to nginx depends on what is before them. */
struct xb_web_place {
	char quote;  /* that is open */
	bool inside; /* a word */
};

struct xb_list_web {
	struct xb_firewall *firewall;
	enum { NO_SERVER, NGINX, APACHE } server;
	struct xb_web_section *sections;
	struct xb_web_access *access;
	struct xb_web_node *nodes;
	size_t section_count, section_room, access_count, access_room, node_count, node_room;
	uint32_t current;		  /* section */
	char statement[XB_WEB_STATEMENT]; /* as far as it came */
	size_t used;
	uint64_t line;		   /* the last of the statement, of Apache */
	struct xb_web_place place; /* in the statement, of nginx */
};

/* --- what readers say, of the line that reading->file->lines is at --- */

/* The section to which a line belongs. */
struct xb_web_section *xb_web_current(struct xb_list_web *web);

/* The text as messages show it, as long as the file is there; NULL with a message. */
const char *xb_web_show(struct xb_reading *reading, const char *text);

/* condition: a literal; NULL: its lines are those of what is around it. */
int xb_web_open_section(struct xb_reading *reading, const char *condition, const char *text);
int xb_web_close_section(struct xb_reading *reading);

/* Something by which everybody may pass, whatever else the section says. */
int xb_web_let_pass(struct xb_reading *reading, const char *condition, const char *text);

/* Of a file that may take only so much memory, when an array is full. */
int xb_web_may_grow(const struct xb_reading *reading, bool full);

int xb_web_add_access(struct xb_reading *reading, const struct xb_web_access *access);

/* One source that is let in or kept out. */
int xb_web_add_address(struct xb_reading *reading, struct xb_web_access *access,
		       const struct xb_span *span, const char *comment);

int xb_web_add_source(struct xb_reading *reading, uint32_t set, const struct xb_span *span,
		      const char *comment);

/* --- readers --- */

/* The lines of nginx end with a mark, or go on; those of Apache are a directive each. */
bool xb_web_is_nginx(char *line);

/* Takes what the line says, which may be cut up. */
int xb_web_take_nginx(struct xb_reading *reading, char *line);
int xb_web_take_apache(struct xb_reading *reading, char *line);

/* For Apache, the comment in front of all is what the next line goes on with. */
void xb_web_begin_comment(struct xb_reading *reading);

/* Takes a directive of Apache that was to go on in a line which did not come. */
int xb_web_end_apache(struct xb_reading *reading);

#endif

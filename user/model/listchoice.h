/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a list file is to be read, as somebody asks for it. */
#ifndef XB_MODEL_LISTCHOICE_H
#define XB_MODEL_LISTCHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* A text that is NULL was not given. */
struct xb_list_choice {
	const char *column;  /* which has the addresses: user/lists/columns.h */
	const char *where;   /* which lines count, by other columns */
	const char *json;    /* where in a document the addresses are: user/lists/jsonpath.h */
	const char *set;     /* of a file with several, which: user/lists/sets.c */
	const char *comment; /* of entries that have none in the file */
	/* Which networks of a file that says where they are: user/lists/places.h */
	const char *country, *not_country, *continent, *asn;
	const char *mmdb; /* and what else a database says of them: user/lists/mmdbpath.h */
	bool bounded;	  /* at most so many wrong lines are left out */
	uint64_t most_wrong;
	bool below; /* names of a hosts file stand for all names below them, too */
};

#endif

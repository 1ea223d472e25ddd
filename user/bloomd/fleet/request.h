/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the fleet's server, and what is common to its answers. */
#ifndef XB_BLOOMD_FLEETREQUEST_H
#define XB_BLOOMD_FLEETREQUEST_H

#include "bloomd/fleet/conn.h"

#define REQUEST_WORDS 12
#define REQUEST_TEXT  96 /* bytes of a word that is made here */

/* All zero: no word yet. */
struct request {
	struct conn_word word[REQUEST_WORDS];
	char text[REQUEST_WORDS][REQUEST_TEXT];
	size_t count;
};

/* Appends words. Those of request_bytes() stay the caller's, until the request was sent. */
__attribute__((format(printf, 2, 3))) void request_word(struct request *request, const char *format,
							...);
void request_bytes(struct request *request, const void *bytes, size_t size);

/* A request of words with blanks between them. */
__attribute__((format(printf, 2, 3))) void request_words(struct request *request,
							 const char *format, ...);

/* Sends it; as conn_ask(). */
int request_send(const struct request *request, struct conn *conn, uint32_t seconds,
		 conn_answered *answered, void *context);

#define STREAM_NOWHERE UINT64_MAX /* behind all positions */

/* An entry of a stream. Whoever can write to the server can add one with any id and fields, so
 * these say nothing until the chain of the entry is checked. */
struct stream_entry {
	uint64_t position; /* STREAM_NOWHERE: hosts give no such id */
	uint64_t before;   /* the last position that an entry in front of it can have; 0: none */
	const void *bytes; /* of the field `e`, the reply's; NULL: it has other fields */
	size_t size;
};

/* Reads an entry of an answer; false: it is not an entry of a stream. */
bool stream_entry_read(const struct server_reply *node, struct stream_entry *entry);

/* Whether it is an array of entries, perhaps of none. */
bool stream_is_entries(const struct server_reply *reply);

#define ID_TEXT 33
const char *id_format(const uint8_t id[16], char text[ID_TEXT]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and members as commands name them: a key is a list, a member an entry of it. */
#ifndef XB_BLOOMD_LOOKUP_H
#define XB_BLOOMD_LOOKUP_H

#include "bloomd/api/command.h"
#include "store/membership.h"

/* A list by its key: NAME for what is listed; "allow", or "allow:NAME", for the allowlist. */
struct lookup_list {
	const char *name; /* lasts as long as the request */
	bool allow;
	uint32_t id; /* XB_NO_LIST: there is no such list */
	uint64_t members;
};

/* Reads the key, and finds the list if there is a store. */
void lookup_list(const struct call *call, uint32_t word, struct lookup_list *list);

/* An input error with its message: the word is no entry. form: room for a name. */
int lookup_entry(const struct call *call, uint32_t word, const struct lookup_list *list,
		 uint8_t form[XB_NAME_BYTES], struct xb_entry *entry);

/* 1 with the membership: the list has this very entry. 0: it has not. Negative: an error. */
int lookup_member(const struct call *call, const struct lookup_list *list,
		  const struct xb_entry *entry, struct xb_membership *member);

/* 1 with the membership: the list has this entry, or a wider one that covers it; of several the
 * narrowest. Otherwise as above. */
int lookup_covering(const struct call *call, const struct lookup_list *list,
		    const struct xb_entry *entry, struct xb_membership *member);

/* 1: the list has this entry or a wider one that covers it. */
int lookup_covered(const struct call *call, const struct lookup_list *list,
		   const struct xb_entry *entry);

/* The recorded error as the answer, instead of what there is of it. */
void lookup_failed(const struct call *call);

/* For plan(): prepares the edit of the request's key, and takes the words from `first` on, each
 * `step`-th, as entries that stay for ever. */
int lookup_edit(struct call *call, bool add);
int lookup_take(struct call *call, uint32_t word, uint32_t expires);
int lookup_take_rest(struct call *call, uint32_t first);

/* Applies to each word from `first` on: 1 if it is found, 0 if not, an error otherwise. */
typedef int lookup_test(const struct call *call, const struct lookup_list *list,
			const struct xb_entry *entry);
void lookup_answer(struct call *call, uint32_t word, lookup_test *test);
void lookup_answer_rest(struct call *call, uint32_t first, lookup_test *test);
lookup_test lookup_is_member;

/* Answers how many members the list of the request's key has. */
void lookup_answer_count(struct call *call);

#endif

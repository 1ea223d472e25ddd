/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/lookup.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "store/covers.h"

#define ALLOWED XB_LIST_ALLOW ":"

static void read_key(const struct call *call, uint32_t word, struct lookup_list *list)
{
	const char *key = call_text(call, word);

	*list = (struct lookup_list){.name = key, .id = XB_NO_LIST};
	if (!strcmp(key, XB_LIST_ALLOW))
		list->allow = true;
	if (strncmp(key, ALLOWED, strlen(ALLOWED)))
		return;
	list->allow = true;
	list->name += strlen(ALLOWED);
}

void lookup_list(const struct call *call, uint32_t word, struct lookup_list *list)
{
	const struct xb_list *found;

	read_key(call, word, list);
	if (!call->txn || strlen(call_text(call, word)) != call_size(call, word))
		return;
	found = xb_list_by_name(call->txn, list->name);
	if (!found)
		return;
	list->id = found->id;
	list->members = found->members;
}

int lookup_entry(const struct call *call, uint32_t word, const struct lookup_list *list,
		 uint8_t form[XB_NAME_BYTES], struct xb_entry *entry)
{
	int error = (list->allow ? xb_entry_parse : xb_entry_parse_listed)(
		call_text(call, word), call_size(call, word), form, entry, NULL);

	if (!error && list->allow)
		*entry = xb_entry_allow(entry);
	return error;
}

int lookup_member(const struct call *call, const struct lookup_list *list,
		  const struct xb_entry *entry, struct xb_membership *member)
{
	struct xb_members members;
	int error;

	if (list->id == XB_NO_LIST)
		return 0;
	error = xb_members_of(call->txn, entry, &members);
	if (error)
		return error == -ENOENT ? 0 : error;
	return xb_members_have(members, list->id, member);
}

int lookup_covering(const struct call *call, const struct lookup_list *list,
		    const struct xb_entry *entry, struct xb_membership *member)
{
	struct xb_members members;
	struct xb_covers covers;
	int more;

	if (list->id == XB_NO_LIST)
		return 0;
	xb_covers_begin(entry, &covers);
	while ((more = xb_covers_next(call->txn, &covers, &members)) > 0)
		if (xb_members_have(members, list->id, member))
			return 1;
	return more;
}

int lookup_covered(const struct call *call, const struct lookup_list *list,
		   const struct xb_entry *entry)
{
	struct xb_membership member;

	return lookup_covering(call, list, entry, &member);
}

void lookup_failed(const struct call *call)
{
	call->reply->size = call->begin;
	reply_error(call->reply, "ERR %s", xb_error_message());
}

static int check_key(const struct call *call, const struct lookup_list *list)
{
	if (strlen(call_text(call, 1)) != call_size(call, 1) || !xb_list_name_ok(list->name))
		return xb_input_error("invalid key '%s': the name of a list, up to 64 letters, "
				      "digits, '.', '_' and '-', a letter or digit first",
				      XB_SHOW(call_text(call, 1)));
	if (list->allow && !call->may_allow)
		return xb_input_error("the allowlist is not changed by this socket, unless the "
				      "configuration says so ([api] allow = yes)");
	return 0;
}

int lookup_edit(struct call *call, bool add)
{
	struct lookup_list list;

	read_key(call, 1, &list);
	call->edit->add = add;
	call->edit->list = list.name;
	call->edit->allow = list.allow;
	return check_key(call, &list);
}

int lookup_take(struct call *call, uint32_t word, uint32_t expires)
{
	return edits_take(call->edits, call->edit, call->number, call_text(call, word),
			  call_size(call, word), expires);
}

int lookup_take_rest(struct call *call, uint32_t first)
{
	int error = 0;

	for (uint32_t i = first; !error && i < call->request.words; i++)
		error = lookup_take(call, i, 0);
	return error;
}

int lookup_is_member(const struct call *call, const struct lookup_list *list,
		     const struct xb_entry *entry)
{
	struct xb_membership member;

	return lookup_member(call, list, entry, &member);
}

static int test_word(const struct call *call, const struct lookup_list *list, uint32_t word,
		     lookup_test *test)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	int error = lookup_entry(call, word, list, form, &entry);

	return error ? error : test(call, list, &entry);
}

void lookup_answer(struct call *call, uint32_t word, lookup_test *test)
{
	struct lookup_list list;
	int found;

	lookup_list(call, 1, &list);
	found = test_word(call, &list, word, test);
	if (found < 0)
		lookup_failed(call);
	else
		reply_integer(call->reply, found);
}

void lookup_answer_rest(struct call *call, uint32_t first, lookup_test *test)
{
	struct lookup_list list;
	uint32_t word;

	lookup_list(call, 1, &list);
	while (call_next_element(call, first, &word)) {
		int found = test_word(call, &list, word, test);

		if (found < 0) {
			lookup_failed(call);
			return;
		}
		reply_integer(call->reply, found);
	}
}

void lookup_answer_count(struct call *call)
{
	struct lookup_list list;

	lookup_list(call, 1, &list);
	reply_integer(call->reply, (int64_t)list.members);
}

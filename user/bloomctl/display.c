/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries as JSON and as text. */
#include "bloomctl/display.h"

#include <stdio.h>

#include "base/ifname.h"
#include "base/text.h"
#include "bloomctl/advice.h"
#include "engine/settingsjson.h"
#include "model/verdict.h"
#include "store/origins.h"

const char *display_interface(uint32_t ifindex, char name[IF_NAMESIZE])
{
	if (xb_ifname(ifindex, name) || !name[0])
		snprintf(name, IF_NAMESIZE, "if%u", ifindex);
	xb_utf8_clean(name);
	return name;
}

const char *display_row(uint32_t ifindex, char name[IF_NAMESIZE])
{
	return ifindex ? display_interface(ifindex, name) : "other";
}

static bool is_listed_source(const struct xb_entry *entry)
{
	return !xb_entry_is_name(entry) && !xb_entry_is_allow(entry);
}

/* Of an address the list drops the packets, unless it only counts them. */
static bool shows_verdict(const struct xb_entry *entry, const struct xb_list *list)
{
	return entry->kind == XB_NAME ||
	       (is_listed_source(entry) && list->verdict == XB_DOMAIN_COUNT);
}

static bool shows_scope(const struct xb_entry *entry, const struct xb_list *list)
{
	return is_listed_source(entry) && list->scope;
}

static json_t *membership_json(const struct xb_entry *entry, const struct xb_list *list,
			       const struct xb_membership *member)
{
	json_t *object = json_pack("{s:s}", "name", list->name);
	char when[32], scope[XB_SCOPE_TEXT];

	if (shows_verdict(entry, list))
		json_object_set_new(object, "verdict",
				    json_string(xb_domain_verdict_name(list->verdict)));
	if (shows_scope(entry, list))
		json_object_set_new(object, "scope",
				    json_string(xb_scope_format(list->scope, scope)));
	json_object_set_new(object, "added", json_string(xb_time_format(member->added, when)));
	if (member->expires)
		json_object_set_new(object, "expires",
				    json_string(xb_time_format(member->expires, when)));
	if (member->comment_size)
		json_object_set_new(object, "comment",
				    json_stringn(member->comment, member->comment_size));
	return object;
}

json_t *display_entry_json(struct xb_txn *txn, const struct xb_entry *entry,
			   struct xb_members members, uint32_t only)
{
	char text[XB_ENTRY_TEXT];
	struct xb_membership member;
	json_t *lists = json_array();

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (list && (only == XB_ANY_LIST || only == list->id))
			json_array_append_new(lists, membership_json(entry, list, &member));
	}
	return json_pack("{s:s,s:o}", "entry", xb_entry_format(entry, text), "lists", lists);
}

void display_entry(struct xb_txn *txn, const char *before, const struct xb_entry *entry,
		   struct xb_members members, uint32_t only)
{
	char text[XB_ENTRY_TEXT], when[32], scope[XB_SCOPE_TEXT];
	struct xb_membership member;

	xb_entry_format(entry, text);
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		if (!list || (only != XB_ANY_LIST && only != list->id))
			continue;
		printf("%s%s list %s", before, text, list->name);
		if (shows_verdict(entry, list))
			printf(" verdict %s", xb_domain_verdict_name(list->verdict));
		if (shows_scope(entry, list))
			printf(" scope %s", xb_scope_format(list->scope, scope));
		printf(" added %s", xb_time_format(member.added, when));
		if (member.expires)
			printf(" expires %s", xb_time_format(member.expires, when));
		if (member.comment_size)
			printf(" comment \"%.*s\"", (int)member.comment_size, member.comment);
		putchar('\n');
	}
}

static json_t *list_json(const struct xb_list *list)
{
	bool has = xb_list_has_verdict(list);
	char text[XB_SCOPE_TEXT];

	return json_pack("{s:s,s:I,s:I,s:s*,s:s*,s:o*}", "name", list->name, "entries",
			 (json_int_t)list->members, "exceptions", (json_int_t)list->exceptions,
			 "verdict", has ? xb_domain_verdict_name(list->verdict) : NULL, "scope",
			 list->scope ? xb_scope_format(list->scope, text) : NULL, "origins",
			 xb_origins_json(xb_list_origins(list)));
}

json_t *display_lists_json(const struct xb_storeview *store)
{
	json_t *lists = json_array();

	for (size_t i = 0; i < store->list_count; i++) {
		const struct xb_list *list = &store->lists[i];

		if (!xb_list_is_auto(list))
			json_array_append_new(lists, list_json(list));
	}
	return lists;
}

const char *display_wanted(const struct xb_interface *item)
{
	return item->wanted[0]	   ? item->wanted
	       : item->now.ifindex ? item->now.name
				   : item->enrolled.name;
}

json_t *display_problems_json(const struct xb_problems *problems)
{
	json_t *texts = json_array();
	char text[ADVICE_TEXT];

	for (size_t i = 0; i < problems->count; i++)
		json_array_append_new(texts, json_string(advice_for(&problems->item[i], text)));
	return texts;
}

json_t *display_problem_details_json(const struct xb_problems *problems)
{
	json_t *details = json_array();

	for (size_t i = 0; i < problems->count; i++) {
		const struct xb_problem *problem = &problems->item[i];
		const struct xb_interface *item = problem->interface;

		json_array_append_new(
			details, json_pack("{s:s,s:s*,s:s}", "kind", xb_problem_name(problem->kind),
					   "interface", item ? display_wanted(item) : NULL, "text",
					   problem->text));
	}
	return details;
}

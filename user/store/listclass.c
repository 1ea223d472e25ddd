/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/listclass.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

static const struct xb_scope all_packets;

const struct xb_scope *xb_list_scope(const struct xb_list *list)
{
	return list->scope ? list->scope : &all_packets;
}

static bool counts(const struct xb_list *list)
{
	return list->verdict == XB_DOMAIN_COUNT;
}

static bool is_alike(const struct xb_list *a, const struct xb_list *b)
{
	return counts(a) == counts(b) && xb_scope_equals(xb_list_scope(a), xb_list_scope(b));
}

/* A number that no other list has, if possible not the list's own: packets may still be counted
 * under that. XB_CLASSES: all are in use. */
static uint32_t free_class(const struct xb_txn *txn, const struct xb_list *list)
{
	uint32_t taken = 1U << XB_CLASS_ALL;

	for (size_t i = 0; i < txn->list_count; i++)
		if (&txn->lists[i] != list)
			taken |= 1U << txn->lists[i].class;
	for (uint32_t class = 1; class < XB_CLASSES; class ++)
		if (class != list->class && !(taken >> class & 1))
			return class;
	return taken >> list->class & 1 ? XB_CLASSES : list->class;
}

static uint32_t class_for(const struct xb_txn *txn, const struct xb_list *list)
{
	if (!list->scope && !counts(list))
		return XB_CLASS_ALL;
	for (size_t i = 0; i < txn->list_count; i++)
		if (&txn->lists[i] != list && txn->lists[i].class && is_alike(list, &txn->lists[i]))
			return txn->lists[i].class;
	return free_class(txn, list);
}

static int assign(struct xb_txn *txn, struct xb_list *list)
{
	uint32_t class = class_for(txn, list);

	if (class == XB_CLASSES)
		return xb_input_error(
			"all %d classes are in use: no other scope is possible (lists "
			"that count and lists that drop have classes of their own)",
			XB_CLASSES - 1);
	list->reassigned = true;
	list->class = class;
	txn->classes |= 1U << class;
	return 0;
}

int xb_list_classify(struct xb_txn *txn, struct xb_list *list)
{
	xb_changes_set_bulk(&txn->change);
	return assign(txn, list);
}

int xb_list_scope_set(struct xb_txn *txn, struct xb_list *list, const struct xb_scope *scope)
{
	const struct xb_scope *now = xb_list_scope(list);
	bool widens = !xb_scope_within(scope, now);

	if (xb_scope_equals(scope, now))
		return 0;
	list->scope = NULL;
	if (!xb_scope_is_all(scope)) {
		list->scope = xb_arena_copy(&txn->scopes, scope, sizeof(*scope));
		if (!list->scope)
			return -ENOMEM;
	}
	txn->edits++;
	txn->change.tightens |= widens;
	return xb_list_classify(txn, list);
}

uint32_t xb_classes_of(const struct xb_list *lists, size_t count,
		       struct xb_class classes[XB_CLASSES])
{
	uint32_t used = 1U << XB_CLASS_ALL;

	memset(classes, 0, XB_CLASSES * sizeof(*classes));
	for (size_t i = 0; i < count; i++) {
		const struct xb_list *list = &lists[i];

		if (!list->class)
			continue;
		used |= 1U << list->class;
		classes[list->class] =
			(struct xb_class){.scope = list->scope, .counts = counts(list)};
	}
	return used;
}

uint32_t xb_list_classes(const struct xb_txn *txn, struct xb_class classes[XB_CLASSES])
{
	return xb_classes_of(txn->lists, txn->list_count, classes);
}

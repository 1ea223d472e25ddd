/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/import.h"

#include <errno.h>
#include <time.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/lock.h"
#include "engine/stamp.h"
#include "engine/writepath.h"
#include "model/bogon.h"
#include "store/expiry.h"
#include "store/fleet.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "store/origins.h"
#include "store/walk.h"

static int refuse(struct xb_import_refusal *refusal, struct xb_import_refusal why)
{
	*refusal = why;
	return XB_IMPORT_REFUSED;
}

static void leave_out_bogons(struct xb_import *import)
{
	struct xb_listfile *file = import->file;
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct xb_item item = xb_listfile_at(file, i);

		if (item.meant || !xb_bogon(&item.entry)) {
			xb_listfile_move(file, kept++, i);
			continue;
		}
		file->allowed -= xb_entry_is_allow(&item.entry);
		file->exceptions -= item.entry.kind == XB_EXCEPT_NAME;
		if (!import->bogons++ || item.entry.line < import->first_bogon.entry.line)
			import->first_bogon = item;
	}
	file->count = kept;
}

/* What is asked of the file whatever the list has. */
static int check_size(const struct xb_import *import, struct xb_import_refusal *refusal)
{
	const struct xb_listfile *file = import->file;

	if (file->bytes < import->asked.least_bytes)
		return refuse(refusal,
			      (struct xb_import_refusal){.why = XB_IMPORT_FEW_BYTES,
							 .has = file->bytes,
							 .least = import->asked.least_bytes});
	if (file->count < import->asked.least_entries)
		return refuse(refusal,
			      (struct xb_import_refusal){.why = XB_IMPORT_FEW_ENTRIES,
							 .has = file->count,
							 .least = import->asked.least_entries});
	return 0;
}

static bool has_names(const struct xb_listfile *file)
{
	for (size_t i = 0; !file->bare && i < file->count; i++)
		if (file->items[i].entry.kind == XB_NAME)
			return true;
	return false;
}

int xb_import_read(int fd, const char *path, const struct xb_listfile_terms *terms,
		   struct xb_import *import, struct xb_import_refusal *refusal)
{
	struct xb_listfile_terms with = *terms;
	int error = 0;

	if (import->imprints)
		error = xb_imprint_begin(&import->taken, terms, import->asked.include_bogons);
	if (error)
		return error;
	with.bare = true;
	with.allows = import->asked.allows;
	with.hash = import->imprints ? &import->taken.hash : NULL;
	with.may_be_empty = import->asked.replace;
	error = xb_listfile_read_as(fd, path, &with, import->file);
	if (error)
		return error;
	if (!import->file->count && !import->asked.force)
		return refuse(refusal, (struct xb_import_refusal){.why = XB_IMPORT_EMPTIES});
	if (!import->file->count)
		import->file->format = "empty";
	if (!import->asked.include_bogons)
		leave_out_bogons(import);
	import->has_names = has_names(import->file);
	return check_size(import, refusal);
}

static double factor_of(const struct xb_import *import)
{
	return import->asked.factor > 0 ? import->asked.factor : XB_IMPORT_FACTOR;
}

static bool is_near(const struct xb_import *import, uint64_t before, uint64_t after)
{
	uint64_t difference = after > before ? after - before : before - after;
	double factor = factor_of(import);

	return (import->asked.factor <= 0 && difference < XB_IMPORT_ENTRIES) ||
	       ((double)after * factor >= (double)before &&
		(double)after <= (double)before * factor);
}

/* How many entries of the list are on the allowlist. */
static int count_on_allowlist(struct xb_txn *txn, uint32_t list, uint64_t *count)
{
	struct xb_membership member;
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

	*count = 0;
	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0)
		*count += xb_members_have(walk.members, list, &member);
	xb_walk_end(&walk);
	return more;
}

static int refuse_change(const struct xb_import *import, enum xb_import_why why, uint64_t before,
			 uint64_t after, struct xb_import_refusal *refusal)
{
	return refuse(refusal, (struct xb_import_refusal){.why = why,
							  .before = before,
							  .after = after,
							  .factor = factor_of(import)});
}

/* Each kind by itself: many exceptions do not make up for what is no longer listed. */
static int check_replacement(struct xb_txn *txn, const struct xb_import *import,
			     const struct xb_list *list, struct xb_import_refusal *refusal)
{
	const struct xb_listfile *file = import->file;
	uint64_t allowed, listed, left = file->count - file->allowed - file->exceptions;
	int error = count_on_allowlist(txn, list->id, &allowed);

	if (error)
		return error;
	listed = list->members - allowed - list->exceptions;
	if ((listed && !left) || !is_near(import, listed, left))
		return refuse_change(import, XB_IMPORT_LISTED, listed, left, refusal);
	if ((list->exceptions && !file->count) ||
	    !is_near(import, list->exceptions, file->exceptions))
		return refuse_change(import, XB_IMPORT_EXCEPTED, list->exceptions, file->exceptions,
				     refusal);
	/* Unless it asks for them, what the list has allowed of old goes at once. */
	if (!file->count || (import->asked.allows && !is_near(import, allowed, file->allowed)))
		return refuse_change(import, XB_IMPORT_ALLOWED, allowed, file->allowed, refusal);
	return 0;
}

/* Gives the list the terms that were asked for; says which it has. */
static int set_terms(struct xb_txn *txn, struct xb_import *import)
{
	struct xb_list *list = xb_list_by_name(txn, import->asked.list);
	int error = 0;

	if (import->asked.judges)
		error = xb_domain_verdict_set(txn, list, import->asked.verdict);
	if (!error && import->asked.scopes)
		error = xb_list_scope_set(txn, list, &import->asked.scope);
	import->verdict = list->verdict;
	import->scope = *xb_list_scope(list);
	return error;
}

static int finish(struct xb_txn *txn, struct xb_import *import)
{
	int error = set_terms(txn, import);

	import->exempt = (struct xb_exemptions){0};
	if (!error && import->stamp)
		error = xb_stamp_put(txn, import->asked.list, import->stamp);
	return error ? error : xb_exempt_list(txn, import->merge.list, &import->exempt);
}

static bool has_sources(const struct xb_listfile *file)
{
	size_t at = 0;

	while (!file->bare && at < file->count && !xb_entry_is_source(&file->items[at].entry))
		at++;
	return at < file->count;
}

/* The list is what the file says now. */
static void set_imprint(struct xb_txn *txn, const struct xb_import *import)
{
	struct xb_list *list = xb_list_by_name(txn, import->asked.list);
	struct xb_imprinting taken = import->taken; /* this may be the second try */
	struct xb_imprint imprint = xb_imprint_end(&taken, import->file, import->bogons);

	if (!xb_imprint_is(&imprint) || list->members != import->file->count)
		return;
	imprint.has_names = import->has_names;
	xb_list_set_imprint(txn, list, &imprint);
}

int xb_import_apply(struct xb_writer *writer, struct xb_import *import,
		    struct xb_import_refusal *refusal)
{
	struct xb_txn *txn = writer->txn;
	struct xb_list *list;
	bool replaces;
	int error = xb_list_need(txn, import->asked.list, &list);

	if (!error)
		error = xb_share_check_ours(txn, import->asked.list);
	if (error)
		return error;
	import->merge =
		(struct xb_merge){.file = import->file, .list = list->id, .now = writer->now};
	replaces = import->asked.replace && list->members;
	if (replaces && !import->asked.force)
		error = check_replacement(txn, import, list, refusal);
	if (error)
		return error;
	error = replaces ? xb_merge_replace(txn, &import->merge)
			 : xb_merge_add(txn, &import->merge);
	if (!error && has_sources(import->file))
		xb_list_come_from(txn, xb_list_by_name(txn, import->asked.list), import->origin);
	if (!error && import->imprints)
		set_imprint(txn, import);
	return error ? error : finish(txn, import);
}

struct change {
	struct xb_import *import;
	struct xb_import_refusal *refusal;
};

static int apply(struct xb_writer *writer, void *context)
{
	const struct change *change = context;

	return xb_import_apply(writer, change->import, change->refusal);
}

/* From so many entries on, a new generation is likely. */
#define HEAVY 50000

int xb_import_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_import *import, struct xb_import_refusal *refusal,
		   struct xb_written *written)
{
	unsigned int how = (import->file->count > HEAVY ? XB_WRITE_HEAVY : 0) | XB_WRITE_SURVEY;

	return xb_write_wish(paths, how, wish, apply, &(struct change){import, refusal}, written);
}

bool xb_import_is_repeated(const char *state, const char *path,
			   const struct xb_listfile_terms *terms, struct xb_import *import)
{
	struct xb_imprint *imprint = &import->imprint;
	struct xb_list *list;
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(state, &store, &txn);

	if (error) {
		xb_error_clear();
		return false;
	}
	list = xb_list_find(txn, import->asked.list);
	*imprint = list ? list->imprint : (struct xb_imprint){0};
	xb_store_end_reading(store, txn);
	if (!xb_imprint_is(imprint) ||
	    !xb_imprint_matches(imprint, path, terms, import->asked.include_bogons))
		return false;
	xb_fault("import-same");
	import->has_names = imprint->has_names;
	*import->file = (struct xb_listfile){.bytes = imprint->bytes,
					     .lines = imprint->lines,
					     .repeats = imprint->repeats,
					     .allowed = imprint->allowed,
					     .exceptions = imprint->exceptions,
					     .format = imprint->format};
	return true;
}

#define ANOTHER_NOW (-ECANCELED)

static int repeat(struct xb_writer *writer, void *context)
{
	const struct change *change = context;
	struct xb_import *import = change->import;
	const struct xb_list *list = xb_list_find(writer->txn, import->asked.list);
	int error;

	if (!list || !xb_imprint_equals(&list->imprint, &import->imprint))
		return ANOTHER_NOW;
	import->file->count = list->members;
	error = check_size(import, change->refusal);
	if (!error)
		error = xb_share_check_ours(writer->txn, import->asked.list);
	if (error)
		return error;
	import->merge = (struct xb_merge){.file = import->file,
					  .list = list->id,
					  .now = writer->now,
					  .unchanged = list->members};
	return finish(writer->txn, import);
}

int xb_import_repeat(const struct xb_paths *paths, struct xb_import *import,
		     struct xb_import_refusal *refusal, struct xb_written *written, bool *changed)
{
	int error = xb_write(paths, XB_WRITE_SURVEY, repeat, &(struct change){import, refusal},
			     written);

	*changed = error == ANOTHER_NOW;
	return *changed ? 0 : error;
}

static int count_as_added(struct xb_import *import, uint32_t now)
{
	import->merge =
		(struct xb_merge){.file = import->file, .now = now, .added = import->file->count};
	import->verdict = import->asked.judges ? import->asked.verdict : XB_DOMAIN_DROP;
	if (import->asked.scopes)
		import->scope = import->asked.scope;
	return xb_merge_check(&import->merge);
}

int xb_import_rehearse(const struct xb_paths *paths, struct xb_import *import,
		       struct xb_import_refusal *refusal)
{
	struct xb_writer writer = {
		.paths = paths, .builder_lock = -1, .writer_lock = -1, .now = (uint32_t)time(NULL)};
	int error = xb_store_open(paths->state, XB_STORE_WRITE, &writer.store);

	/* Without a store there is nothing to change. */
	if (error == -ENOENT)
		return count_as_added(import, writer.now);
	/* Whoever writes waits for this lock, where it is told for whom. */
	if (!error)
		error = xb_writer_lock(&writer);
	if (!error)
		error = xb_store_write(writer.store, &writer.txn);
	if (!error)
		error = xb_expiry_sweep(writer.txn, writer.now, NULL);
	if (!error)
		error = xb_import_apply(&writer, import, refusal);
	xb_txn_abort(writer.txn);
	xb_store_close(writer.store);
	xb_unlock(writer.writer_lock);
	return error;
}

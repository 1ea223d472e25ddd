/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/verifyreport.h"

#include "base/error.h"
#include "bloomd/fleet/request.h"

static json_t *side_json(const struct difference_side *side)
{
	json_t *json = json_object();

	if (side->expires)
		json_object_set_new(json, "expires", json_integer(side->expires));
	if (side->comment_size)
		json_object_set_new(json, "comment",
				    json_stringn(side->comment, side->comment_size));
	return json;
}

static json_t *difference_json(const struct difference *difference)
{
	static const char *const kinds[] = {[DIFFERENCE_MISSING] = "missing",
					    [DIFFERENCE_EXTRA] = "extra",
					    [DIFFERENCE_CHANGED] = "changed"};
	char text[XB_ENTRY_TEXT];
	json_t *json = json_pack("{s:s,s:s,s:s}", "list", difference->list, "entry",
				 xb_entry_format(&difference->entry, text), "kind",
				 kinds[difference->kind]);

	if (difference->kind != DIFFERENCE_MISSING)
		json_object_set_new(json, "here", side_json(&difference->here));
	if (difference->kind != DIFFERENCE_EXTRA)
		json_object_set_new(json, "snapshot", side_json(&difference->there));
	return json;
}

static json_t *list_json(const struct compared_list *list)
{
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "name", list->name, "here",
			 (json_int_t)list->here, "snapshot", (json_int_t)list->there, "missing",
			 (json_int_t)list->missing, "extra", (json_int_t)list->extra, "changed",
			 (json_int_t)list->changed, "log", (json_int_t)list->of_log, "outbox",
			 (json_int_t)list->of_outbox);
}

static json_t *snapshot_json(const struct manifest *manifest)
{
	char id[ID_TEXT];

	return json_pack("{s:s,s:f,s:I,s:I}", "id", id_format(manifest->id, id), "time",
			 (double)manifest->time / 1000, "term", (json_int_t)manifest->term,
			 "position", (json_int_t)manifest->position);
}

static json_t *loaded_json(const struct snapshot_parts *parts)
{
	const struct manifest *manifest = parts->manifest;
	json_int_t bytes = 0, chunks = 0, blooms = 0;

	for (size_t i = 0; i < manifest->chunk_count; i++) {
		bool chunk = parts->have[i] & PART_CHUNK, bloom = parts->have[i] & PART_BLOOM;

		chunks += chunk;
		blooms += bloom;
		bytes += chunk ? manifest->chunks[i].size : 0;
		bytes += bloom ? manifest->chunks[i].bloom_size : 0;
	}
	return json_pack("{s:I,s:I,s:I}", "bytes", bytes, "chunks", chunks, "blooms", blooms);
}

json_t *verifyreport(const struct snapshot_parts *parts, const struct comparison *comparison)
{
	json_t *lists = json_array(), *differences = json_array(), *json;

	for (size_t i = 0; i < comparison->list_count; i++)
		json_array_append_new(lists, list_json(&comparison->list[i]));
	for (size_t i = 0; i < comparison->count; i++)
		json_array_append_new(differences, difference_json(&comparison->item[i]));
	json = json_pack("{s:o,s:I,s:b,s:b,s:o,s:o,s:o,s:I}", "snapshot",
			 snapshot_json(parts->manifest), "position",
			 (json_int_t)comparison->position, "behind", comparison->behind, "partial",
			 comparison->partial, "loaded", loaded_json(parts), "lists", lists,
			 "differences", differences, "more",
			 (json_int_t)(comparison_total(comparison) - comparison->count));
	if (!json)
		xb_out_of_memory();
	return json;
}

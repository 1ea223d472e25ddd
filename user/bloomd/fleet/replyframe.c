/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/replyframe.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "redis/wire.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const enum reply_kind kinds[] = {
	[REDIS_NIL] = REPLY_NIL,     [REDIS_NUMBER] = REPLY_NUMBER, [REDIS_STATUS] = REPLY_STATUS,
	[REDIS_ERROR] = REPLY_ERROR, [REDIS_STRING] = REPLY_STRING, [REDIS_ARRAY] = REPLY_ARRAY,
};
_Static_assert(COUNT(kinds) == REDIS_KINDS, "each kind has its own");

/* An array whose nodes come next. */
struct open_array {
	struct server_reply *next;
	size_t left;
};

struct tree {
	struct server_reply *nodes;
	size_t count, placed; /* nodes of the frame; those that have their place */
	const char *text;     /* what is left of the texts */
	size_t left;	      /* its bytes */
	struct open_array open[REDIS_DEPTH_MAX + 1];
	size_t depth; /* of open arrays */
};

/* The nodes of an array get places side by side, long before all of them are read. */
static bool open_array(struct tree *tree, struct server_reply *array, uint32_t size)
{
	if (size > tree->count - tree->placed || tree->depth == COUNT(tree->open))
		return false;
	array->size = size;
	array->node = size ? &tree->nodes[tree->placed] : NULL;
	if (size)
		tree->open[tree->depth++] = (struct open_array){&tree->nodes[tree->placed], size};
	tree->placed += size;
	return true;
}

static bool take_text(struct tree *tree, struct server_reply *node, uint32_t size)
{
	if (size > tree->left)
		return false;
	node->text = tree->text;
	node->size = size;
	tree->text += size;
	tree->left -= size;
	return true;
}

static bool take_node(struct tree *tree, struct server_reply *node, const struct redis_node *from)
{
	if (from->kind >= REDIS_KINDS || (from->number && from->kind != REDIS_NUMBER))
		return false;
	*node = (struct server_reply){.kind = kinds[from->kind], .number = from->number};
	switch (node->kind) {
	case REPLY_ARRAY:
		return open_array(tree, node, from->size);
	case REPLY_STATUS:
	case REPLY_ERROR:
	case REPLY_STRING:
		return take_text(tree, node, from->size);
	default:
		return !from->size;
	}
}

/* Where the next node goes: into the array that was opened last and is not full. Full ones stay
 * open until here, so that their number is how deep the node is. NULL: nowhere. */
static struct server_reply *next_place(struct tree *tree)
{
	while (tree->depth && !tree->open[tree->depth - 1].left)
		tree->depth--;
	if (!tree->depth)
		return NULL;
	tree->open[tree->depth - 1].left--;
	return tree->open[tree->depth - 1].next++;
}

static bool take_all(struct tree *tree, const uint8_t *bytes)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct server_reply *place = next_place(tree);
		struct redis_node node;

		memcpy(&node, bytes + i * sizeof(node), sizeof(node));
		if (!place || !take_node(tree, place, &node))
			return false;
	}
	/* As many nodes as places, so none is missing. */
	return !tree->left;
}

/* The frame as an array of one node, the answer. */
static bool begin(struct tree *tree, const uint8_t *bytes, size_t size)
{
	struct redis_answer head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	size -= sizeof(head);
	if (head.pad || !head.nodes || head.nodes > REDIS_NODES_MAX ||
	    head.nodes > size / sizeof(struct redis_node))
		return false;
	*tree = (struct tree){.count = head.nodes,
			      .placed = 1,
			      .text = (const char *)bytes + sizeof(head) +
				      head.nodes * sizeof(struct redis_node),
			      .left = size - head.nodes * sizeof(struct redis_node),
			      .depth = 1};
	return tree->left <= REDIS_ANSWER_MAX;
}

int replyframe_read(const void *bytes, size_t size, struct server_reply **nodes)
{
	static const char wrong[] = "bloomd-redis gave no valid answer";
	struct tree tree;

	*nodes = NULL;
	if (!begin(&tree, bytes, size))
		return xb_system_error(0, wrong);
	tree.nodes = calloc(tree.count, sizeof(*tree.nodes));
	if (!tree.nodes)
		return xb_out_of_memory();
	tree.open[0] = (struct open_array){tree.nodes, 1};
	*nodes = tree.nodes;
	return take_all(&tree, (const uint8_t *)bytes + sizeof(struct redis_answer))
		       ? 0
		       : xb_system_error(0, wrong);
}

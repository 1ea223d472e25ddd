/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bloomd-redis hands to bloomd. Any bytes as a frame: refused, or a tree within its bounds,
 * whose texts lie in the frame. Any bytes of a server: what bloomd-redis makes of them, bloomd
 * takes, and read in pieces they are the same.
 */
#include "bloomd/fleet/replyframe.h"
#include "fuzz.h"
#include "redis/replies.h"

/* Returns how many nodes the tree has; adds the bytes of its texts. */
static size_t walk(const struct server_reply *reply, unsigned int depth, const uint8_t *frame,
		   size_t size, size_t *bytes)
{
	size_t count = 1;

	must(reply->kind <= REPLY_ARRAY && depth <= REDIS_DEPTH_MAX);
	if (reply->kind == REPLY_ARRAY) {
		for (size_t i = 0; i < reply->size; i++)
			count += walk(&reply->node[i], depth + 1, frame, size, bytes);
	} else if (reply->kind != REPLY_NIL && reply->kind != REPLY_NUMBER) {
		must((const uint8_t *)reply->text >= frame);
		must((const uint8_t *)reply->text + reply->size <= frame + size);
		*bytes += reply->size;
	}
	return count;
}

/* Whether it is taken. */
static bool take(const uint8_t *data, size_t size)
{
	/* Of that size, so that the sanitizer sees a read behind it. */
	uint8_t *frame = malloc(size);
	struct server_reply *nodes;
	struct redis_answer head;
	size_t bytes = 0, count;
	int error;

	must(frame);
	memcpy(frame, data, size);
	xb_error_clear();
	error = replyframe_read(frame, size, &nodes);
	if (error) {
		must_be_clear(xb_error_message());
	} else {
		memcpy(&head, frame, sizeof(head));
		count = walk(nodes, 0, frame, size, &bytes);
		must(count == head.nodes);
		must(sizeof(head) + count * sizeof(struct redis_node) + bytes == size);
	}
	free(nodes);
	free(frame);
	return !error;
}

static void hand_over(const struct replies *answers, struct buffer *all)
{
	struct iovec parts[ANSWERS_PARTS];
	struct replies_head head;
	size_t before = buffer_size(all);

	replies_frame(answers, &head, parts);
	for (int i = 0; i < ANSWERS_PARTS; i++)
		must(buffer_add(all, parts[i].iov_base, parts[i].iov_len));
	must(head.kind == REDIS_ANSWER && head.size <= REDIS_FRAME_MAX);
	must(head.size + sizeof(head.size) == buffer_size(all) - before);
	/* bloomd takes size and kind away. */
	must(take(buffer_at(all) + before + 2 * sizeof(uint32_t), head.size - sizeof(uint32_t)));
}

/* Reads what a server says, so many bytes at a time. all: the frames; returns how it ended. */
static uint32_t listen_to(const uint8_t *data, size_t size, size_t piece, struct buffer *all)
{
	struct redis_end end = {.outcome = REDIS_OUTCOME_COUNT};
	struct replies answers;
	int got = 0;

	must(replies_begin(&answers));
	while (size && got >= 0) {
		size_t some = size < piece ? size : piece;

		must(replies_feed(&answers, data, some, &end));
		while ((got = replies_next(&answers, &end)) > 0)
			hand_over(&answers, all);
		data += some;
		size -= some;
	}
	must((got < 0) == (end.outcome != REDIS_OUTCOME_COUNT));
	must(wire_text_ok(end.text, sizeof(end.text)));
	replies_free(&answers);
	return end.outcome;
}

static void listen_twice(const uint8_t *data, size_t size)
{
	struct buffer once = {0}, pieces = {0};
	uint32_t outcome = listen_to(data, size, size, &once);

	must(listen_to(data, size, 3, &pieces) == outcome);
	must(buffer_size(&once) == buffer_size(&pieces));
	must(!buffer_size(&once) ||
	     !memcmp(buffer_at(&once), buffer_at(&pieces), buffer_size(&once)));
	buffer_free(&once);
	buffer_free(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	take(data, size);
	listen_twice(data, size);
	return 0;
}

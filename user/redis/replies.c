/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hiredis calls a function for each node, in the order of the wire. So no tree is built, and a
 * count that a server only claims costs nothing. */
#include "redis/replies.h"

#include <hiredis/hiredis.h>
#include <string.h>

#define LINE_MAX_BYTES 65536 /* a status, an error, a number or a length is much shorter */

static void *refuse(struct replies *answers, enum redis_outcome outcome, const char *excess)
{
	answers->outcome = outcome;
	answers->excess = excess;
	return NULL;
}

/* Of newer servers, which were not told to speak so. */
static void *refuse_type(const redisReadTask *task)
{
	return refuse(task->privdata, REDIS_PROTOCOL, "the types of RESP2");
}

/* What hiredis has at hand as the object is any pointer; NULL would mean that there is no memory.
 */
static void *add(const redisReadTask *task, struct redis_node node, const void *text)
{
	struct replies *answers = task->privdata;

	if (!buffer_add(&answers->nodes, &node, sizeof(node)) ||
	    !buffer_add(&answers->texts, text, text ? node.size : 0))
		return refuse(answers, REDIS_FAILED, "the memory that there is");
	answers->count++;
	return answers;
}

static void *take_text(const redisReadTask *task, char *text, size_t size)
{
	enum redis_kind kind = task->type == REDIS_REPLY_STRING	  ? REDIS_STRING
			       : task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
			       : task->type == REDIS_REPLY_ERROR  ? REDIS_ERROR
								  : REDIS_KINDS;

	if (kind == REDIS_KINDS)
		return refuse_type(task);
	if (size > REDIS_ANSWER_MAX)
		return refuse(task->privdata, REDIS_TOO_LARGE, "64 MiB");
	return add(task, (struct redis_node){.kind = kind, .size = (uint32_t)size}, text);
}

static unsigned int depth_of(const redisReadTask *task)
{
	unsigned int depth = 1;

	while ((task = task->parent))
		depth++;
	return depth;
}

/* Newer versions have other types that are arrays to their reader, and count in size_t. */
#if HIREDIS_MAJOR < 1
static void *take_array(const redisReadTask *task, int count)
#else
static void *take_array(const redisReadTask *task, size_t count)
#endif
{
	struct replies *answers = task->privdata;

	if (task->type != REDIS_REPLY_ARRAY)
		return refuse_type(task);
	if (depth_of(task) > REDIS_DEPTH_MAX)
		return refuse(answers, REDIS_TOO_LARGE, "7 levels of arrays");
	if ((size_t)count >= REDIS_NODES_MAX - answers->announced)
		return refuse(answers, REDIS_TOO_LARGE, "262144 nodes");
	answers->announced += (uint32_t)count;
	return add(task, (struct redis_node){.kind = REDIS_ARRAY, .size = (uint32_t)count}, NULL);
}

static void *take_number(const redisReadTask *task, long long number)
{
	return add(task, (struct redis_node){.kind = REDIS_NUMBER, .number = number}, NULL);
}

static void *take_nil(const redisReadTask *task)
{
	return add(task, (struct redis_node){.kind = REDIS_NIL}, NULL);
}

static void free_nothing(void *object)
{
	(void)object;
}

#if HIREDIS_MAJOR >= 1
static void *take_double(const redisReadTask *task, double number, char *text, size_t size)
{
	(void)number;
	(void)text;
	(void)size;
	return refuse_type(task);
}

static void *take_bool(const redisReadTask *task, int yes)
{
	(void)yes;
	return refuse_type(task);
}
#endif

static redisReplyObjectFunctions functions = {
	.createString = take_text,
	.createArray = take_array,
	.createInteger = take_number,
	.createNil = take_nil,
#if HIREDIS_MAJOR >= 1
	.createDouble = take_double,
	.createBool = take_bool,
#endif
	.freeObject = free_nothing,
};

bool replies_begin(struct replies *answers)
{
	*answers = (struct replies){.reader = redisReaderCreateWithFunctions(&functions)};
	if (answers->reader)
		answers->reader->privdata = answers;
	return answers->reader;
}

void replies_free(struct replies *answers)
{
	if (answers->reader)
		redisReaderFree(answers->reader);
	buffer_free(&answers->nodes);
	buffer_free(&answers->texts);
}

/* The reader begins to look for the end of a line anew with each call. */
static bool has_endless_line(const redisReader *reader)
{
	size_t unread = reader->len - reader->pos;

	return unread > LINE_MAX_BYTES && !memchr(reader->buf + reader->pos, '\n', LINE_MAX_BYTES);
}

bool replies_feed(struct replies *answers, const void *bytes, size_t size, struct redis_end *end)
{
	answers->taken += size;
	if (redisReaderFeed(answers->reader, bytes, size) != REDIS_OK)
		return end_set(end, REDIS_FAILED, "no memory for an answer");
	return true;
}

static void forget(struct replies *answers)
{
	buffer_drop(&answers->nodes, buffer_size(&answers->nodes));
	buffer_drop(&answers->texts, buffer_size(&answers->texts));
	answers->count = answers->announced = 0;
	answers->whole = false;
	answers->taken = answers->reader->len - answers->reader->pos;
}

static int fail(const struct replies *answers, struct redis_end *end)
{
	if (!answers->excess)
		end_set(end, REDIS_PROTOCOL, "the server does not speak RESP2: %s",
			answers->reader->errstr);
	else
		end_set(end, answers->outcome, "the server sent an answer beyond %s",
			answers->excess);
	return -1;
}

int replies_next(struct replies *answers, struct redis_end *end)
{
	void *object = NULL;

	if (answers->whole)
		forget(answers);
	if (redisReaderGetReply(answers->reader, &object) != REDIS_OK)
		return fail(answers, end);
	if (object)
		return answers->whole = true;
	if (has_endless_line(answers->reader))
		end_set(end, REDIS_PROTOCOL, "the server sent a line without an end");
	else if (answers->taken > REDIS_ANSWER_MAX)
		end_set(end, REDIS_TOO_LARGE, "the server sent an answer beyond 64 MiB");
	else
		return 0;
	return -1;
}

const struct redis_node *replies_first(const struct replies *answers, const char **text)
{
	*text = (const char *)buffer_at(&answers->texts);
	return (const struct redis_node *)buffer_at(&answers->nodes);
}

void replies_frame(const struct replies *answers, struct replies_head *head,
		   struct iovec parts[ANSWERS_PARTS])
{
	size_t nodes = buffer_size(&answers->nodes), texts = buffer_size(&answers->texts);

	*head = (struct replies_head){
		.size = (uint32_t)(sizeof(*head) - sizeof(head->size) + nodes + texts),
		.kind = REDIS_ANSWER,
		.answer = {.nodes = answers->count}};
	parts[0] = (struct iovec){head, sizeof(*head)};
	parts[1] = (struct iovec){buffer_at(&answers->nodes), nodes};
	parts[2] = (struct iovec){buffer_at(&answers->texts), texts};
}

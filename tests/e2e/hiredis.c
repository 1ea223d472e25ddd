/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client by hiredis: pipelines changes, and reads what came of them. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000

static redisContext *context;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, context ? context->errstr : "");
	exit(1);
}

static redisReply *next(int type)
{
	redisReply *reply;

	if (redisGetReply(context, (void **)&reply) != REDIS_OK)
		fail("no reply");
	if (reply->type != type)
		fail(reply->str ? reply->str : "a reply of another type");
	return reply;
}

static void expect(long long number)
{
	redisReply *reply = next(REDIS_REPLY_INTEGER);

	if (reply->integer != number)
		fail("another number");
	freeReplyObject(reply);
}

int main(int argc, char **argv)
{
	redisReply *reply;

	if (argc != 2)
		return 2;
	context = redisConnectUnix(argv[1]);
	if (!context || context->err)
		fail("cannot connect");
	for (int i = 0; i < COUNT; i++)
		redisAppendCommand(context, "SADD h 10.6.%d.%d", i / 250, i % 250);
	for (int i = 0; i < COUNT; i++)
		expect(1);
	redisAppendCommand(context, "BF.CARD h");
	redisAppendCommand(context, "BF.MADD h %s %s", "10.6.0.0", "192.0.2.0/24");
	redisAppendCommand(context, "BF.EXISTS h 192.0.2.77");
	redisAppendCommand(context, "SISMEMBER h 192.0.2.77");
	redisAppendCommand(context, "NONSENSE");
	expect(COUNT);
	reply = next(REDIS_REPLY_ARRAY);
	if (reply->elements != 2 || reply->element[0]->integer || reply->element[1]->integer != 1)
		fail("BF.MADD");
	freeReplyObject(reply);
	expect(1);
	expect(0);
	freeReplyObject(next(REDIS_REPLY_ERROR));
	redisFree(context);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "redis/greeting.h"

#include <errno.h>
#include <string.h>

#include "redis/requests.h"
#include "sandbox/beforehand.h"

bool greeting_prepare(struct greeting *greeting, const struct redis_target *target,
		      struct redis_end *end)
{
	const char *path = target->password_file;
	ssize_t got;
	char *line_end;

	memcpy(greeting->user, target->user, sizeof(greeting->user));
	if (!*path)
		return true;
	got = beforehand_read(path, greeting->password, sizeof(greeting->password));
	if (got < 0)
		return end_set(end, REDIS_NO_KEY, "cannot read the password in %s: %s", path,
			       strerror(errno));
	line_end = memchr(greeting->password, '\n', (size_t)got);
	greeting->size = line_end ? (size_t)(line_end - greeting->password) : (size_t)got;
	if (greeting->size && greeting->password[greeting->size - 1] == '\r')
		greeting->size--;
	if (!greeting->size || (!line_end && got == sizeof(greeting->password)))
		return end_set(end, REDIS_NO_KEY, "%s has no password in its first line", path);
	return true;
}

bool greeting_send(struct greeting *greeting, struct buffer *out)
{
	const char *words[3] = {greeting->size ? "AUTH" : "PING"};
	size_t sizes[3] = {4}, count = 1;
	bool added;

	if (greeting->size && *greeting->user) {
		words[count] = greeting->user;
		sizes[count++] = strlen(greeting->user);
	}
	if (greeting->size) {
		words[count] = greeting->password;
		sizes[count++] = greeting->size;
	}
	added = requests_add(out, count, words, sizes);
	explicit_bzero(greeting->password, sizeof(greeting->password));
	return added;
}

static bool begins(const char *text, size_t size, const char *words)
{
	return size >= strlen(words) && !memcmp(text, words, strlen(words));
}

/* What somebody says who does not let us in, whatever we ask. */
static bool is_refusal(const char *text, size_t size)
{
	return begins(text, size, "NOAUTH") || begins(text, size, "DENIED") ||
	       begins(text, size, "WRONGPASS");
}

/* What a server says that would let us in later: the password was not looked at. */
static bool is_not_ready(const char *text, size_t size)
{
	return begins(text, size, "LOADING") || begins(text, size, "BUSY") ||
	       begins(text, size, "MASTERDOWN") || begins(text, size, "CLUSTERDOWN") ||
	       begins(text, size, "TRYAGAIN");
}

static bool judge_error(const struct greeting *greeting, const char *text, size_t size,
			struct redis_end *end)
{
	enum redis_outcome outcome = REDIS_AUTH;

	if (begins(text, size, "ERR max number of clients"))
		outcome = REDIS_NO_CONNECTION;
	else if (greeting->size && is_not_ready(text, size))
		return end_set(end, REDIS_NO_CONNECTION, "the server is not ready: %.*s", (int)size,
			       text);
	/* A user that may not ask this, or a server that is not ready, is one all the same. */
	else if (!greeting->size && !is_refusal(text, size))
		return true;
	return end_set(end, outcome, "the server does not let us in: %.*s", (int)size, text);
}

bool greeting_judge(const struct greeting *greeting, const struct replies *answers,
		    struct redis_end *end)
{
	const char *text, *wanted = greeting->size ? "OK" : "PONG";
	const struct redis_node *first = replies_first(answers, &text);

	if (first->kind == REDIS_ERROR)
		return judge_error(greeting, text, first->size, end);
	if (first->kind == REDIS_STATUS && first->size == strlen(wanted) &&
	    begins(text, first->size, wanted))
		return true;
	return end_set(end, REDIS_PROTOCOL, "the server does not answer %s as a Redis does",
		       greeting->size ? "AUTH" : "PING");
}

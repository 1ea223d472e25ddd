/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomd-redis: has the connection to the server of a fleet for bloomd, which starts it with a
 * target and a pair of sockets. It has no rights and no files when it meets the network:
 * user/sandbox/sandbox.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "redis/relay.h"
#include "sandbox/sandbox.h"
#include "sandbox/taken.h"

/* Of addresses: the largest answer, as it came and as it goes, twice over. */
#define MEMORY ((uint64_t)512 << 20)

_Static_assert(REDIS_SOCKET_MAX == 108, "a path fits into an address");

static bool read_target(struct redis_target *target)
{
	if (pread(REDIS_TARGET_FD, target, sizeof(*target), 0) != sizeof(*target) ||
	    target->magic != REDIS_MAGIC)
		return false;
	close(REDIS_TARGET_FD);
	return wire_text_ok(target->place.host, sizeof(target->place.host)) &&
	       memchr(target->place.socket, '\0', sizeof(target->place.socket)) &&
	       memchr(target->user, '\0', sizeof(target->user)) &&
	       memchr(target->password_file, '\0', sizeof(target->password_file)) &&
	       memchr(target->ca, '\0', sizeof(target->ca)) &&
	       memchr(target->cert, '\0', sizeof(target->cert)) &&
	       memchr(target->cert_key, '\0', sizeof(target->cert_key));
}

/* No limit of the processor's time: it lives as long as the connection, and bloomd ends it when an
 * answer does not come in time. */
static const char *enter(const struct redis_target *target)
{
	return sandbox_enter(
		&(struct sandbox_terms){.memory = MEMORY, .connected = *target->place.socket});
}

/* True: bloomd is gone. */
static bool run(const struct redis_target *target, struct redis_end *end)
{
	static struct greeting greeting;
	char taken[REDIS_TEXT_MAX - 16];
	struct stream stream;
	const char *failed;

	if (!greeting_prepare(&greeting, target, end) || !stream_prepare(&stream, target, end))
		return false;
	failed = sandbox_wanted() ? enter(target) : NULL;
	if (failed)
		return end_set(end, REDIS_FAILED, "%s", failed);
	if (taken_over(taken, sizeof(taken)))
		return end_set(end, REDIS_FAILED, "taken over:%s", taken);
	return stream_open(&stream, target, end) && relay_run(&stream, &greeting, end);
}

static bool tell(const struct redis_end *end)
{
	struct {
		uint32_t size, kind;
		struct redis_end end;
	} frame = {sizeof(frame) - sizeof(frame.size), REDIS_END, *end};

	return relay_tell(&(struct iovec){&frame, sizeof(frame)}, 1);
}

int main(void)
{
	static struct redis_target target;
	struct redis_end end = {0};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!read_target(&target)) {
		fputs("bloomd-redis: bloomd starts this program, one for a connection\n", stderr);
		return 2;
	}
	return !run(&target, &end) && !tell(&end);
}

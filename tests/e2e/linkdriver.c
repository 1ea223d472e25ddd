/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives a link to a fleet's server: asks the lines of its standard input, a pipe, and prints
 * what comes. A word @N stands for N bytes. Ends when all is answered and the input has ended, or
 * with 1 when the link is lost. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/fleet/conn.h"

#define SHOWN 60 /* bytes of a text; of a longer one the number */

static struct agent agent;
static struct conn *lnk;
static bool ready, ended;
static char line[65536];
static size_t line_size;

static void leave_if_done(void)
{
	if (ready && ended && !conn_waiting(lnk))
		sd_event_exit(agent.loop, 0);
}

static void show(const struct server_reply *reply, int depth)
{
	static const char *const kinds[] = {"nil", "number", "status", "error", "string", "array"};

	printf("%*s%s", 2 * depth, "", kinds[reply->kind]);
	if (reply->kind == REPLY_NUMBER)
		printf(" %" PRId64, reply->number);
	else if (reply->kind == REPLY_ARRAY || reply->size > SHOWN)
		printf(" of %zu", reply->size);
	else if (reply->kind != REPLY_NIL)
		printf(" %.*s", (int)reply->size, reply->text);
	printf("\n");
	for (size_t i = 0; reply->kind == REPLY_ARRAY && i < reply->size && i < 10; i++)
		show(&reply->node[i], depth + 1);
}

static void on_answer(void *context, const struct server_reply *reply)
{
	(void)context;
	show(reply, 0);
	fflush(stdout);
	if (getenv("CLOSES")) {
		conn_close(lnk);
		exit(0);
	}
	leave_if_done();
}

static void on_ready(void *context)
{
	(void)context;
	ready = true;
	printf("ready\n");
	fflush(stdout);
	leave_if_done();
}

static void on_lost(void *context, const char *outcome, const char *message)
{
	const struct conn_word word = {"PING", 4};

	(void)context;
	printf("lost %s: %s\n", outcome, message);
	if (!conn_ask(lnk, &word, 1, 0, on_answer, NULL))
		printf("a lost link takes requests\n");
	conn_close(lnk);
	lnk = NULL;
	sd_event_exit(agent.loop, 1);
}

static void ask(char *text)
{
	struct conn_word words[CONN_WORDS_MAX];
	size_t count = 0, filled = 0;
	void *zeros[CONN_WORDS_MAX];
	char *rest = text, *word;

	while ((word = strsep(&rest, " ")) && count < CONN_WORDS_MAX) {
		words[count] = (struct conn_word){word, strlen(word)};
		if (*word == '@') {
			words[count].size = strtoul(word + 1, NULL, 10);
			words[count].bytes = zeros[filled++] = calloc(1, words[count].size + 1);
		}
		count++;
	}
	if (conn_ask(lnk, words, count, 0, on_answer, NULL))
		printf("refused: %s\n", xb_error_message());
	while (filled)
		free(zeros[--filled]);
	fflush(stdout);
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *context)
{
	ssize_t got = read(fd, line + line_size, sizeof(line) - line_size - 1);
	char *end;

	(void)events;
	(void)context;
	if (got <= 0) {
		ended = true;
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		leave_if_done();
		return 0;
	}
	line_size += (size_t)got;
	while (lnk && (end = memchr(line, '\n', line_size))) {
		*end++ = '\0';
		ask(line);
		line_size -= (size_t)(end - line);
		memmove(line, end, line_size);
	}
	return 0;
}

static struct conn_target read_target(int argc, char **argv)
{
	struct conn_target target = {.seconds = 60};
	int option;

	while ((option = getopt(argc, argv, "u:p:a:c:k:s:")) > 0) {
		const char **text = option == 'u'   ? &target.user
				    : option == 'p' ? &target.password_file
				    : option == 'a' ? &target.ca
				    : option == 'c' ? &target.cert
				    : option == 'k' ? &target.cert_key
						    : NULL;

		if (text)
			*text = optarg;
		else if (option == 's')
			target.seconds = (uint32_t)strtoul(optarg, NULL, 10);
		else
			exit(2);
	}
	target.url = argv[optind];
	return target;
}

int main(int argc, char **argv)
{
	struct conn_target target = read_target(argc, argv);
	int code;

	if (!target.url || sd_event_default(&agent.loop) < 0 ||
	    sd_event_add_io(agent.loop, NULL, 0, EPOLLIN, on_input, NULL) < 0)
		return 2;
	if (conn_open(&agent, &target, on_ready, on_lost, NULL, &lnk)) {
		printf("refused: %s\n", xb_error_message());
		return 2;
	}
	code = sd_event_loop(agent.loop);
	conn_close(lnk);
	sd_event_unref(agent.loop);
	return code;
}

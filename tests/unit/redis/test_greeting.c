/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the first answer of a server says of it and of the password. */
#include <string.h>

#include "redis/greeting.h"
#include "support/cmocka.h"

static const struct {
	bool password;
	const char *answer;
	int outcome; /* -1: it lets us in */
} rows[] = {
	{true, "+OK\r\n", -1},
	{false, "+PONG\r\n", -1},
	{true, "-WRONGPASS invalid username-password pair\r\n", REDIS_AUTH},
	{true, "-ERR AUTH <password> called without any password configured\r\n", REDIS_AUTH},
	{false, "-NOAUTH Authentication required.\r\n", REDIS_AUTH},
	{true, "-LOADING Redis is loading the dataset in memory\r\n", REDIS_NO_CONNECTION},
	{true, "-BUSY Redis is busy running a script\r\n", REDIS_NO_CONNECTION},
	{true, "-MASTERDOWN Link with MASTER is down\r\n", REDIS_NO_CONNECTION},
	{true, "-ERR max number of clients reached\r\n", REDIS_NO_CONNECTION},
	{false, "-LOADING Redis is loading the dataset in memory\r\n", -1},
	{true, "+PONG\r\n", REDIS_PROTOCOL},
};

TEST(each_first_answer)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct greeting greeting = {.size = rows[i].password ? 6 : 0};
		struct redis_end end = {0};
		struct replies answers = {0};
		bool let_in;

		assert_true(replies_begin(&answers));
		assert_true(replies_feed(&answers, rows[i].answer, strlen(rows[i].answer), &end));
		assert_int_equal(replies_next(&answers, &end), 1);
		let_in = greeting_judge(&greeting, &answers, &end);
		assert_int_equal(let_in ? -1 : (int)end.outcome, rows[i].outcome);
		replies_free(&answers);
	}
}

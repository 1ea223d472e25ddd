/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch/lookup.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fetch/result.h"

static bool take(const struct addrinfo *found, struct body *body)
{
	char line[NI_MAXHOST + 1];

	if (getnameinfo(found->ai_addr, found->ai_addrlen, line, NI_MAXHOST, NULL, 0,
			NI_NUMERICHOST))
		return true;
	strcat(line, "\n");
	return body->in + strlen(line) > body->max || body_take(body, line, strlen(line));
}

void lookup_run(const struct fetch_request *request, struct body *body, struct fetch_result *result)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int error = getaddrinfo(request->url, NULL, &hints, &found);
	bool taken = true;

	for (const struct addrinfo *one = found; one && taken; one = one->ai_next)
		taken = take(one, body);
	if (error)
		result_set(result, FETCH_NO_NAME, "%s", gai_strerror(error));
	else if (!taken || !body_end(body))
		result_set(result, body->why, "%s", body->detail);
	else
		result_set(result, FETCH_TAKEN, "%s", "");
	result->bytes = body->out;
	if (found)
		freeaddrinfo(found);
}

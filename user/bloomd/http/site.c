/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/http/site.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/error.h"
#include "bloomd/http/page.h"
#include "bloomd/http/pagejson.h"
#include "engine/exposition.h"
#include "engine/metrics.h"

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"
#define HTML "text/html; charset=utf-8"

#define NONCE_BYTES 16

/* An answer in the making: bytes that malloc() gave. */
struct answer {
	char *text;
	size_t size;
	unsigned int status;
	const char *type, *allow;	 /* allow: of 405 */
	char nonce[2 * NONCE_BYTES + 1]; /* of the page's script and style; "": it is no page */
};

static int say(struct answer *answer, unsigned int status, const char *text)
{
	answer->status = status;
	answer->type = TEXT;
	answer->text = strdup(text);
	answer->size = answer->text ? strlen(text) : 0;
	return answer->text ? 0 : -ENOMEM;
}

/* The message of the library, and a newline. */
static int say_error(struct answer *answer, const char *why)
{
	answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
	answer->type = TEXT;
	return asprintf(&answer->text, "%s\n", why) < 0 ? -ENOMEM
							: (answer->size = strlen(answer->text), 0);
}

static int answer_metrics(struct site *site, struct answer *answer)
{
	const struct look *look = &site->look;
	FILE *out;

	if (look->error)
		return say_error(answer, look->why);
	out = open_memstream(&answer->text, &answer->size);
	if (!out)
		return -ENOMEM;
	xb_metrics_write(look->paths, &look->figures, out);
	answer->type = XB_EXPOSITION_TYPE;
	return fclose(out) ? -ENOMEM : 0;
}

static void write_line(const char *text, void *out)
{
	fprintf(out, "%s\n", text);
}

static int answer_health(struct site *site, struct answer *answer)
{
	const struct look *look = &site->look;
	FILE *out;

	if (look_is_well(look))
		return say(answer, MHD_HTTP_OK, "ok\n");
	if (look->error)
		return say_error(answer, look->why);
	out = open_memstream(&answer->text, &answer->size);
	if (!out)
		return -ENOMEM;
	look_tell(look, write_line, out);
	answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
	answer->type = TEXT;
	return fclose(out) ? -ENOMEM : 0;
}

static int answer_json(struct answer *answer, json_t *object)
{
	answer->text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	answer->size = answer->text ? strlen(answer->text) : 0;
	answer->type = JSON;
	return answer->text ? 0 : -ENOMEM;
}

static int answer_status(struct site *site, struct answer *answer)
{
	return answer_json(answer, status_json(&site->look));
}

static int answer_history(struct site *site, struct answer *answer)
{
	return answer_json(answer, json_pack("{s:i,s:i,s:o}", "schema", 1, "step", HISTORY_STEP,
					     "samples", history_json(site->history)));
}

static int draw_nonce(char nonce[2 * NONCE_BYTES + 1])
{
	uint8_t bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The page has PAGE_NONCE where the nonce goes, which is as long. */
static int answer_page(struct site *site, struct answer *answer)
{
	size_t length = strlen(PAGE_NONCE);
	char *at;

	(void)site;
	_Static_assert(sizeof(PAGE_NONCE) == 2 * NONCE_BYTES + 1, "the nonce has another length");
	answer->size = page_bytes;
	answer->text = malloc(answer->size + 1);
	if (!answer->text || draw_nonce(answer->nonce))
		return -ENOMEM;
	memcpy(answer->text, page_text, answer->size);
	answer->text[answer->size] = '\0';
	for (at = answer->text; (at = strstr(at, PAGE_NONCE)); at += length)
		memcpy(at, answer->nonce, length);
	answer->type = HTML;
	return 0;
}

static const struct {
	const char *path;
	bool looks; /* needs the figures */
	int (*make)(struct site *site, struct answer *answer);
} paths[] = {
	{"/", false, answer_page},
	{"/metrics", true, answer_metrics},
	{"/healthz", true, answer_health},
	{"/status.json", true, answer_status},
	{"/history.json", false, answer_history},
};

bool site_takes_host(const char *host)
{
	size_t name = host ? strcspn(host, ":") : 0;

	if (!host)
		return true;
	if (*host == '[')
		return true;
	if (name == strlen("localhost") && !strncasecmp(host, "localhost", name))
		return true;
	for (size_t i = 0; i < name; i++)
		if (!isdigit((unsigned char)host[i]) && host[i] != '.')
			return false;
	return name > 0;
}

static bool is_known_host(struct MHD_Connection *connection)
{
	return site_takes_host(
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST));
}

static int make(struct site *site, struct MHD_Connection *connection, const char *path,
		const char *method, struct answer *answer)
{
	if (site->checks_host && !is_known_host(connection))
		return say(answer, MHD_HTTP_FORBIDDEN,
			   "unknown host: use localhost or an address\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		answer->allow = "GET, HEAD";
		return say(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(path, paths[i].path) != 0)
			continue;
		if (paths[i].looks)
			look_take(&site->look);
		return paths[i].make(site, answer);
	}
	return say(answer, MHD_HTTP_NOT_FOUND, "no such page\n");
}

static void add_policy(struct MHD_Response *response, const struct answer *answer)
{
	char policy[320];

	if (!*answer->nonce)
		snprintf(policy, sizeof(policy), "default-src 'none'; frame-ancestors 'none'");
	else
		snprintf(policy, sizeof(policy),
			 "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; "
			 "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
			 "frame-ancestors 'none'",
			 answer->nonce, answer->nonce);
	MHD_add_response_header(response, "Content-Security-Policy", policy);
}

/* A connection serves one request. */
static void add_headers(struct MHD_Response *response, const struct answer *answer)
{
	static const char *const headers[][2] = {
		{"Connection", "close"},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	if (answer->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
	add_policy(response, answer);
}

enum MHD_Result site_answer(struct site *site, struct MHD_Connection *connection, const char *path,
			    const char *method)
{
	struct answer answer = {.status = MHD_HTTP_OK};
	struct MHD_Response *response = NULL;
	enum MHD_Result result;

	if (make(site, connection, path, method, &answer)) {
		free(answer.text);
		return MHD_NO;
	}
	response = MHD_create_response_from_buffer(answer.size, answer.text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(answer.text);
		return MHD_NO;
	}
	add_headers(response, &answer);
	result = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return result;
}

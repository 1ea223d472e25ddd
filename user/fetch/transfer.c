/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Redirects are followed here, one by one, because each has to be at least as strong as the one
 * before it. HTTP/1.1 alone: less code faces the server, and the framing of a body is in its
 * headers. */
#include "fetch/transfer.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/result.h"

#define SYSTEM_CA   "/etc/ssl/certs/ca-certificates.crt"
#define CA_MAX	    (8 << 20)
#define CONNECT_MAX 15L /* seconds */

struct transfer {
	const struct fetch_request *request;
	const struct credentials *credentials;
	struct body *body;
	struct fetch_result *result;
	CURL *curl;
	struct curl_slist *headers; /* of all requests */
	struct curl_slist *known;   /* and of those to the host that may know who asks */
	char errors[CURL_ERROR_SIZE];
	/* Of the present answer. */
	bool framed, packed, unknown;
	bool contradicts; /* it says more than once, or wrongly, where the body ends */
};

static struct {
	char *text;
	size_t size;
} certificates;

static bool is_https(const char *url)
{
	return !strncasecmp(url, "https://", 8);
}

static bool is_http(const char *url)
{
	return !strncasecmp(url, "http://", 7);
}

static bool read_certificates(const char *path, struct fetch_result *result)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	ssize_t got = -1;

	if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size <= CA_MAX) {
		certificates.text = malloc(CA_MAX);
		got = certificates.text ? read(fd, certificates.text, CA_MAX) : -1;
	}
	if (fd >= 0)
		close(fd);
	if (got <= 0) {
		result_set(result, FETCH_TLS, "cannot read the certificates in %s", path);
		return false;
	}
	certificates.size = (size_t)got;
	return true;
}

bool transfer_prepare(const struct fetch_request *request, struct fetch_result *result)
{
	const char *path = *request->ca ? request->ca : SYSTEM_CA;

	/* Without redirects, what begins in the clear stays so, and needs nothing of TLS. */
	if (request->kind != FETCH_LIST && is_http(request->url))
		return !curl_global_init(CURL_GLOBAL_NOTHING);
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		result_set(result, FETCH_FAILED, "libcurl does not start");
		return false;
	}
	/* An http: URL may lead to https:; without certificates only that fails. */
	return read_certificates(path, result) || (is_http(request->url) && !*request->ca);
}

static bool is_header(const char *line, size_t size, const char *name, const char **value,
		      size_t *value_size)
{
	size_t length = strlen(name);

	if (size <= length || strncasecmp(line, name, length) || line[length] != ':')
		return false;
	line += length + 1;
	size -= length + 1;
	while (size && (*line == ' ' || *line == '\t')) {
		line++;
		size--;
	}
	while (size && strchr("\r\n \t", line[size - 1]))
		size--;
	*value = line;
	*value_size = size;
	return true;
}

static bool is_word(const char *value, size_t size, const char *word)
{
	return size == strlen(word) && !strncasecmp(value, word, size);
}

static void begin_answer(struct transfer *transfer)
{
	transfer->framed = transfer->packed = transfer->unknown = transfer->contradicts = false;
	transfer->result->etag[0] = transfer->result->modified[0] = '\0';
}

/* RFC 9110 8.6 and RFC 9112 6.3: one length, which is digits alone, or chunks. Of anything else two
 * programs may read two bodies, of which one was cut. */
static void note_frame(struct transfer *transfer, bool valid)
{
	transfer->contradicts |= transfer->framed || !valid;
	transfer->framed = true;
}

static bool is_length(const char *value, size_t size)
{
	size_t digits = 0;

	while (digits < size && value[digits] >= '0' && value[digits] <= '9')
		digits++;
	return size && digits == size;
}

static size_t on_header(char *line, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;
	struct fetch_result *result = transfer->result;
	const char *value;
	size_t length;

	(void)one;
	if (size >= 5 && !strncmp(line, "HTTP/", 5))
		begin_answer(transfer);
	else if (is_header(line, size, "content-length", &value, &length))
		note_frame(transfer, is_length(value, length));
	else if (is_header(line, size, "transfer-encoding", &value, &length))
		note_frame(transfer, is_word(value, length, "chunked"));
	else if (is_header(line, size, "content-encoding", &value, &length)) {
		transfer->packed =
			is_word(value, length, "gzip") || is_word(value, length, "x-gzip");
		transfer->unknown = !transfer->packed && !is_word(value, length, "identity");
	} else if (is_header(line, size, "etag", &value, &length))
		result_keep(result->etag, value, length);
	else if (is_header(line, size, "last-modified", &value, &length))
		result_keep(result->modified, value, length);
	return size;
}

static long status_of(const struct transfer *transfer)
{
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Only the body of a 200 is kept. */
static size_t on_body(char *data, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;

	(void)one;
	if (status_of(transfer) != 200)
		return size;
	if (transfer->unknown || transfer->contradicts)
		return 0;
	return body_take(transfer->body, data, size) ? size : 0;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
	char line[FETCH_HEADER_MAX + 64];

	if (!*value)
		return list;
	snprintf(line, sizeof(line), "%s: %s", name, value);
	return curl_slist_append(list, line) ?: list;
}

static struct curl_slist *headers_of(const struct fetch_request *request,
				     const struct credentials *credentials)
{
	struct curl_slist *list = add_header(NULL, "Accept-Encoding", "gzip");

	list = add_header(list, "If-None-Match", request->etag);
	list = add_header(list, "If-Modified-Since", request->modified);
	list = add_header(list, "X-Api-Key", credentials->key);
	return request->kind == FETCH_POST ? add_header(list, "Content-Type", "application/json")
					   : list;
}

/* The socket that is connected already, whatever host the URL names. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	const struct credentials *credentials = context;

	(void)purpose;
	(void)address;
	return dup(credentials->socket);
}

static int socket_is_connected(void *context, curl_socket_t fd, curlsocktype purpose)
{
	(void)context;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* Without memory for it, the list stays as it is. */
static void append_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer)
		*list = longer;
}

/* Those that say who asks, and then the others. */
static struct curl_slist *known_headers(const struct credentials *credentials,
					const struct curl_slist *others)
{
	struct curl_slist *list = NULL;
	char line[FETCH_SECRET_MAX];

	for (const char *at = credentials->headers; *at; at += *at == '\n') {
		size_t size = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)size, at);
		append_header(&list, line);
		at += size;
	}
	for (; others; others = others->next)
		append_header(&list, others->data);
	return list;
}

/* Whether this request says who asks. */
static CURLcode introduce(const struct transfer *transfer, bool known)
{
	const char *user = transfer->credentials->user;
	CURLcode bad = curl_easy_setopt(transfer->curl, CURLOPT_HTTPHEADER,
					known ? transfer->known : transfer->headers);

	return bad
		       ?: curl_easy_setopt(transfer->curl, CURLOPT_USERPWD,
					   known && *user ? user : NULL);
}

/* For a server that knows us. */
static CURLcode set_up_known(const struct transfer *transfer)
{
	const struct credentials *known = transfer->credentials;
	struct curl_blob cert = {known->cert, known->cert_size, CURL_BLOB_NOCOPY};
	struct curl_blob cert_key = {known->cert_key, known->cert_key_size, CURL_BLOB_NOCOPY};
	CURL *curl = transfer->curl;
	CURLcode bad = 0;

#define SET(option, value) bad = bad ?: curl_easy_setopt(curl, option, value)
	SET(CURLOPT_PROXY, "");
	if (known->cert) {
		SET(CURLOPT_SSLCERT_BLOB, &cert);
		SET(CURLOPT_SSLKEY_BLOB, &cert_key);
	}
	if (known->socket >= 0) {
		SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
		SET(CURLOPT_OPENSOCKETDATA, known);
		SET(CURLOPT_SOCKOPTFUNCTION, socket_is_connected);
	}
	if (transfer->request->kind == FETCH_POST)
		SET(CURLOPT_POSTFIELDS, transfer->request->post);
#undef SET
	return bad;
}

static bool set_up(struct transfer *transfer)
{
	CURL *curl = transfer->curl;
	struct curl_blob blob = {certificates.text, certificates.size, CURL_BLOB_NOCOPY};
	CURLcode bad = 0;

#define SET(option, value) bad = bad ?: curl_easy_setopt(curl, option, value)
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_CAPATH, NULL);
	SET(CURLOPT_CAINFO, NULL);
	if (certificates.size)
		SET(CURLOPT_CAINFO_BLOB, &blob);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT, CONNECT_MAX);
	SET(CURLOPT_TIMEOUT, (long)transfer->request->seconds);
	SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)transfer->request->max_bytes);
	SET(CURLOPT_USERAGENT, "xdp-bloom/0.1");
	SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	SET(CURLOPT_FILETIME, 1L);
	SET(CURLOPT_ERRORBUFFER, transfer->errors);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, transfer);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, transfer);
#undef SET
	if (!bad && transfer->request->kind != FETCH_LIST)
		bad = set_up_known(transfer);
	return !bad;
}

static enum fetch_outcome outcome_of(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return FETCH_NO_NAME;
	case CURLE_OPERATION_TIMEDOUT:
		return FETCH_TIMEOUT;
	case CURLE_PARTIAL_FILE:
		return FETCH_TRUNCATED;
	case CURLE_FILESIZE_EXCEEDED:
		return FETCH_TOO_LARGE;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return FETCH_TLS;
	case CURLE_COULDNT_CONNECT:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL: /* no HTTP; that of the URL was looked at before */
		return FETCH_NO_CONNECTION;
	default:
		return FETCH_FAILED;
	}
}

static void tell_contradiction(struct fetch_result *result)
{
	result_set(result, FETCH_CORRUPT,
		   "the server contradicts itself about where the body ends, so it may have been "
		   "cut off");
}

static void tell_failure(struct transfer *transfer, CURLcode code)
{
	struct fetch_result *result = transfer->result;
	enum fetch_outcome outcome = outcome_of(code);
	const char *text = transfer->errors[0] ? transfer->errors : curl_easy_strerror(code);

	if (transfer->body->detail)
		result_set(result, transfer->body->why, "%s", transfer->body->detail);
	else if (transfer->unknown)
		result_set(result, FETCH_CORRUPT,
			   "the server sent an encoding that was not asked for");
	else if (transfer->contradicts)
		tell_contradiction(result);
	else if (outcome == FETCH_NO_CONNECTION && transfer->body->in)
		result_set(result, FETCH_TRUNCATED, "the connection broke in the body: %s", text);
	else
		result_set(result, outcome, "%s", text);
}

static void judge_body(struct transfer *transfer)
{
	struct fetch_result *result = transfer->result;
	struct body *body = transfer->body;

	if (transfer->contradicts)
		tell_contradiction(result);
	else if (!body_end(body))
		result_set(result, body->why, "%s", body->detail);
	else if (transfer->packed && !body->gzip && body->in)
		result_set(result, FETCH_CORRUPT, "the server says gzip, and sent something else");
	else if (!transfer->framed && !body_shows_end(body) && !transfer->request->accept_unframed)
		result_set(
			result, FETCH_UNFRAMED,
			"the server does not say where the body ends, so it may have been cut off");
	else
		result_set(result, FETCH_TAKEN, "%s", "");
	result->bytes = body->out;
}

static void judge(struct transfer *transfer)
{
	struct fetch_result *result = transfer->result;
	bool asked = *transfer->request->etag || *transfer->request->modified;
	curl_off_t after = 0, date = -1;

	result->status = (uint32_t)status_of(transfer);
	curl_easy_getinfo(transfer->curl, CURLINFO_RETRY_AFTER, &after);
	curl_easy_getinfo(transfer->curl, CURLINFO_FILETIME_T, &date);
	result->retry_after = after > 0 && after <= UINT32_MAX ? (uint32_t)after : 0;
	result->content_time = date > 0 ? date : 0;
	if (result->status == 200)
		judge_body(transfer);
	else if (result->status == 201 && transfer->request->kind == FETCH_POST)
		result_set(result, FETCH_TAKEN, "%s", "");
	else if (result->status == 304 && asked)
		result_set(result, FETCH_UNCHANGED, "%s", "");
	else
		result_set(result, FETCH_HTTP, "HTTP status %u", result->status);
}

/* Where a redirect leads, or NULL after any other answer. A key goes nowhere else. */
static const char *redirect_of(struct transfer *transfer)
{
	char *target = NULL;

	if (transfer->request->kind != FETCH_LIST)
		return NULL;
	curl_easy_getinfo(transfer->curl, CURLINFO_REDIRECT_URL, &target);
	return status_of(transfer) / 100 == 3 ? target : NULL;
}

/* Whether another request follows, for url. */
static bool follow(struct transfer *transfer, char url[FETCH_URL_MAX], unsigned int *hops)
{
	struct fetch_result *result = transfer->result;
	const char *target = redirect_of(transfer);
	bool weaker;

	if (!target)
		return false;
	weaker = !is_https(target) && (!is_http(target) || is_https(url));
	result->status = (uint32_t)status_of(transfer);
	if (weaker)
		result_set(result, FETCH_REDIRECT_REFUSED, "refused a redirect from %s to %.*s",
			   is_https(url) ? "https" : "http", (int)strcspn(target, "/?#"), target);
	else if (++*hops > FETCH_REDIRECTS)
		result_set(result, FETCH_REDIRECT_LOOP, "more than %u redirects", FETCH_REDIRECTS);
	else if (strlen(target) >= FETCH_URL_MAX)
		result_set(result, FETCH_REDIRECT_REFUSED, "a redirect to a URL that is too long");
	else {
		strcpy(url, target);
		return true;
	}
	return false;
}

/* Scheme, host and port, as far as they are written in the same way. */
static bool is_same_origin(const char *one, const char *other)
{
	const char *host = strstr(one, "://");
	size_t size = host ? (size_t)(host + 3 - one) + strcspn(host + 3, "/?#") : 0;

	return size && !strncasecmp(one, other, size) && strchr("/?#", other[size]);
}

static void request_all(struct transfer *transfer)
{
	char url[FETCH_URL_MAX];
	unsigned int hops = 0;
	bool known = true;
	CURLcode code;

	strcpy(url, transfer->request->url);
	do {
		transfer->result->outcome = FETCH_OUTCOME_COUNT;
		begin_answer(transfer);
		/* What says who asks does not come back by way of another host. */
		known = known && is_same_origin(transfer->request->url, url);
		code = introduce(transfer, known);
		if (!code)
			code = curl_easy_setopt(transfer->curl, CURLOPT_URL, url);
		if (!code)
			code = curl_easy_perform(transfer->curl);
		if (code) {
			transfer->result->status = (uint32_t)status_of(transfer);
			tell_failure(transfer, code);
			return;
		}
	} while (follow(transfer, url, &hops));
	if (transfer->result->outcome == FETCH_OUTCOME_COUNT)
		judge(transfer);
}

void transfer_run(const struct fetch_request *request, const struct credentials *credentials,
		  struct body *body, struct fetch_result *result)
{
	struct transfer transfer = {.request = request,
				    .credentials = credentials,
				    .body = body,
				    .result = result,
				    .curl = curl_easy_init()};

	transfer.headers = headers_of(request, credentials);
	transfer.known = known_headers(credentials, transfer.headers);
	if (!transfer.curl || !set_up(&transfer))
		result_set(result, FETCH_FAILED, "libcurl refuses its options");
	else
		request_all(&transfer);
	curl_easy_cleanup(transfer.curl);
	curl_slist_free_all(transfer.headers);
	curl_slist_free_all(transfer.known);
}

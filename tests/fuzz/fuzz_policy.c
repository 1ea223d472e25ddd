/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of Postfix's policy delegation. Read in pieces, they are the same as read at once, and
 * the same as another reader finds, which takes each line as a whole; and each answer is a single
 * action. The first byte says how large the pieces are.
 */
#include "bloomd/postfix/answer.h"
#include "requests.h"

static void check_answer(const struct policy *policy)
{
	const struct postfix_config config = {.senders = "list\0"};
	const struct answer_view view = {.config = &config, .unreadable = "out of order"};
	struct answer answer;

	answer_policy(&view, policy, &answer);
	must(strlen(answer.text) == answer.size && answer.size > 2);
	must(!strcmp(answer.text, "action=DUNNO\n\n") ||
	     !strcmp(answer.text, "action=DEFER_IF_PERMIT Service temporarily unavailable\n\n"));
	must(answer.failed == !strstr(answer.text, "DUNNO"));
}

static enum postfix_result read_piece(void *request, const char *bytes, size_t size, size_t *used)
{
	return policy_read(request, bytes, size, used);
}

static void check_request(void *request, FILE *out)
{
	const struct policy *policy = request;

	must(strlen(policy->address) < sizeof(policy->address));
	must(strlen(policy->port) < sizeof(policy->port));
	must(strlen(policy->domain) < sizeof(policy->domain));
	fprintf(out, "%s,%s,%s;", policy->address, policy->port, policy->domain);
	check_answer(policy);
}

static char *read_all(const char *bytes, size_t size, size_t piece)
{
	struct policy policy = {0};

	return read_in_pieces(bytes, size, piece,
			      &(struct reader){read_piece, check_request, &policy});
}

static bool begins(const char *line, const char *name)
{
	return !strncmp(line, name, strlen(name)) && line[strlen(name)] == '=';
}

static void set(char *room, size_t size, const char *line, size_t length)
{
	const char *value = strchr(line, '=') + 1;

	snprintf(room, size, "%s", length <= POLICY_LINE && strlen(value) < size ? value : "");
}

/* Of what a line has behind its last @. */
static void set_domain(char room[XB_NAME_BYTES], const char *line, size_t length)
{
	const char *at = strrchr(strchr(line, '='), '@');

	snprintf(room, XB_NAME_BYTES, "%s",
		 at && length <= POLICY_LINE && strlen(at + 1) < XB_NAME_BYTES ? at + 1 : "");
}

/* The same by another way. */
static char *read_lines(const char *bytes, size_t size)
{
	char address[64] = "", port[8] = "", domain[XB_NAME_BYTES] = "", line[1 << 16], *text;
	size_t length;
	bool wrong = false;
	FILE *out = open_memstream(&text, &length);

	must(out);
	while (size && !wrong) {
		const char *end = memchr(bytes, '\n', size);
		size_t used = end ? (size_t)(end - bytes) : size;

		must(used < sizeof(line));
		memcpy(line, bytes, used);
		line[used] = '\0';
		if (!end)
			break;
		bytes += used + 1;
		size -= used + 1;
		if (used > POLICY_LINE)
			line[POLICY_LINE] = '\0';
		if (!used) {
			fprintf(out, "%s,%s,%s;", address, port, domain);
			address[0] = port[0] = domain[0] = '\0';
		} else if (!strchr(line, '=')) {
			wrong = used <= POLICY_LINE;
		} else if (begins(line, "client_address")) {
			set(address, sizeof(address), line, used);
		} else if (begins(line, "server_port")) {
			set(port, sizeof(port), line, used);
		} else if (begins(line, "sender")) {
			set_domain(domain, line, used);
		} else if (begins(line, "request")) {
			wrong = used > POLICY_LINE || strcmp(line, "request=smtpd_access_policy");
		}
	}
	fputs(wrong ? "!" : "", out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole, *pieces, *lines;

	if (!size)
		return 0;
	whole = read_all((const char *)data + 1, size - 1, size);
	pieces = read_all((const char *)data + 1, size - 1, 1 + data[0] % 50U);
	lines = read_lines((const char *)data + 1, size - 1);
	must(!strcmp(whole, pieces));
	must(!strcmp(whole, lines));
	free(whole);
	free(pieces);
	free(lines);
	return 0;
}

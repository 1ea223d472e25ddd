/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/policy.h"

#include <string.h>

#define REQUEST "smtpd_access_policy"

static void keep(char *room, size_t size, const char *value)
{
	size_t length = strlen(value);

	memcpy(room, value, length < size ? length + 1 : 0);
	if (length >= size)
		room[0] = '\0';
}

/* Behind the last @, as a local part may have some in quotes; "": there is none. */
static const char *domain_of(const char *sender)
{
	const char *at = strrchr(sender, '@');

	return at ? at + 1 : "";
}

/* False: it is no attribute, or says that this is another kind of request. */
static bool take_line(struct policy *policy)
{
	char *value = strchr(policy->line, '=');

	if (!value)
		return policy->size > POLICY_LINE;
	*value++ = '\0';
	if (policy->size > POLICY_LINE)
		value = "";
	if (!strcmp(policy->line, "client_address"))
		keep(policy->address, sizeof(policy->address), value);
	else if (!strcmp(policy->line, "server_port"))
		keep(policy->port, sizeof(policy->port), value);
	else if (!strcmp(policy->line, "sender"))
		keep(policy->domain, sizeof(policy->domain), domain_of(value));
	else if (!strcmp(policy->line, "request"))
		return !strcmp(value, REQUEST);
	return true;
}

static enum postfix_result end_line(struct policy *policy)
{
	enum postfix_result result = POSTFIX_MORE;

	if (!policy->size) {
		policy->over = true;
		return POSTFIX_REQUEST;
	}
	policy->line[policy->size < POLICY_LINE ? policy->size : POLICY_LINE] = '\0';
	if (!take_line(policy))
		result = POSTFIX_WRONG;
	policy->size = 0;
	return result;
}

enum postfix_result policy_read(struct policy *policy, const char *bytes, size_t size, size_t *used)
{
	enum postfix_result result = POSTFIX_MORE;

	*used = 0;
	while (result == POSTFIX_MORE && *used < size) {
		char byte = bytes[(*used)++];

		if (policy->over)
			*policy = (struct policy){0};
		if (byte == '\n') {
			result = end_line(policy);
			continue;
		}
		if (policy->size < POLICY_LINE)
			policy->line[policy->size] = byte;
		/* More bytes than are kept are not told apart. */
		if (policy->size <= POLICY_LINE)
			policy->size++;
	}
	return result;
}

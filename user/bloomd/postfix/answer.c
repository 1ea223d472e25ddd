/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/postfix/action.h"
#include "bloomd/postfix/listed.h"

#define SMTP 25

#define LISTED	    "REJECT %a is listed (%l)"
#define COUNTED	    "DUNNO"
#define UNAVAILABLE "DEFER_IF_PERMIT Service temporarily unavailable"

/* Finds what is to be done; returns an error with its message. */
static int find_action(const struct answer_view *view, const struct listed_question *question,
		       char out[ACTION_TEXT])
{
	const struct postfix_config *config = view->config;
	char asked[XB_ENTRY_TEXT];
	struct listed listed;
	const char *action = "DUNNO";
	int error = view->unreadable[0] ? xb_system_error(0, "%s", view->unreadable) : 0;

	if (!error)
		error = listed_find(view->txn, question, &listed);
	if (error)
		return error;
	if (listed.how == LISTED_DROPPED)
		action = config->listed ?: LISTED;
	if (listed.how == LISTED_COUNTED)
		action = config->counted ?: COUNTED;
	action_format(action, xb_entry_format(question->entry, asked), listed.lists, out);
	return 0;
}

/* --- socketmap ---------------------------------------------------------------------------------
 */

/* As a netstring; a message has no characters that end a line. */
static void reply_map(struct answer *answer, const char *status, const char *text)
{
	answer->size = (size_t)snprintf(answer->text, sizeof(answer->text), "%zu:%s %s,",
					strlen(status) + 1 + strlen(text), status, text);
}

static void fail_map(struct answer *answer, const char *status)
{
	char text[ACTION_TEXT];

	snprintf(text, sizeof(text), "%s", xb_error_message());
	xb_utf8_clean(text);
	reply_map(answer, status, text);
	answer->failed = true;
}

static int read_name(const char *name, struct listed_question *question, struct xb_service *service)
{
	question->list = xb_list_name_ok(name) ? name : NULL;
	question->to = service;
	if (question->list || !xb_service_parse(name, service))
		return 0;
	return xb_input_error("'%s' is neither the name of a list nor a service such as tcp/25",
			      XB_SHOW(name));
}

void answer_socketmap(const struct answer_view *view, struct socketmap *map, struct answer *answer)
{
	struct listed_question question = {0};
	const char *name, *key, *domain;
	uint8_t form[XB_NAME_BYTES];
	struct xb_service service;
	char action[ACTION_TEXT];
	struct xb_entry entry;

	*answer = (struct answer){0};
	socketmap_split(map, &name, &key);
	domain = strrchr(key, '@');
	key = domain ? domain + 1 : key;
	question.entry = &entry;
	if (read_name(name, &question, &service))
		fail_map(answer, "PERM");
	else if (xb_entry_parse(key, strlen(key), form, &entry, NULL))
		reply_map(answer, "NOTFOUND", "");
	else if (find_action(view, &question, action))
		fail_map(answer, "TEMP");
	else if (action_is_none(action))
		reply_map(answer, "NOTFOUND", "");
	else
		reply_map(answer, "OK", action);
}

/* --- policy ------------------------------------------------------------------------------------
 */

static uint16_t port_of(const struct policy *policy)
{
	unsigned long port = strtoul(policy->port, NULL, 10);

	return port && port < 65536 ? (uint16_t)port : SMTP;
}

/* A client without an address, such as a program of this machine, is called "unknown". */
static int judge_client(const struct answer_view *view, const struct policy *policy,
			char action[ACTION_TEXT])
{
	uint16_t port = port_of(policy);
	const struct xb_service service = {XB_SERVICE_TCP, port, port};
	struct xb_entry entry;
	const struct listed_question question = {.entry = &entry, .to = &service};

	if (xb_entry_parse(policy->address, strlen(policy->address), NULL, &entry, NULL))
		return 0;
	return find_action(view, &question, action);
}

static int judge_sender(const struct answer_view *view, const struct policy *policy,
			char action[ACTION_TEXT])
{
	const char *list = view->config->senders;
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	int error = 0;

	if (!list || xb_entry_parse(policy->domain, strlen(policy->domain), form, &entry, NULL))
		return 0;
	for (; !error && *list && action_is_none(action); list += strlen(list) + 1)
		error = find_action(view, &(struct listed_question){.entry = &entry, .list = list},
				    action);
	return error;
}

void answer_policy(const struct answer_view *view, const struct policy *policy,
		   struct answer *answer)
{
	char action[ACTION_TEXT] = "DUNNO";
	int error = judge_client(view, policy, action);

	*answer = (struct answer){0};
	if (!error && action_is_none(action))
		error = judge_sender(view, policy, action);
	if (error) {
		action_format(view->config->unavailable ?: UNAVAILABLE, policy->address, "",
			      action);
		answer->failed = true;
	}
	answer->size =
		(size_t)snprintf(answer->text, sizeof(answer->text), "action=%s\n\n", action);
}

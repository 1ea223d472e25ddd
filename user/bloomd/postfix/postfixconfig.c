/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/postfixconfig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/listener.h"
#include "bloomd/postfix/action.h"

static int set_path(char **path, const char *value)
{
	if (*value != '/' || value[strlen(value) - 1] == '/')
		return xb_input_error("'%s' is not the absolute path of a socket", XB_SHOW(value));
	if (strlen(value) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return xb_input_error("the path of a socket has at most %zu bytes",
				      sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	return config_set_text(path, value);
}

static int set_socketmap(struct config *config, const char *value)
{
	return set_path(&config->postfix.socketmap, value);
}

static int set_policy(struct config *config, const char *value)
{
	return set_path(&config->postfix.policy, value);
}

static int set_group(struct config *config, const char *value)
{
	gid_t id;
	int error = listener_group(value, &id);

	return error ? error : config_set_text(&config->postfix.group, value);
}

static int set_mode(struct config *config, const char *value)
{
	return config_set_mode(value, &config->postfix.mode);
}

static int set_action(char **action, const char *value)
{
	int error = action_check(value);

	return error ? error : config_set_text(action, value);
}

static int set_listed(struct config *config, const char *value)
{
	return set_action(&config->postfix.listed, value);
}

static int set_counted(struct config *config, const char *value)
{
	return set_action(&config->postfix.counted, value);
}

static int set_unavailable(struct config *config, const char *value)
{
	return set_action(&config->postfix.unavailable, value);
}

/* The name of a list, behind those in *names, of which *size bytes are used. */
static int add_sender_list(char **names, size_t *size, const char *word)
{
	char *name = NULL, *grown;
	int error = config_set_list(&name, word);
	size_t bytes = error ? 0 : strlen(name) + 1;

	grown = error ? NULL : realloc(*names, *size + bytes + 1);
	if (grown) {
		*names = grown;
		memcpy(grown + *size, name, bytes);
		*size += bytes;
		grown[*size] = '\0';
	}
	free(name);
	return error || grown ? error : xb_out_of_memory();
}

/* Names with blanks or commas between them. */
static int set_senders(struct config *config, const char *value)
{
	char *copy = strdup(value), *rest = NULL, *names = NULL;
	char *word = copy ? strtok_r(copy, " ,\t", &rest) : NULL;
	int error = !copy ? xb_out_of_memory() : word ? 0 : xb_input_error("no list");
	size_t size = 0;

	for (; !error && word; word = strtok_r(NULL, " ,\t", &rest))
		error = add_sender_list(&names, &size, word);
	free(copy);
	if (error) {
		free(names);
		return error;
	}
	free(config->postfix.senders);
	config->postfix.senders = names;
	return 0;
}

const struct config_key postfix_keys[] = {
	{"socketmap", set_socketmap},
	{"policy", set_policy},
	{"group", set_group},
	{"mode", set_mode},
	{"listed", set_listed},
	{"counted", set_counted},
	{"unavailable", set_unavailable},
	{"senders", set_senders},
	{0},
};

int postfix_config_check(const struct postfix_config *config)
{
	if (config->socketmap && config->policy && !strcmp(config->socketmap, config->policy))
		return xb_input_error("[postfix] socketmap and policy need a socket each");
	if (config->senders && !config->policy)
		return xb_input_error("[postfix] senders is for the policy, which has no socket");
	return 0;
}

void postfix_config_free(struct postfix_config *config)
{
	free(config->socketmap);
	free(config->policy);
	free(config->group);
	free(config->listed);
	free(config->counted);
	free(config->unavailable);
	free(config->senders);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/postfix/postfixconfig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/postfix/action.h"

static int set_path(const struct config_key *key, void *section, const char *value)
{
	if (*value != '/' || value[strlen(value) - 1] == '/')
		return xb_input_error("'%s' is not the absolute path of a socket", XB_SHOW(value));
	if (strlen(value) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return xb_input_error("the path of a socket has at most %zu bytes",
				      sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	return config_text(key, section, value);
}

static int set_action(const struct config_key *key, void *section, const char *value)
{
	int error = action_check(value);

	return error ? error : config_text(key, section, value);
}

/* The name of a list, behind those in *names, of which *size bytes are used. */
static int add_sender_list(char **names, size_t *size, const char *name)
{
	int error = config_check_list(name);
	size_t bytes = strlen(name) + 1;
	char *grown = error ? NULL : realloc(*names, *size + bytes + 1);

	if (!grown)
		return error ? error : xb_out_of_memory();
	*names = grown;
	memcpy(grown + *size, name, bytes);
	*size += bytes;
	grown[*size] = '\0';
	return 0;
}

/* Names with blanks or commas between them. */
static int set_senders(const struct config_key *key, void *section, const char *value)
{
	struct postfix_config *postfix = section;
	char *copy = strdup(value), *rest = NULL, *names = NULL;
	char *word = copy ? strtok_r(copy, " ,\t", &rest) : NULL;
	int error = !copy ? xb_out_of_memory() : word ? 0 : xb_input_error("no list");
	size_t size = 0;

	(void)key;
	for (; !error && word; word = strtok_r(NULL, " ,\t", &rest))
		error = add_sender_list(&names, &size, word);
	free(copy);
	if (error) {
		free(names);
		return error;
	}
	free(postfix->senders);
	postfix->senders = names;
	return 0;
}

const struct config_key postfix_keys[] = {
	CONFIG_KEY("socketmap", set_path, postfix_config, socketmap),
	CONFIG_KEY("policy", set_path, postfix_config, policy),
	CONFIG_KEY("group", config_group, postfix_config, group),
	CONFIG_KEY("mode", config_mode, postfix_config, mode),
	CONFIG_KEY("listed", set_action, postfix_config, listed),
	CONFIG_KEY("counted", set_action, postfix_config, counted),
	CONFIG_KEY("unavailable", set_action, postfix_config, unavailable),
	CONFIG_KEY("senders", set_senders, postfix_config, senders),
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

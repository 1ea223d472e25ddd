/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of [api]. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/listener.h"
#include "bloomd/base/config.h"

static int set_switch(bool *value, const char *text)
{
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return xb_input_error("'%s' is neither yes nor no", XB_SHOW(text));
	*value = !strcmp(text, "yes");
	return 0;
}

static int set_off(struct config *config, const char *value)
{
	bool on = false;
	int error = set_switch(&on, value);

	config->api.off = !on;
	return error;
}

/* It has to be there by now: a reload that finds none must change nothing. */
static int set_any_group(char **group, const char *value)
{
	gid_t id;
	int error = listener_group(value, &id);

	return error ? error : config_set_text(group, value);
}

static int set_group(struct config *config, const char *value)
{
	return set_any_group(&config->api.group, value);
}

static int set_query_group(struct config *config, const char *value)
{
	return set_any_group(&config->api.query_group, value);
}

static int set_query_mode(struct config *config, const char *value)
{
	return config_set_mode(value, &config->api.query_mode);
}

static int set_clients(struct config *config, const char *value)
{
	char *end;
	unsigned long count = strtoul(value, &end, 10);

	if (end == value || *end || *value == '-' || !count || count > 100000)
		return xb_input_error("'%s' is not a number of clients from 1 to 100000",
				      XB_SHOW(value));
	config->api.clients = (unsigned int)count;
	return 0;
}

static int set_allow(struct config *config, const char *value)
{
	return set_switch(&config->api.allow, value);
}

const struct config_key api_keys[] = {
	{"enabled", set_off},
	{"group", set_group},
	{"query-group", set_query_group},
	{"query-mode", set_query_mode},
	{"clients", set_clients},
	{"allow", set_allow},
	{0},
};

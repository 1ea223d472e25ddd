/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/base/config.h"

const struct config_key api_keys[] = {
	CONFIG_KEY("enabled", config_no, api_config, off),
	CONFIG_KEY("group", config_group, api_config, group),
	CONFIG_KEY("query-group", config_group, api_config, query_group),
	CONFIG_KEY("query-mode", config_mode, api_config, query_mode),
	CONFIG_KEY("clients", config_number, api_config, clients, 100000),
	CONFIG_KEY("allow", config_yes, api_config, allow),
	{0},
};

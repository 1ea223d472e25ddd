/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One command of iptables, in a file or a script: its words and options. */
#ifndef XB_LISTS_IPTABLESCOMMAND_H
#define XB_LISTS_IPTABLESCOMMAND_H

#include "lists/firewall.h"
#include "lists/format.h"

#define XB_IPTABLES_WORDS  512
#define XB_IPTABLES_RUN_IT "; when it is in force, `iptables-save` writes what is"

/* A command that is taken apart. */
struct xb_iptables_command {
	struct xb_reading *reading;
	char *words[XB_IPTABLES_WORDS];
	bool quoted[XB_IPTABLES_WORDS]; /* such a word is no option */
	size_t count, at;
	const char *shown; /* as the file writes it */
	const char *table;
	bool by_program, ipv6;

	char verb; /* as an option: 'A' */
	const char *chain, *number, *policy;

	bool negated; /* the option that follows is */
	bool not_sources, not_destinations, not_range, resets, has_protocol;
	bool never; /* no packet that arrives is matched */
	bool goes;
	char *sources;
	const char *range, *comment, *target;
	size_t destinations;
	struct xb_firewall_rule rule;
};

/* Takes the words of one command, which are cut up; *rest is behind it. */
int xb_iptables_take_words(struct xb_iptables_command *command, char **rest);

/* Reads all words behind command->at as options. */
int xb_iptables_take_options(struct xb_iptables_command *command);

/* Keeps what the rule asks for besides its source, in words such as "a port". for_service: a list
 * with a scope can have that condition. */
void xb_iptables_add_condition(struct xb_iptables_command *command, const char *words,
			       bool for_service);

int xb_iptables_refuse_script(const struct xb_iptables_command *command);

#endif

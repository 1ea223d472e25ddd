/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/addnotes.h"

#include "base/error.h"
#include "engine/control.h"
#include "model/bogon.h"
#include "model/request.h"

/* Who types a single address means it. */
static bool is_network(const struct xb_entry *entry)
{
	return !xb_entry_is_name(entry) && entry->length < (xb_entry_is_ipv4(entry) ? 32 : 128);
}

static void tell_special(const struct xb_edit *edit)
{
	char text[XB_ENTRY_TEXT];

	if (edit->terms.allow || edit->terms.force)
		return;
	for (size_t i = 0; i < edit->count; i++) {
		const struct xb_entry *entry = &edit->entries[i];
		const char *why = is_network(entry) ? xb_bogon(entry) : NULL;

		if (why)
			xb_notice("%s is %s, which `bloomctl import` leaves out; if it is not "
				  "meant: bloomctl del %s",
				  xb_entry_format(entry, text), why, text);
	}
}

static void tell_domains(const struct xb_edit *edit)
{
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < edit->count; i++) {
		if (!xb_entry_is_name(&edit->entries[i]) || edit->entries[i].kind == XB_EXCEPT_NAME)
			continue;
		xb_notice("%s is a domain: DNS queries for it are meant, and no packets from its "
			  "hosts; for those, %s their addresses",
			  xb_entry_format(&edit->entries[i], text),
			  edit->terms.allow ? "allow" : "list");
		return;
	}
}

static void tell_exceptions(const struct xb_edit *edit)
{
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < edit->count; i++) {
		const struct xb_entry *entry = &edit->entries[i];

		if (entry->kind != XB_EXCEPT_NAME)
			continue;
		xb_entry_format(entry, text);
		xb_notice(
			"%s is an exception: list %s lets queries for it pass, and other lists may "
			"block them (bloomctl test %s); what passes whatever is listed: bloomctl "
			"allow add %s",
			text, edit->terms.list ?: XB_DEFAULT_LIST, text + 1, text + 1);
		return;
	}
}

void addnotes_timeout(const struct cli *cli)
{
	if (!xb_control_expiry_is_tended(&cli->paths))
		xb_notice("nothing on this machine ends entries in time: neither bloomd nor the "
			  "timer xdp-bloom-expire runs. What has expired stays in force until "
			  "`bloomctl expire` or another command that writes");
}

void addnotes_tell(const struct cli *cli, const struct xb_edit *edit)
{
	tell_special(edit);
	tell_domains(edit);
	tell_exceptions(edit);
	if (edit->terms.timeout)
		addnotes_timeout(cli);
}

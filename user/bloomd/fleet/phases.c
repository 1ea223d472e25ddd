/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The phases of the fleet that people see. One that fails is tried again and again: until something
 * works, they see the failure, and are told of it once. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/fleet/parts.h"

/* What it tries again and again is not for people. */
static bool is_try(enum fleet_phase phase)
{
	return phase == FLEET_READING || phase == FLEET_RESYNCING || phase == FLEET_REWINDING ||
	       phase == FLEET_BEGINNING;
}

enum fleet_phase fleet_shown(const struct fleet *fleet)
{
	return fleet->failing && is_try(fleet->phase) ? FLEET_FAILED : fleet->phase;
}

void fleet_enter(struct fleet *fleet, enum fleet_phase phase, const char *format, ...)
{
	enum fleet_phase before = fleet_shown(fleet);
	char message[sizeof(fleet->message)] = "";
	va_list arguments;

	if (format) {
		va_start(arguments, format);
		vsnprintf(message, sizeof(message), format, arguments);
		va_end(arguments);
	}
	xb_utf8_clean(message);
	fleet->phase = phase;
	if (fleet_shown(fleet) != phase)
		return;
	fleet->failing = phase == FLEET_FAILED;
	if (phase == before && !strcmp(message, fleet->message))
		return;
	if (phase != before)
		fleet->since = clock_now();
	strcpy(fleet->message, message);
	reporting_save(fleet);
}

void fleet_fail(struct fleet *fleet, uint64_t delay, const char *format, ...)
{
	char message[sizeof(fleet->message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	xb_utf8_clean(message);
	if (fleet_shown(fleet) != FLEET_FAILED || strcmp(message, fleet->message) != 0)
		xb_warning("fleet: %s; what is listed stays", message);
	fleet_enter(fleet, FLEET_FAILED, "%s", message);
	fleet_then(fleet, delay, reading_check);
}

void fleet_works(struct fleet *fleet)
{
	enum fleet_phase phase = fleet->phase;

	*fleet->bad = '\0';
	fleet->resync.failures = 0;
	fleet->snapshots.wanted = 0;
	if (!fleet->failing)
		return;
	fleet->failing = false;
	fleet->phase = FLEET_FAILED;
	fleet_enter(fleet, phase == FLEET_FAILED ? FLEET_READING : phase, NULL);
}

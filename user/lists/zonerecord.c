/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ldns is loaded with the first record that it has to read: OpenSSL, on which it stands, would
 * treble what a command takes to start. */
#include "lists/zonerecord.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libldns.so.3"

static struct {
	typeof(&ldns_dname_new_frm_str) name_of;
	typeof(&ldns_rr_new_frm_str) record_of;
	typeof(&ldns_rdf2str) text_of;
	typeof(&ldns_rdf_deep_free) free_name;
	typeof(&ldns_rr_free) free_record;
} library;

static int load(void)
{
	void *handle;

	if (library.free_record)
		return 0;
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return xb_system_error(0, "records of zones need libldns: %s", dlerror());
	*(void **)&library.name_of = dlsym(handle, "ldns_dname_new_frm_str");
	*(void **)&library.record_of = dlsym(handle, "ldns_rr_new_frm_str");
	*(void **)&library.text_of = dlsym(handle, "ldns_rdf2str");
	*(void **)&library.free_name = dlsym(handle, "ldns_rdf_deep_free");
	*(void **)&library.free_record = dlsym(handle, "ldns_rr_free");
	if (library.name_of && library.record_of && library.text_of && library.free_name &&
	    library.free_record)
		return 0;
	library.free_record = NULL;
	return xb_system_error(0, "%s is of another version", LIBRARY);
}

static char *text_of(const ldns_rdf *data)
{
	char *text = data ? library.text_of(data) : strdup("");
	size_t size = text ? strlen(text) : 0;

	if (size && text[size - 1] == '.')
		text[size - 1] = '\0';
	return text;
}

static int take_record(const ldns_rr *read, struct xb_zone_record *record)
{
	record->type = read->_rr_type;
	record->owner = text_of(read->_owner);
	record->data = text_of(read->_rd_count ? read->_rdata_fields[0] : NULL);
	if (record->owner && record->data)
		return 0;
	xb_zone_record_free(record);
	return xb_out_of_memory();
}

int xb_zone_record_read(const char *text, const char *origin, struct xb_zone_record *record)
{
	ldns_rdf *below;
	ldns_rr *read = NULL;
	int error = load();

	if (error)
		return error;
	below = library.name_of(*origin ? origin : ".");
	if (!below || library.record_of(&read, text, 0, below, NULL))
		error = -EINVAL;
	else
		error = take_record(read, record);
	library.free_record(read);
	library.free_name(below);
	return error;
}

void xb_zone_record_free(struct xb_zone_record *record)
{
	free(record->owner);
	free(record->data);
}

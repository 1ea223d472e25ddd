/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libidn2 and the tables of libunistring behind it are loaded when the first name needs them: they
 * would be half of what it takes to start, and most commands have no such name. */
#include "model/idn.h"

#include <dlfcn.h>
#include <idn2.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libidn2.so.0"

static struct {
	typeof(&idn2_to_ascii_8z) to_ascii;
	typeof(&idn2_strerror) strerror;
	typeof(&idn2_free) free;
} library;

static int load(void)
{
	void *handle;

	if (library.free)
		return 0;
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return xb_system_error(0, "domains beyond ASCII need libidn2: %s", dlerror());
	*(void **)&library.to_ascii = dlsym(handle, "idn2_to_ascii_8z");
	*(void **)&library.strerror = dlsym(handle, "idn2_strerror");
	*(void **)&library.free = dlsym(handle, "idn2_free");
	if (library.to_ascii && library.strerror && library.free)
		return 0;
	library.free = NULL;
	return xb_system_error(0, "%s is of another version", LIBRARY);
}

char *xb_idn_to_ascii(const char *utf8, const char **why)
{
	char *ascii = NULL, *copy;
	int code;

	*why = NULL;
	if (load())
		return NULL;
	code = library.to_ascii(utf8, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (code != IDN2_OK) {
		*why = library.strerror(code);
		return NULL;
	}
	copy = strdup(ascii);
	library.free(ascii);
	if (!copy)
		xb_out_of_memory();
	return copy;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmap(2) page by page into a reserved range. */
#include "base/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"

static size_t page_bytes(void)
{
	static size_t bytes;

	if (!bytes)
		bytes = (size_t)sysconf(_SC_PAGESIZE);
	return bytes;
}

int xb_mapping_open(struct xb_mapping *window, int fd, size_t size)
{
	size_t page = page_bytes();
	void *base;

	*window = (struct xb_mapping){.fd = fd, .size = (size + page - 1) / page * page};
	window->mapped = calloc(window->size / page, 1);
	if (!window->mapped)
		return xb_out_of_memory();
	base = mmap(NULL, window->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	if (base == MAP_FAILED) {
		free(window->mapped);
		window->mapped = NULL;
		return xb_system_error(errno, "cannot reserve %zu bytes of address space",
				       window->size);
	}
	window->base = base;
	return 0;
}

static int map_range(struct xb_mapping *window, size_t offset, size_t size)
{
	void *place = mmap(window->base + offset, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, window->fd, (off_t)offset);

	return place == MAP_FAILED
		       ? xb_system_error(errno, "cannot map %zu bytes of the filter", size)
		       : 0;
}

int xb_mapping_map_all(struct xb_mapping *window)
{
	int error;

	if (!window->mapped)
		return 0;
	error = map_range(window, 0, window->size);
	if (error)
		return error;
	free(window->mapped);
	window->mapped = NULL;
	return 0;
}

int xb_mapping_map(struct xb_mapping *window, size_t offset, size_t size)
{
	size_t page = page_bytes();

	if (!size || offset >= window->size || size > window->size - offset)
		return xb_system_error(0, "the filter has no %zu bytes at %zu%s", size, offset,
				       xb_advice(XB_ADVICE_REBUILD));
	if (!window->mapped)
		return 0;
	for (size_t i = offset / page; i <= (offset + size - 1) / page; i++) {
		int error;

		if (window->mapped[i])
			continue;
		error = map_range(window, i * page, page);
		if (error)
			return error;
		window->mapped[i] = 1;
	}
	return 0;
}

bool xb_mapping_has(const struct xb_mapping *window, size_t offset, size_t size)
{
	size_t page = page_bytes();

	for (size_t i = offset / page; window->mapped && i <= (offset + size - 1) / page; i++)
		if (!window->mapped[i])
			return false;
	return true;
}

void xb_mapping_close(struct xb_mapping *window)
{
	if (window->base)
		munmap(window->base, window->size);
	free(window->mapped);
	*window = (struct xb_mapping){0};
}

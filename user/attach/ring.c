/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/stat.h>

#include "attach/anchor.h"
#include "base/error.h"

int xb_ring_map(struct xb_mapping *window, int map, size_t size)
{
	int error = xb_mapping_open(window, map, size);

	if (!error)
		error = xb_mapping_map_all(window);
	if (error)
		xb_mapping_close(window);
	return error;
}

static int discard(void *context, void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

int xb_ring_empty(int ring)
{
	struct ring_buffer *reader = ring_buffer__new(ring, discard, NULL, NULL);
	int taken = reader ? ring_buffer__consume(reader) : -errno;

	ring_buffer__free(reader);
	return taken < 0 ? xb_system_error(-taken, "cannot read a ring") : 0;
}

bool xb_ring_is_attached(const struct xb_mapping *cells, uint32_t ifindex)
{
	const struct xb_iface_cell *all = (const void *)cells->base;

	for (uint32_t i = 0; i < XB_IFACE_PROBES; i++)
		if (all[(xb_iface_cell_first(ifindex) + i) % XB_IFACE_CELLS].ifindex == ifindex)
			return true;
	return false;
}

int xb_ring_is_in_place(int directory, const char *pins)
{
	char path[XB_PATH_MAX];
	struct stat ours, theirs;
	int error = xb_path_join(path, pins, XB_ANCHOR_PINS);

	if (error)
		return error;
	if (lstat(path, &theirs) < 0)
		return -ENOENT;
	return !fstat(directory, &ours) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

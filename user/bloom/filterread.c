/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters from files: mapped, and believed only if everything fits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "bloom/filterfile.h"

uint32_t xb_filter_body_sum(uint32_t sum, const void *body, size_t size)
{
	/* Of no bytes at NULL, zlib begins a new sum. */
	return size ? (uint32_t)crc32_z(sum, body, size) : sum;
}

uint32_t xb_filter_header_sum(const struct xb_filter_header *header)
{
	struct xb_filter_header copy = *header;

	copy.header_sum = 0;
	return xb_filter_body_sum(0, &copy, sizeof(copy));
}

static int cut_short(const char *name, uint64_t wanted, uint64_t size)
{
	return size < wanted
		       ? xb_input_error("%s is cut short: it has %llu of %llu bytes", name,
					(unsigned long long)size, (unsigned long long)wanted)
		       : xb_input_error("%s is damaged: it has %llu bytes instead of %llu", name,
					(unsigned long long)size, (unsigned long long)wanted);
}

/* Whether the fields are those of a filter; their sum is right. */
static bool is_sound(const struct xb_filter_header *header)
{
	for (size_t i = 0; i < sizeof(header->zero) / sizeof(*header->zero); i++)
		if (header->zero[i])
			return false;
	return header->kind <= XB_FILTER_BLOCKED && header->funnel <= XB_FUNNEL_BYTES &&
	       header->counting <= 1 && (header->slots > 0) == header->counting &&
	       header->slots <= XB_FILTER_BITS_MAX && header->form <= XB_FORM_ENTRIES &&
	       header->rate >= 0 && header->rate < 1;
}

static int take_header(const char *name, const struct xb_filter_header *header,
		       struct xb_filter_info *info)
{
	if (header->version != XB_FILTER_VERSION)
		return xb_input_error("%s has version %u of the format; this program knows %d",
				      name, header->version, XB_FILTER_VERSION);
	if (header->header_sum != xb_filter_header_sum(header) || !is_sound(header))
		return xb_input_error("%s is damaged: its header does not fit its check sum", name);
	*info = (struct xb_filter_info){
		.kind = (enum xb_filter_kind)header->kind,
		.funnel = (enum xb_funnel)header->funnel,
		.form = (enum xb_filter_form)header->form,
		.counting = header->counting,
		.bits = header->bits,
		.hashes = header->hashes,
		.expected = header->expected,
		.insertions = header->insertions,
		.rate = header->rate,
		.key = header->key,
	};
	return xb_error_prefix(xb_filter_check(info), "%s", name);
}

static int take_counters(struct xb_filter *filter, const char *name, uint64_t slots)
{
	uint8_t *behind;

	filter->counters = filter->bits + xb_filter_bits_bytes(&filter->info);
	behind = filter->counters + xb_filter_counters_bytes(&filter->info);
	return xb_fingerprints_adopt(&filter->fingerprints, (uint64_t *)(void *)behind, slots)
		       ? 0
		       : xb_input_error("%s is damaged: it has no free place", name);
}

/* Ours: the file is as long as its header says, and has what was written. */
static int take_ours(struct xb_filter *filter, const char *name, size_t size)
{
	struct xb_filter_header header;
	uint64_t body;
	int error;

	if (size < sizeof(header))
		return cut_short(name, sizeof(header), size);
	memcpy(&header, filter->base, sizeof(header));
	error = take_header(name, &header, &filter->info);
	if (error)
		return error;
	body = xb_filter_bits_bytes(&filter->info) + xb_filter_counters_bytes(&filter->info) +
	       header.slots * 8;
	if (size != sizeof(header) + body)
		return cut_short(name, sizeof(header) + body, size);
	filter->bits = filter->base + sizeof(header);
	if (header.body_sum != xb_filter_body_sum(0, filter->bits, body))
		return xb_input_error("%s is damaged: its content does not fit its check sum",
				      name);
	return filter->info.counting ? take_counters(filter, name, header.slots) : 0;
}

static int no_filter(const char *name)
{
	return xb_input_error("%s is no filter: it begins like neither bloomset's nor Guava's",
			      name);
}

static int take_guavas(struct xb_filter *filter, const char *name, size_t size,
		       enum xb_funnel funnel)
{
	uint64_t wanted;

	if (!xb_guava_header_read(filter->base, size, &filter->info))
		return no_filter(name);
	wanted = XB_GUAVA_HEADER + xb_filter_bits_bytes(&filter->info);
	if (size != wanted)
		return cut_short(name, wanted, size);
	filter->info.funnel = funnel;
	filter->bits = filter->base + XB_GUAVA_HEADER;
	return 0;
}

static int take(struct xb_filter *filter, const char *name, size_t size, enum xb_funnel funnel)
{
	size_t shown = size < sizeof(XB_FILTER_MAGIC) - 1 ? size : sizeof(XB_FILTER_MAGIC) - 1;

	if (!size)
		return xb_input_error("%s is empty", name);
	return memcmp(filter->base, XB_FILTER_MAGIC, shown)
		       ? take_guavas(filter, name, size, funnel)
		       : take_ours(filter, name, size);
}

static int map_file(int fd, const char *name, enum xb_filter_access access,
		    struct xb_filter *filter, size_t *size)
{
	int protection = PROT_READ | (access == XB_FILTER_CHANGE ? PROT_WRITE : 0);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return xb_system_error(errno, "cannot read %s", name);
	*size = (size_t)st.st_size;
	/* An empty one cannot be mapped, and needs to be no more than that. */
	filter->mapped = *size ? *size : 1;
	filter->base = mmap(NULL, filter->mapped, protection, MAP_PRIVATE, fd, 0);
	return filter->base == MAP_FAILED ? xb_system_error(errno, "cannot map %s", name) : 0;
}

/* How long a file of this kind with this beginning is; one that is none is an error already. */
static int whole_size(const uint8_t *head, size_t size, const char *name, uint64_t *whole)
{
	struct xb_filter_header header;
	struct xb_filter_info info = {0};
	int error;

	*whole = size;
	if (size == sizeof(header) && !memcmp(head, XB_FILTER_MAGIC, sizeof(header.magic))) {
		memcpy(&header, head, sizeof(header));
		error = take_header(name, &header, &info);
		if (error)
			return error;
		*whole += xb_filter_bits_bytes(&info) + xb_filter_counters_bytes(&info) +
			  header.slots * sizeof(uint64_t);
	} else if (xb_guava_header_read(head, size, &info)) {
		*whole = XB_GUAVA_HEADER + xb_filter_bits_bytes(&info);
	} else if (size == sizeof(header)) {
		return no_filter(name);
	}
	return 0;
}

/* Copies up to so many bytes; *size: that came. */
static int copy(int from, int to, const char *name, uint64_t most, uint64_t *size)
{
	uint8_t bytes[4096];

	while (*size < most) {
		uint64_t left = most - *size;
		ssize_t got = read(from, bytes, left < sizeof(bytes) ? left : sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got > 0 && write(to, bytes, (size_t)got) != got)
			got = -1;
		if (got < 0)
			return xb_system_error(errno, "cannot read %s", name);
		if (!got)
			return 0;
		*size += (uint64_t)got;
	}
	return 0;
}

/* What a pipe has, as a file in memory: a descriptor, or a negative errno. No more than its header
 * promises, and a byte by which it can be seen that it has more. */
static int drain(int from, const char *name)
{
	uint8_t head[sizeof(struct xb_filter_header)];
	uint64_t size = 0, whole = 0;
	int fd = memfd_create("filter", MFD_CLOEXEC), error;

	if (fd < 0)
		return xb_system_error(errno, "cannot hold %s", name);
	error = copy(from, fd, name, sizeof(head), &size);
	if (!error && pread(fd, head, size, 0) != (ssize_t)size)
		error = xb_system_error(errno, "cannot hold %s", name);
	if (!error)
		error = whole_size(head, size, name, &whole);
	if (!error)
		error = copy(from, fd, name, whole + 1, &size);
	if (!error)
		return fd;
	close(fd);
	return error;
}

static int read_mappable(int fd, const char *name, enum xb_filter_access access,
			 enum xb_funnel funnel, struct xb_filter **out)
{
	struct xb_filter *filter = calloc(1, sizeof(*filter));
	size_t size = 0;
	int error = filter ? map_file(fd, name, access, filter, &size) : xb_out_of_memory();

	if (error) {
		free(filter);
		return error;
	}
	error = take(filter, name, size, funnel);
	if (error)
		xb_filter_free(filter);
	else
		*out = filter;
	return error;
}

int xb_filter_read_fd(int fd, const char *name, enum xb_filter_access access, enum xb_funnel funnel,
		      struct xb_filter **filter)
{
	struct stat st;
	int drained, error;

	if (fstat(fd, &st) < 0)
		return xb_system_error(errno, "cannot read %s", name);
	if (S_ISDIR(st.st_mode))
		return xb_input_error("%s is a directory", name);
	if (S_ISREG(st.st_mode))
		return read_mappable(fd, name, access, funnel, filter);
	drained = drain(fd, name);
	if (drained < 0)
		return drained;
	error = read_mappable(drained, name, access, funnel, filter);
	close(drained);
	return error;
}

int xb_filter_read(const char *path, enum xb_filter_access access, enum xb_funnel funnel,
		   struct xb_filter **filter)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return errno == ENOENT ? xb_input_error("%s does not exist", path)
				       : xb_system_error(errno, "cannot open %s", path);
	error = xb_filter_read_fd(fd, path, access, funnel, filter);
	close(fd);
	return error;
}

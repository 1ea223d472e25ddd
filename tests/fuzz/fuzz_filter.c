/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of filters of both formats: a refusal in one line, or a filter whose figures are figures,
 * which keeps what is put in, and which is written as the same bytes. */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bloom/filterfile.h"
#include "fuzz.h"

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return fd;
}

static void must_be_written_as(const struct xb_filter *filter, const uint8_t *bytes, size_t size)
{
	int fd = file_of("", 0);
	uint8_t *written = malloc(size + 1);

	must(written && !xb_filter_write_fd(filter, fd, "filter"));
	must(pread(fd, written, size + 1, 0) == (ssize_t)size);
	must(!memcmp(written, bytes, size));
	free(written);
	close(fd);
}

static void use(struct xb_filter *filter)
{
	struct xb_filter_info info = xb_filter_inspect(filter);
	double rate = xb_filter_expected_rate(filter);
	struct xb_filter *copy;
	char element[] = "element 0";
	int deleted;

	must(info.set_bits <= xb_filter_words(info.bits) * 64);
	must(!isnan(rate) && rate >= 0);
	xb_filter_approximate_count(filter);
	must(!xb_filter_copy(filter, &copy));
	must(xb_filter_is_compatible(filter, copy));
	for (; element[8] < '5'; element[8]++) {
		bool had = xb_filter_might_contain(filter, element, 9);

		must(xb_filter_put(filter, element, 9) == !had);
		must(xb_filter_might_contain(filter, element, 9));
	}
	deleted = xb_filter_del(filter, "element 1", 9);
	must(deleted == 0 || deleted == -ENOENT || (deleted == -EINVAL && !info.counting));
	must(!xb_filter_put_all(filter, copy));
	must(!xb_filter_put_all(copy, filter));
	xb_filter_free(copy);
}

/* Sums that are right, so that what is behind them is looked at. */
static void sum_up(uint8_t *bytes, size_t size)
{
	struct xb_filter_header header;

	if (size < sizeof(header) || memcmp(bytes, XB_FILTER_MAGIC, 8))
		return;
	memcpy(&header, bytes, sizeof(header));
	header.body_sum = xb_filter_body_sum(0, bytes + sizeof(header), size - sizeof(header));
	header.header_sum = xb_filter_header_sum(&header);
	memcpy(bytes, &header, sizeof(header));
}

static void try(const uint8_t *bytes, size_t size)
{
	struct xb_filter *filter = NULL;
	int fd = file_of(bytes, size);
	int error = xb_filter_read_fd(fd, "filter", XB_FILTER_CHANGE, XB_FUNNEL_STRING, &filter);

	close(fd);
	if (error) {
		must(!filter);
		must_be_clear(xb_error_message());
		return;
	}
	must_be_written_as(filter, bytes, size);
	use(filter);
	xb_filter_free(filter);
}

/* A line as each funnel takes it. */
static void funnel(const uint8_t *bytes, size_t size)
{
	uint8_t *element = malloc(XB_FUNNEL_ROOM(size));

	must(element);
	for (int i = XB_FUNNEL_STRING; i <= XB_FUNNEL_BYTES; i++) {
		int64_t taken =
			xb_funnel_take((enum xb_funnel)i, (const char *)bytes, size, element);

		must(taken <= (int64_t)XB_FUNNEL_ROOM(size));
		if (taken < 0)
			must_be_clear(xb_error_message());
	}
	free(element);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + 1);

	must(bytes);
	if (size)
		memcpy(bytes, data, size);
	try(bytes, size);
	sum_up(bytes, size);
	try(bytes, size);
	funnel(bytes, size);
	free(bytes);
	return 0;
}

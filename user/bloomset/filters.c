/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "bloomset/output.h"

static const char *const funnels[] = {
	[XB_FUNNEL_STRING] = "strings",	  [XB_FUNNEL_CHARS] = "chars",
	[XB_FUNNEL_INTEGER] = "integers", [XB_FUNNEL_LONG] = "longs",
	[XB_FUNNEL_BYTES] = "bytes",
};

static const char *const kinds[] = {
	[XB_FILTER_STANDARD] = "standard",
	[XB_FILTER_BLOCKED] = "blocked",
	[XB_FILTER_GUAVA_32] = "Guava's MURMUR128_MITZ_32",
	[XB_FILTER_GUAVA_64] = "Guava's MURMUR128_MITZ_64",
};

const char *filters_kind_name(enum xb_filter_kind kind)
{
	return kinds[kind];
}

const char *filters_funnel_name(enum xb_funnel funnel)
{
	return funnels[funnel];
}

bool filters_funnel(const struct cli *cli, const char *word, enum xb_funnel *funnel)
{
	for (size_t i = 0; i < sizeof(funnels) / sizeof(*funnels); i++)
		if (!strcmp(funnels[i], word)) {
			*funnel = (enum xb_funnel)i;
			return true;
		}
	cli_usage(cli, "--funnel is strings, chars, integers, longs or bytes, not '%s'",
		  XB_SHOW(word));
	return false;
}

bool filters_rate(const struct cli *cli, const char *option, const char *word, double *rate)
{
	char *end;

	*rate = strtod(word, &end);
	if (*end || end == word || !(*rate > 0 && *rate < 1)) {
		cli_usage(cli, "%s takes a number between 0 and 1, such as 0.001, not '%s'", option,
			  XB_SHOW(word));
		return false;
	}
	return true;
}

bool filters_there(const struct cli *cli, struct filters_there *there, int option)
{
	if (option == 'E')
		there->entries = true;
	else if (option == 'U')
		return filters_funnel(cli, optarg, &there->funnel);
	else
		return reading_option(cli, &there->terms, option);
	return true;
}

int filters_form(const struct xb_filter *filter, struct input_terms *terms)
{
	terms->lines = filter->info.form == XB_FORM_LINES;
	if (terms->lines && reading_is_of_entries(terms))
		return xb_input_error("the filter has lines, which have no format");
	return 0;
}

int filters_settle(struct xb_filter *filter, struct filters_there *there)
{
	if (there->entries && xb_filter_is_guava(filter->info.kind))
		filter->info.form = XB_FORM_ENTRIES;
	return filters_form(filter, &there->terms);
}

int filters_open(const char *path, enum xb_filter_access access, enum xb_funnel funnel,
		 struct xb_filter **filter)
{
	return strcmp(path, "-")
		       ? xb_filter_read(path, access, funnel, filter)
		       : xb_filter_read_fd(STDIN_FILENO, "standard input", access, funnel, filter);
}

static bool has_the_name(const char *path, int fd)
{
	struct stat open, named;

	return !fstat(fd, &open) && !stat(path, &named) && open.st_dev == named.st_dev &&
	       open.st_ino == named.st_ino;
}

/* On NFS, only a file that is open for writing can be locked so. */
static int open_to_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 && (errno == EACCES || errno == EROFS) ? open(path, O_RDONLY | O_CLOEXEC)
							     : fd;
}

/* -ENOENT without a message: no file has this name. */
static int lock_file(const char *path, int *lock)
{
	for (;;) {
		int fd = open_to_lock(path), error;

		if (fd < 0)
			return errno == ENOENT ? -ENOENT
					       : xb_system_error(errno, "cannot open %s", path);
		if (flock(fd, LOCK_EX) < 0) {
			error = xb_system_error(errno, "cannot lock %s", path);
			close(fd);
			return error;
		}
		if (has_the_name(path, fd)) {
			*lock = fd;
			return 0;
		}
		close(fd);
	}
}

int filters_lock(const char *path, int *lock)
{
	struct stat st;
	int error;

	*lock = -1;
	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	error = lock_file(path, lock);
	return error == -ENOENT ? 0 : error;
}

int filters_open_locked(const char *path, enum xb_funnel funnel, struct xb_filter **filter,
			int *lock)
{
	int fd = -1, error = lock_file(path, &fd);

	if (error == -ENOENT)
		return xb_input_error("%s does not exist", path);
	if (!error)
		error = xb_filter_read_fd(fd, path, XB_FILTER_CHANGE, funnel, filter);
	if (error && fd >= 0)
		close(fd);
	else if (!error)
		*lock = fd;
	return error;
}

void filters_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

int filters_write(const struct xb_filter *filter, const char *path)
{
	if (!*path)
		return xb_input_error("the file to be written has an empty name");
	if (strcmp(path, "-"))
		return xb_filter_write(filter, path);
	if (isatty(STDOUT_FILENO))
		return xb_input_error("a filter is not written to a terminal");
	return xb_filter_write_fd(filter, STDOUT_FILENO, "standard output");
}

int filters_replace(const struct xb_filter *filter, const char *path)
{
	int lock, error = filters_lock(path, &lock);

	if (!error)
		error = filters_write(filter, path);
	filters_unlock(lock);
	return error;
}

int filters_failed(int error)
{
	return error == OUTPUT_UNREAD ? EXIT_UNREAD : cli_fail();
}

int filters_hash(const struct xb_filter_info *info, const char *text, size_t size,
		 uint8_t **element, size_t *room, struct xb_filter_hash *hash)
{
	int64_t bytes;
	int error;

	if (info->funnel == XB_FUNNEL_STRING) {
		*hash = xb_filter_hash_of(info, text, size);
		return 0;
	}
	error = xb_array_grow(element, room, XB_FUNNEL_ROOM(size), 1);
	if (error)
		return error;
	bytes = xb_funnel_take(info->funnel, text, size, *element);
	if (bytes < 0)
		return (int)bytes;
	*hash = xb_filter_hash_of(info, *element, (size_t)bytes);
	return 0;
}

static int put_waiting(struct filling *filling)
{
	int put = 0;

	for (unsigned int i = 0; put >= 0 && i < filling->waiting; i++) {
		put = xb_filter_put_hash(filling->filter, filling->ahead[i]);
		filling->new += put > 0;
	}
	filling->waiting = 0;
	return put < 0 ? put : 0;
}

int filling_take(void *to, const char *text, size_t size)
{
	struct filling *filling = to;
	struct xb_filter_hash *hash = &filling->ahead[filling->waiting];
	int error = filters_hash(&filling->filter->info, text, size, &filling->element,
				 &filling->room, hash);

	if (error)
		return error;
	xb_filter_prefetch(filling->filter, *hash);
	filling->put++;
	return ++filling->waiting == FILTERS_AHEAD ? put_waiting(filling) : 0;
}

int filling_end(struct filling *filling)
{
	int error = put_waiting(filling);

	free(filling->element);
	filling->element = NULL;
	filling->room = 0;
	return error;
}

void filters_warn_if_full(const struct xb_filter *filter)
{
	uint64_t count = xb_filter_approximate_count(filter);

	if (filter->info.expected && (double)count > 1.1 * (double)filter->info.expected)
		xb_warning(
			"the filter was made for %llu, and has %s%llu: its rate of false "
			"positives is %s",
			(unsigned long long)filter->info.expected,
			count == UINT64_MAX ? "more than " : "about ",
			(unsigned long long)(count == UINT64_MAX ? filter->info.expected : count),
			XB_NUMBER(xb_filter_expected_rate(filter)));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Only bloomd writes the directory; a file is read with care all the same, as after a crash it may
 * hold anything. */
#include "engine/feedstate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/writeall.h"

#define SUFFIX	   ".json"
#define FILE_BYTES 65536 /* at most */

enum kind { TEXT, NUMBER, TIME };

/* What the file has, and the answer of `bloomctl feeds`; `hidden` is in the file alone. */
static const struct field {
	const char *name;
	enum kind kind;
	size_t at, room;
	bool hidden;
} fields[] = {
#define AT(member)   offsetof(struct xb_feed_state, member)
#define ROOM(member) sizeof(((struct xb_feed_state *)0)->member)
	{"list", TEXT, AT(list), ROOM(list), false},
	{"outcome", TEXT, AT(outcome), ROOM(outcome), false},
	{"guard", TEXT, AT(guard), ROOM(guard), false},
	{"message", TEXT, AT(message), ROOM(message), false},
	{"status", NUMBER, AT(status), 0, false},
	{"format", TEXT, AT(format), ROOM(format), false},
	{"entries", NUMBER, AT(entries), 0, false},
	{"left_out", NUMBER, AT(left_out), 0, false},
	{"first_left_out", TEXT, AT(first_left_out), ROOM(first_left_out), false},
	{"notes", TEXT, AT(notes), ROOM(notes), false},
	{"bogons", NUMBER, AT(bogons), 0, false},
	{"failures", NUMBER, AT(failures), 0, false},
	{"period", NUMBER, AT(period), 0, false},
	{"last_attempt", TIME, AT(last_attempt), 0, false},
	{"last_success", TIME, AT(last_success), 0, false},
	{"last_import", TIME, AT(last_import), 0, false},
	{"content_time", TIME, AT(content_time), 0, false},
	{"next_fetch", TIME, AT(next_fetch), 0, false},
	{"lasts", NUMBER, AT(lasts), 0, true},
	{"left", TEXT, AT(left), ROOM(left), true},
	{"flush", NUMBER, AT(flush), 0, true},
	{"replaces", NUMBER, AT(replaces), 0, true},
	{"etag", TEXT, AT(etag), ROOM(etag), true},
	{"modified", TEXT, AT(modified), ROOM(modified), true},
	{"digest", TEXT, AT(digest), ROOM(digest), true},
	{"terms", TEXT, AT(terms), ROOM(terms), true},
	{"stamp", TEXT, AT(stamp), ROOM(stamp), true},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

bool xb_feed_name_ok(const char *name)
{
	size_t size = strlen(name);

	if (!size || size > XB_FEED_NAME_MAX || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

bool xb_feed_left_next(const char **at, char list[XB_FEED_LIST])
{
	size_t size;

	*at += strspn(*at, " ");
	size = strcspn(*at, " ");
	snprintf(list, XB_FEED_LIST, "%.*s", (int)size, *at);
	*at += size;
	return size;
}

void xb_feed_left_take(char left[XB_FEED_LEFT], const char *list)
{
	char kept[XB_FEED_LEFT] = "", one[XB_FEED_LIST];
	const char *at = left;
	size_t used = 0;

	while (xb_feed_left_next(&at, one))
		if (strcmp(one, list) != 0)
			used += (size_t)sprintf(kept + used, "%s%s", used ? " " : "", one);
	memcpy(left, kept, sizeof(kept));
}

bool xb_feed_left_add(char left[XB_FEED_LEFT], const char *list)
{
	size_t used;

	xb_feed_left_take(left, list);
	used = strlen(left);
	if (used + strlen(list) + 2 > XB_FEED_LEFT)
		return false;
	sprintf(left + used, "%s%s", used ? " " : "", list);
	return true;
}

bool xb_feed_fills(struct xb_feed_state *feed, const char *list)
{
	bool fits = !*feed->list || !strcmp(feed->list, list) ||
		    xb_feed_left_add(feed->left, feed->list);

	xb_feed_left_take(feed->left, list);
	snprintf(feed->list, sizeof(feed->list), "%s", list);
	return fits;
}

static int64_t *number_of(const struct xb_feed_state *feed, const struct field *field)
{
	return (int64_t *)(uintptr_t)((const char *)feed + field->at);
}

static char *text_of(const struct xb_feed_state *feed, const struct field *field)
{
	return (char *)(uintptr_t)((const char *)feed + field->at);
}

static void take_field(struct xb_feed_state *feed, const struct field *field, const json_t *value)
{
	json_int_t number = json_integer_value(value);

	if (field->kind == TEXT && json_is_string(value))
		xb_utf8_show(json_string_value(value), json_string_length(value),
			     text_of(feed, field), field->room);
	else if (field->kind != TEXT && number > 0 && number <= UINT32_MAX)
		*number_of(feed, field) = number;
}

static int parse(const char *path, const char *text, size_t size, struct xb_feed_state *feed)
{
	json_error_t error;
	json_t *object = json_loadb(text, size, 0, &error);

	if (!json_is_object(object)) {
		json_decref(object);
		return xb_system_error(0, "%s is damaged; the next fetch replaces it", path);
	}
	for (size_t i = 0; i < FIELDS; i++)
		take_field(feed, &fields[i], json_object_get(object, fields[i].name));
	json_decref(object);
	return 0;
}

/* Opens the directory of the states. -ENOENT without a message: there is none. */
static int open_directory(const char *state)
{
	int fd = xb_directory_below(state, XB_FEED_DIRECTORY);

	return fd < 0 && fd != -ENOENT
		       ? xb_system_error(-fd, "cannot read %s/" XB_FEED_DIRECTORY, state)
		       : fd;
}

static int make_directory(const char *state)
{
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, state, XB_FEED_DIRECTORY);

	if (error)
		return error;
	if (mkdir(state, 0700) && errno != EEXIST)
		return xb_system_error(errno, "cannot make %s", state);
	return mkdir(path, 0750) && errno != EEXIST ? xb_system_error(errno, "cannot make %s", path)
						    : open_directory(state);
}

/* NAME.json or NAME.json.new. */
struct file_name {
	char text[XB_FEED_NAME_MAX + 16];
};

static struct file_name file_of(const char *name, const char *suffix)
{
	struct file_name file;

	snprintf(file.text, sizeof(file.text), "%s" SUFFIX "%s", name, suffix);
	return file;
}

static int read_file(int directory, const char *file, struct xb_feed_state *feed)
{
	int fd = openat(directory, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = fd < 0 ? NULL : malloc(FILE_BYTES);
	struct stat about;
	ssize_t size = -1;
	int error;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : xb_system_error(errno, "cannot read %s", file);
	if (text && !fstat(fd, &about) && S_ISREG(about.st_mode))
		size = read(fd, text, FILE_BYTES);
	close(fd);
	error = size < 0 ? xb_system_error(0, "%s cannot be read, or is no plain file", file)
			 : parse(file, text, (size_t)size, feed);
	free(text);
	return error;
}

int xb_feed_state_read(const char *state, const char *name, struct xb_feed_state *feed)
{
	int directory = open_directory(state), error;

	*feed = (struct xb_feed_state){0};
	snprintf(feed->name, sizeof(feed->name), "%s", name);
	if (directory < 0)
		return directory;
	error = read_file(directory, file_of(name, "").text, feed);
	close(directory);
	return error;
}

static json_t *to_json(const struct xb_feed_state *feed)
{
	json_t *object = json_object();

	for (size_t i = 0; i < FIELDS; i++)
		json_object_set_new(object, fields[i].name,
				    fields[i].kind == TEXT
					    ? json_string(text_of(feed, &fields[i]))
					    : json_integer(*number_of(feed, &fields[i])));
	return object;
}

json_t *xb_feed_state_json(const struct xb_feed_state *feed)
{
	json_t *object = json_pack("{s:s}", "name", feed->name);

	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];
		uint64_t when = field->kind == TIME ? (uint64_t)*number_of(feed, field) : 0;
		char text[XB_TIME_TEXT];

		if (field->hidden || (field->kind == TEXT && !*text_of(feed, field)) ||
		    (field->kind == TIME && !when))
			continue;
		if (field->kind == TIME)
			xb_time_format(when, text);
		json_object_set_new(object, field->name,
				    field->kind == NUMBER ? json_integer(*number_of(feed, field))
				    : field->kind == TIME ? json_string(text)
							  : json_string(text_of(feed, field)));
	}
	return object;
}

static int write_durably(int fd, const char *text)
{
	return xb_write_all(fd, text, strlen(text)) ? fsync(fd) : -1;
}

static int replace(int directory, const char *name, const char *text)
{
	struct file_name file = file_of(name, ""), fresh = file_of(name, ".new");
	int fd, error = 0;

	unlinkat(directory, fresh.text, 0);
	fd = openat(directory, fresh.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    0640);
	if (fd < 0)
		return xb_system_error(errno, "cannot write %s", fresh.text);
	if (write_durably(fd, text) || renameat(directory, fresh.text, directory, file.text)) {
		error = xb_system_error(errno, "cannot write the state of feed %s", name);
		unlinkat(directory, fresh.text, 0);
	}
	close(fd);
	if (!error)
		fsync(directory);
	return error;
}

int xb_feed_state_write(const char *state, const struct xb_feed_state *feed)
{
	json_t *object = to_json(feed);
	char *text = json_dumps(object, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	int directory, error = text ? 0 : xb_out_of_memory();

	json_decref(object);
	if (error)
		return error;
	directory = make_directory(state);
	error = directory < 0 ? directory : replace(directory, feed->name, text);
	if (directory >= 0)
		close(directory);
	free(text);
	return error;
}

int xb_feed_state_remove(const char *state, const char *name)
{
	int directory = open_directory(state), error = 0;

	if (directory < 0)
		return directory == -ENOENT ? 0 : directory;
	if (unlinkat(directory, file_of(name, "").text, 0) && errno != ENOENT)
		error = xb_system_error(errno, "cannot remove the state of feed %s", name);
	close(directory);
	return error;
}

/* The name of the feed whose file it is. */
static bool feed_of_file(const char *file, char name[XB_FEED_NAME_MAX + 1])
{
	size_t size = strlen(file), suffix = strlen(SUFFIX);

	if (size <= suffix || size - suffix > XB_FEED_NAME_MAX ||
	    strcmp(file + size - suffix, SUFFIX))
		return false;
	memcpy(name, file, size - suffix);
	name[size - suffix] = '\0';
	return xb_feed_name_ok(name);
}

static int is_state(const struct dirent *entry)
{
	char name[XB_FEED_NAME_MAX + 1];

	return feed_of_file(entry->d_name, name);
}

/* Returns whether there is one: it may have been removed meanwhile. */
static bool read_one(const char *state, const char *file, struct xb_feed_state *feed)
{
	char name[XB_FEED_NAME_MAX + 1] = "";
	int error;

	feed_of_file(file, name);
	error = xb_feed_state_read(state, name, feed);
	if (!error || error == -ENOENT)
		return !error;
	snprintf(feed->outcome, sizeof(feed->outcome), "unreadable");
	snprintf(feed->message, sizeof(feed->message), "%.255s", xb_error_message());
	xb_error_clear();
	return true;
}

int xb_feed_states_read(const char *state, struct xb_feed_state **feeds, size_t *count)
{
	struct dirent **files;
	int found, directory = open_directory(state);

	*feeds = NULL;
	*count = 0;
	if (directory < 0)
		return directory == -ENOENT ? 0 : directory;
	found = scandirat(directory, ".", &files, is_state, alphasort);
	close(directory);
	if (found < 0)
		return xb_system_error(errno, "cannot read the states of feeds");
	*feeds = calloc((size_t)found + 1, sizeof(**feeds));
	for (int i = 0; i < found; i++) {
		if (*feeds && read_one(state, files[i]->d_name, &(*feeds)[*count]))
			++*count;
		free(files[i]);
	}
	free(files);
	return *feeds ? 0 : xb_out_of_memory();
}

bool xb_feed_is_well(const struct xb_feed_state *feed)
{
	return !strcmp(feed->outcome, XB_FEED_UPDATED) || !strcmp(feed->outcome, XB_FEED_UNCHANGED);
}

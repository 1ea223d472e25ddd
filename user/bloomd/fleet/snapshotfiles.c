/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files get their names when they are whole and durable; nobody but bloomd writes the directory. */
#include "bloomd/fleet/snapshotfiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/writeall.h"
#include "bloomd/fleet/chunkfile.h"

#define NEW    ".new"
#define HEX    "0123456789abcdef"
#define DIGITS "0123456789"

_Static_assert(XB_FLEET_ID == MAC_BYTES, "a name has two numbers of the same size");
#define ID_SIZE (2 * (size_t)XB_FLEET_ID)

static void put_hex(const uint8_t bytes[XB_FLEET_ID], char text[ID_SIZE + 1])
{
	for (size_t i = 0; i < XB_FLEET_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

const char *snapshotfile_name(const struct manifest *manifest, size_t chunk,
			      char name[SNAPSHOT_NAME])
{
	char id[ID_SIZE + 1], mac[ID_SIZE + 1];

	put_hex(manifest->id, id);
	put_hex(manifest->chunks[chunk].mac, mac);
	snprintf(name, SNAPSHOT_NAME, "%s-%zu-%s", id, chunk, mac);
	return name;
}

/* --- the directory --- */

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? xb_system_error(errno, "cannot use %s", path) : fd;
}

static int read_manifest(int fd, const struct mac_key *key, struct manifest *manifest)
{
	uint8_t *bytes = malloc(MANIFEST_BYTES + 1);
	ssize_t size = bytes ? TEMP_FAILURE_RETRY(read(fd, bytes, MANIFEST_BYTES + 1)) : -1;
	int found = size > 0 && !manifest_read(bytes, (size_t)size, key, manifest);

	free(bytes);
	return found;
}

static int read_present(int directory, const struct mac_key *key, struct manifest *manifest)
{
	int fd = openat(directory, SNAPSHOT_MANIFEST,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int found;

	*manifest = (struct manifest){0};
	if (fd < 0)
		return 0;
	found = read_manifest(fd, key, manifest);
	close(fd);
	xb_error_clear();
	return found;
}

int snapshotfiles_read(const char *path, const struct mac_key *key, struct manifest *manifest)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), found;

	*manifest = (struct manifest){0};
	if (directory < 0)
		return 0;
	found = read_present(directory, key, manifest);
	close(directory);
	return found;
}

/* --- one file --- */

static int failed(const char *name)
{
	return xb_system_error(errno, "cannot write %s", name);
}

static int put_bytes(int fd, const char *name, const uint8_t *bytes, size_t size)
{
	if (!xb_write_all(fd, bytes, size))
		return failed(name);
	/* A web server of another user reads it. */
	return fchmod(fd, 0644) || fsync(fd) ? failed(name) : 0;
}

static int write_file(int directory, const char *name, const uint8_t *bytes, size_t size)
{
	int fd, error;

	/* One that a process left which was killed. */
	unlinkat(directory, NEW, 0);
	fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return failed(name);
	error = put_bytes(fd, name, bytes, size);
	if (close(fd) && !error)
		error = failed(name);
	xb_fault("fleet-file");
	if (!error && renameat(directory, NEW, directory, name))
		error = failed(name);
	if (error)
		unlinkat(directory, NEW, 0);
	return error;
}

/* --- all of them --- */

static bool is_chunk(const char *name)
{
	size_t number;

	if (strspn(name, HEX) != ID_SIZE || name[ID_SIZE] != '-')
		return false;
	name += ID_SIZE + 1;
	number = strspn(name, DIGITS);
	return number && name[number] == '-' && strspn(name + number + 1, HEX) == ID_SIZE &&
	       !name[number + 1 + ID_SIZE];
}

static bool is_of(const char *name, const struct manifest *manifest)
{
	char id[ID_SIZE + 1];

	put_hex(manifest->id, id);
	return !strncmp(name, id, ID_SIZE);
}

/* Chunks that are of neither go. Nobody waits for that: what stays goes the next time. */
static void clean(int directory, const struct manifest *a, const struct manifest *b)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (names && (entry = readdir(names)))
		if (is_chunk(entry->d_name) && !is_of(entry->d_name, a) && !is_of(entry->d_name, b))
			unlinkat(directory, entry->d_name, 0);
	if (names)
		closedir(names);
	else if (copy >= 0)
		close(copy);
}

static int write_chunks(int directory, const struct manifest *manifest, const struct mac_key *key,
			int chunks)
{
	uint8_t *bytes = malloc(2 * CHUNK_BYTES);
	int error = bytes ? 0 : xb_out_of_memory();
	char name[SNAPSHOT_NAME];

	for (size_t i = 0; !error && i < manifest->chunk_count; i++) {
		error = chunk_load(manifest, i, key, chunks, bytes);
		if (!error)
			error = write_file(directory, snapshotfile_name(manifest, i, name), bytes,
					   manifest->chunks[i].size);
	}
	free(bytes);
	return error;
}

/* The same bytes as those that it was read from. */
static int write_manifest(int directory, const struct manifest *manifest, const struct mac_key *key)
{
	uint8_t *bytes;
	size_t size;
	int error = manifest_write(manifest, key, &bytes, &size);

	if (!error && fsync(directory))
		error = failed("the chunks");
	if (!error)
		error = write_file(directory, SNAPSHOT_MANIFEST, bytes, size);
	if (!error && fsync(directory))
		error = failed(SNAPSHOT_MANIFEST);
	free(bytes);
	return error;
}

int snapshotfiles_write(const char *path, const struct manifest *manifest,
			const struct mac_key *key, int chunks)
{
	struct manifest *former = calloc(1, sizeof(*former));
	int directory = former ? open_directory(path) : xb_out_of_memory();
	int error = directory < 0 ? directory : 0;

	if (!error) {
		read_present(directory, key, former);
		error = write_chunks(directory, manifest, key, chunks);
		if (!error)
			error = write_manifest(directory, manifest, key);
		clean(directory, former, error ? former : manifest);
		manifest_free(former);
		close(directory);
	}
	free(former);
	return error ? xb_error_prefix(error, "%s", path) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/snapshotparts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomd/base/scratchfile.h"

/* One byte more: of no bytes there is no mapping. */
static size_t mapped(const struct snapshot_parts *parts)
{
	return 2 * parts->manifest->chunk_count + 1;
}

int parts_make(struct snapshot_parts *parts, const struct manifest *manifest, const char *directory)
{
	*parts = (struct snapshot_parts){.manifest = manifest,
					 .chunks = scratchfile_open(directory, "chunks"),
					 .blooms = scratchfile_open(directory, "blooms")};
	if (parts->chunks < 0 || parts->blooms < 0)
		return xb_system_error(errno, "no file for the parts of the snapshot");
	parts->have = mmap(NULL, mapped(parts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	if (parts->have == MAP_FAILED) {
		parts->have = NULL;
		return xb_out_of_memory();
	}
	parts->wanted = parts->have + manifest->chunk_count;
	return 0;
}

void parts_free(struct snapshot_parts *parts)
{
	if (!parts->manifest)
		return;
	if (parts->have)
		munmap(parts->have, mapped(parts));
	if (parts->chunks >= 0)
		close(parts->chunks);
	if (parts->blooms >= 0)
		close(parts->blooms);
	*parts = (struct snapshot_parts){0};
}

static bool lacks(const struct snapshot_parts *parts, unsigned int kind)
{
	return parts->wanted[parts->place] & ~parts->have[parts->place] & kind;
}

bool parts_next(struct snapshot_parts *parts, struct snapshot_part *part)
{
	const struct manifest *manifest = parts->manifest;

	for (; parts->place < manifest->chunk_count; parts->place++) {
		const struct manifest_chunk *chunk = &manifest->chunks[parts->place];

		*part = (struct snapshot_part){PART_CHUNK, parts->place, chunk->size,
					       parts->chunk_at};
		if (lacks(parts, PART_CHUNK))
			return true;
		*part = (struct snapshot_part){PART_BLOOM, parts->place, chunk->bloom_size,
					       parts->bloom_at};
		if (lacks(parts, PART_BLOOM))
			return true;
		parts->chunk_at += chunk->size;
		parts->bloom_at += chunk->bloom_size;
	}
	parts->place = 0;
	parts->chunk_at = parts->bloom_at = 0;
	return false;
}

int parts_put(struct snapshot_parts *parts, const struct snapshot_part *part, const void *bytes)
{
	int file = part->kind == PART_CHUNK ? parts->chunks : parts->blooms;
	size_t done = 0;

	while (done < part->size) {
		ssize_t put = TEMP_FAILURE_RETRY(pwrite(file, (const uint8_t *)bytes + done,
							part->size - done, part->at + (off_t)done));

		if (put <= 0)
			return xb_system_error(put ? errno : ENOSPC,
					       "cannot keep the parts of the snapshot");
		done += (size_t)put;
	}
	parts->have[part->place] |= (uint8_t)part->kind;
	return 0;
}

uint64_t parts_wanted(const struct snapshot_parts *parts)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < parts->manifest->chunk_count; i++) {
		const struct manifest_chunk *chunk = &parts->manifest->chunks[i];

		bytes += parts->wanted[i] & PART_CHUNK ? chunk->size : 0;
		bytes += parts->wanted[i] & PART_BLOOM ? chunk->bloom_size : 0;
	}
	return bytes;
}

int parts_check_room(const struct snapshot_parts *parts, uint64_t bytes)
{
	struct statvfs room;

	/* What has no size of its own, as files in memory, says 0. */
	if (fstatvfs(parts->chunks, &room) || !room.f_blocks ||
	    bytes / room.f_frsize < room.f_bavail / 2)
		return 0;
	return xb_system_error(0, "no room for %llu MiB of the snapshot",
			       (unsigned long long)bytes >> 20);
}

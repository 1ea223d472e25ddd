/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census PINS: what there is in the kernel. Reads lines, answers each with one of JSON.
 *
 * pinned: programs, maps and links below PINS, and the maps the programs have, by id; pins, how
 * many there are; bytes, what the maps take by their own count.
 *
 * alive program:ID map:ID link:ID ...: which of these the kernel still has.
 *
 * owned UID: ids of all programs that this user has loaded.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/mapbytes.h"

enum kind { PROGRAM, MAP, LINK, KINDS };

static const char *const kind_names[KINDS] = {"program", "map", "link"};

struct ids {
	uint32_t *all;
	size_t count, room;
};

static struct ids found[KINDS];
static uint32_t pins;

static bool has(const struct ids *ids, uint32_t id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->all[i] == id)
			return true;
	return false;
}

static void put(struct ids *ids, uint32_t id)
{
	if (has(ids, id))
		return;
	if (ids->count == ids->room) {
		ids->room = ids->room ? 2 * ids->room : 256;
		ids->all = realloc(ids->all, ids->room * sizeof(*ids->all));
	}
	ids->all[ids->count++] = id;
}

static void print_ids(const struct ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		printf("%s%u", i ? "," : "", ids->all[i]);
}

/* Without opening it: when the last descriptor of a program array is closed the kernel empties it
 * later, and keeps it for ever if a second last one is closed meanwhile. */
static bool exists(enum kind kind, uint32_t id)
{
	uint32_t next = 0;
	int error = kind == PROGRAM ? bpf_prog_get_next_id(id - 1, &next)
		    : kind == MAP   ? bpf_map_get_next_id(id - 1, &next)
				    : bpf_link_get_next_id(id - 1, &next);

	return !error && next == id;
}

/* Its maps, too: not all of them have pins. */
static void put_program(int fd)
{
	struct bpf_prog_info info = {0};
	uint32_t maps[64], size = sizeof(info);

	info.nr_map_ids = 64;
	info.map_ids = (uintptr_t)maps;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return;
	put(&found[PROGRAM], info.id);
	for (uint32_t i = 0; i < info.nr_map_ids && i < 64; i++)
		put(&found[MAP], maps[i]);
}

static void put_map(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		put(&found[MAP], info.id);
}

static void put_link(int fd)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);

	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		put(&found[LINK], info.id);
}

static int visit(const char *path, const struct stat *status, int flag, struct FTW *ftw)
{
	char self[64], what[64] = "";
	int fd;

	(void)status, (void)ftw;
	if (flag != FTW_F)
		return 0;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return 0;
	pins++;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (readlink(self, what, sizeof(what) - 1) < 0)
		what[0] = '\0';
	if (strstr(what, "bpf-prog"))
		put_program(fd);
	else if (strstr(what, "bpf-map"))
		put_map(fd);
	else if (strstr(what, "bpf"))
		put_link(fd);
	close(fd);
	return 0;
}

static uint64_t bytes_of(uint32_t id)
{
	int fd = bpf_map_get_fd_by_id(id);
	uint64_t bytes = map_bytes(fd);

	close(fd);
	return bytes;
}

static void pinned(const char *directory)
{
	uint64_t bytes = 0;

	pins = 0;
	for (int kind = 0; kind < KINDS; kind++)
		found[kind].count = 0;
	nftw(directory, visit, 16, FTW_PHYS);
	for (size_t i = 0; i < found[MAP].count; i++)
		bytes += bytes_of(found[MAP].all[i]);
	printf("{\"pins\":%u,\"bytes\":%lu", pins, bytes);
	for (int kind = 0; kind < KINDS; kind++) {
		printf(",\"%s\":[", kind_names[kind]);
		print_ids(&found[kind]);
		printf("]");
	}
	printf("}\n");
}

static void alive(char *words)
{
	const char *comma = "";

	printf("[");
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		for (int kind = 0; kind < KINDS; kind++) {
			size_t length = strlen(kind_names[kind]);

			if (strncmp(word, kind_names[kind], length) ||
			    !exists(kind, (uint32_t)strtoul(word + length + 1, NULL, 10)))
				continue;
			printf("%s\"%s\"", comma, word);
			comma = ",";
		}
	}
	printf("]\n");
}

static void owned(uint32_t uid)
{
	struct ids ids = {0};
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    info.created_by_uid == uid)
			put(&ids, id);
		if (fd >= 0)
			close(fd);
	}
	printf("[");
	print_ids(&ids);
	printf("]\n");
	free(ids.all);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t room = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: census PINS; the storm does it\n");
		return 2;
	}
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "pinned"))
			pinned(argv[1]);
		else if (!strncmp(line, "alive ", 6))
			alive(line + 6);
		else if (!strncmp(line, "owned ", 6))
			owned((uint32_t)strtoul(line + 6, NULL, 10));
		else
			printf("null\n");
		fflush(stdout);
	}
	free(line);
	return 0;
}

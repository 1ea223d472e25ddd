/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody tries who has taken over a program of bloomd that meets the network. */
#ifndef XB_TAKEN_OVER /* as the rest of the program is compiled */
#define XB_TAKEN_OVER
#endif
#include "sandbox/taken.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the program: it has no arguments and no environment. */
#define PLACES "taken.places"

static struct {
	char store[256], pins[256], api[108], control[108], written[256], open[8];
} places;

static void read_places(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - sizeof(PLACES) - 1);
	FILE *file = NULL;

	if (size > 0) {
		path[size] = '\0';
		strcpy(strrchr(path, '/') + 1, PLACES);
		file = fopen(path, "re");
	}

	if (!file || fscanf(file, "%255s %255s %107s %107s %255s %7s", places.store, places.pins,
			    places.api, places.control, places.written, places.open) != 6)
		exit(3);
	if (file)
		fclose(file);
}

bool sandbox_wanted(void)
{
	read_places();
	return strcmp(places.open, "open");
}

static int try_shell(void)
{
	int status = system("exit 0");

	return status ? -1 : 0;
}

static int try_exec(void)
{
	char *const words[] = {(char *)(uintptr_t) "/bin/true", NULL};
	pid_t child = fork();
	int status = -1;

	if (!child)
		execv(words[0], words), _exit(1);
	return child > 0 && waitpid(child, &status, 0) == child && !status ? 0 : -1;
}

static int try_store(void)
{
	return open(places.store, O_RDONLY | O_CLOEXEC);
}

static int try_pins(void)
{
	return open(places.pins, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int try_bpf(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int connect_to(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static int try_api(void)
{
	return connect_to(socket(AF_UNIX, SOCK_STREAM, 0), places.api);
}

static int try_control(void)
{
	return connect_to(socket(AF_UNIX, SOCK_STREAM, 0), places.control);
}

static int try_pair(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
}

static int try_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL) ? -1 : umount("/mnt");
}

static int try_parent(void)
{
	return kill(getppid(), 0);
}

static int try_write(void)
{
	return open(places.written, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

bool taken_over(char *text, size_t size)
{
	static const struct {
		const char *name;
		int (*attempt)(void);
	} attempts[] = {{"shell", try_shell},	  {"exec", try_exec},  {"store", try_store},
			{"bpffs", try_pins},	  {"bpf", try_bpf},    {"api", try_api},
			{"control", try_control}, {"pair", try_pair},  {"mount", try_mount},
			{"parent", try_parent},	  {"write", try_write}};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		used += (size_t)snprintf(text + used, size - used, " %s=%s", attempts[i].name,
					 attempts[i].attempt() < 0 ? "no" : "yes");
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an installation lives. */
#ifndef XB_BASE_PATHS_H
#define XB_BASE_PATHS_H

#define XB_PATH_MAX 4096 /* bytes, terminator included */

#define XB_STATE_DIRECTORY "/var/lib/xdp-bloom"
#define XB_PIN_DIRECTORY   "/sys/fs/bpf/xdp-bloom"
#define XB_RUN_DIRECTORY   "/run/xdp-bloom"

#define XB_STORE_FILE	      "store.mdb" /* in the state directory */
#define XB_COUNTERS_DIRECTORY "counters"  /* in the run directory, for all who use bloomctl */

struct xb_paths {
	const char *state; /* store and locks */
	const char *pins;  /* on a bpf file system */
	const char *run;   /* counters and sockets; memory-backed, lost at reboot */
};

/* DIRECTORY/NAME; with a message if that is too long. */
int xb_path_join(char path[XB_PATH_MAX], const char *directory, const char *name);

/* The directory that path is in; with a message if the path is too long. */
int xb_path_parent(char parent[XB_PATH_MAX], const char *path);

#endif

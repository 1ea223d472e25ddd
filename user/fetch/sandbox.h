/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bloomd-fetch gives up before it talks to the network. */
#ifndef XB_FETCH_SANDBOX_H
#define XB_FETCH_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Gives up, for ever: capabilities and the user (root becomes nobody), memory, time of the
 * processor and size of files beyond a limit, files but those that resolve names (Landlock), and
 * system calls but those of an HTTPS client. Either the user or the files may stay, if the machine
 * cannot do better, but not both. max_bytes: of a file that it writes. connected: it has the
 * one socket that it needs, so it can open none, and a call to connect one does nothing. Returns
 * NULL, or what failed; then nothing may be fetched.
 */
const char *sandbox_enter(uint64_t max_bytes, bool connected);

/* The last step: the system calls. Separate only in its file. */
const char *syscalls_restrict(bool connected);

#endif

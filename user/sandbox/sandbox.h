/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of bloomd gives up before it talks to the network. */
#ifndef XB_SANDBOX_H
#define XB_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct sandbox_terms {
	uint64_t memory;    /* bytes of addresses */
	uint32_t processor; /* seconds of the processor; 0: as long as it lives */
	uint64_t max_bytes; /* of a file that it writes */
	bool connected;	    /* it has the one socket that it needs, so it can open none, and a
			       call to connect one does nothing */
};

/*
 * Gives up, for ever: capabilities and the user (root becomes nobody), memory, time of the
 * processor and size of files beyond a limit, files but those that resolve names (Landlock), and
 * system calls but those of a client of TLS. Either the user or the files may stay, if the machine
 * cannot do better, but not both. Returns NULL, or what failed; then nothing may be asked of the
 * network.
 */
const char *sandbox_enter(const struct sandbox_terms *terms);

/* The last step: the system calls. Separate only in its file. */
const char *syscalls_restrict(bool connected);

#endif

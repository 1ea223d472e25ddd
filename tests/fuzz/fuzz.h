/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fuzzers share: what must hold, and a store of their own in $TMPDIR. */
#ifndef XB_FUZZ_H
#define XB_FUZZ_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/writepath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* To the descriptor, since stderr may be somewhere else. */
#define must(holds)                                                                                \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* One line for a person, on any terminal. jansson judges what is UTF-8. */
static inline void must_be_clear(const char *message)
{
	json_t *text = json_string(message);

	must(text && *message);
	for (const char *c = message; *c; c++) {
		must((unsigned char)*c >= ' ' && *c != 0x7f);
		must((unsigned char)c[0] != 0xc2 || (unsigned char)c[1] >= 0xa0);
	}
	json_decref(text);
}

/* For xb_notice_sink(): notes are not printed. */
static inline void note_must_be_clear(enum xb_notice_kind kind, const char *note)
{
	(void)kind;
	must_be_clear(note);
}

/* What is printed while it is in place of a stream. */
struct heard {
	FILE **stream, *was;
	char *text;
	size_t size;
};

static inline void hear(struct heard *heard, FILE **stream)
{
	*heard = (struct heard){.stream = stream, .was = *stream};
	*stream = open_memstream(&heard->text, &heard->size);
	must(*stream);
}

/* heard->text is the caller's. */
static inline void hear_end(struct heard *heard)
{
	fclose(*heard->stream);
	*heard->stream = heard->was;
}

static inline const char *fuzz_directory(void)
{
	static char directory[256];

	if (*directory)
		return directory;
	snprintf(directory, sizeof(directory), "%s/xbt-fuzz-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	must(mkdtemp(directory));
	return directory;
}

/* A time of its own, so that inputs mean the same tomorrow. */
#define FUZZ_NOW 1800000000U

/* A write transaction of an empty store, which nobody commits. */
static inline struct xb_writer fuzz_begin(void)
{
	static struct xb_store *store;
	struct xb_writer writer = {.builder_lock = -1, .writer_lock = -1, .now = FUZZ_NOW};

	if (!store)
		must(!xb_store_open(fuzz_directory(), XB_STORE_CREATE, &store));
	writer.store = store;
	must(!xb_store_write(store, &writer.txn));
	return writer;
}

#endif

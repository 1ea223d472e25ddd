/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/program.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static const char *program = "xdp-bloom";
static const char *(*words_of)(enum xb_advice advice);

void xb_program_set(const char *name, const char *(*words)(enum xb_advice advice))
{
	program = name;
	words_of = words;
}

const char *xb_program(void)
{
	return program;
}

const char *xb_advice(enum xb_advice advice)
{
	return words_of ? words_of(advice) : "";
}

struct build {
	const uint8_t *bytes;
	size_t size;
};

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The name of a note is "GNU" for one by the GNU linker or compiler. */
static void look_at_notes(const uint8_t *at, const uint8_t *end, struct build *build)
{
	ElfW(Nhdr) note;

	while ((size_t)(end - at) >= sizeof(note)) {
		const uint8_t *name = at + sizeof(note), *bytes;

		memcpy(&note, at, sizeof(note));
		bytes = name + padded(note.n_namesz);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			build->bytes = bytes;
			build->size = note.n_descsz;
			return;
		}
		at = bytes + padded(note.n_descsz);
	}
}

/* The first object is the program. */
static int look_at_program(struct dl_phdr_info *object, size_t size, void *context)
{
	struct build *build = context;

	(void)size;
	for (int i = 0; !build->bytes && i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const uint8_t *notes = (const uint8_t *)object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_NOTE && part->p_align <= 4)
			look_at_notes(notes, notes + part->p_memsz, build);
	}
	return 1;
}

const uint8_t *xb_program_build(size_t *size)
{
	struct build build = {0};

	dl_iterate_phdr(look_at_program, &build);
	*size = build.size;
	return build.bytes;
}

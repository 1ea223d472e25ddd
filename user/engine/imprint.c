/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/imprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"

/* With its terminator, and apart from a text that is empty. */
static void add_text(struct xb_siphash *hash, const char *text)
{
	uint8_t given = text != NULL;

	xb_siphash_add(hash, &given, sizeof(given));
	if (given)
		xb_siphash_add(hash, text, strlen(text) + 1);
}

static void add_number(struct xb_siphash *hash, uint64_t number)
{
	xb_siphash_add(hash, &number, sizeof(number));
}

static void begin(struct xb_siphash *hash, const uint64_t key[2],
		  const struct xb_listfile_terms *terms, bool bogons)
{
	size_t size;
	const uint8_t *build = xb_program_build(&size);

	xb_siphash_begin(hash, key);
	xb_siphash_add(hash, build, size);
	add_text(hash, terms->format);
	add_text(hash, terms->zone);
	add_text(hash, terms->end);
	add_text(hash, terms->choice.column);
	add_text(hash, terms->choice.where);
	add_text(hash, terms->choice.json);
	add_text(hash, terms->choice.set);
	add_text(hash, terms->choice.comment);
	add_text(hash, terms->choice.country);
	add_text(hash, terms->choice.not_country);
	add_text(hash, terms->choice.continent);
	add_text(hash, terms->choice.asn);
	add_text(hash, terms->choice.mmdb);
	add_number(hash, terms->choice.bounded);
	add_number(hash, terms->choice.most_wrong);
	add_number(hash, terms->choice.below);
	add_number(hash, terms->most);
	add_number(hash, terms->until);
	add_number(hash, terms->allows);
	add_number(hash, bogons);
}

int xb_imprint_begin(struct xb_imprinting *taken, const struct xb_listfile_terms *terms,
		     bool bogons)
{
	*taken = (struct xb_imprinting){0};
	if (getrandom(taken->of.key, sizeof(taken->of.key), 0) != sizeof(taken->of.key))
		return xb_system_error(errno, "no random numbers");
	begin(&taken->hash, taken->of.key, terms, bogons);
	return 0;
}

static bool lasts(const struct xb_listfile *file)
{
	for (size_t i = 0; !file->bare && i < file->count; i++)
		if (file->items[i].timeout)
			return false;
	return true;
}

struct xb_imprint xb_imprint_end(struct xb_imprinting *taken, const struct xb_listfile *file,
				 uint64_t bogons)
{
	struct xb_imprint *of = &taken->of;
	size_t build;

	if (!xb_program_build(&build) || bogons || file->unknown || file->noted || !file->count ||
	    strlen(file->format) >= sizeof(of->format) || !lasts(file))
		return (struct xb_imprint){0};
	xb_siphash_end(&taken->hash, of->hash);
	of->bytes = file->bytes;
	of->lines = file->lines;
	of->repeats = file->repeats;
	of->allowed = file->allowed;
	of->exceptions = file->exceptions;
	snprintf(of->format, sizeof(of->format), "%s", file->format);
	return *of;
}

bool xb_imprint_matches(const struct xb_imprint *imprint, const char *path,
			const struct xb_listfile_terms *terms, bool bogons)
{
	struct xb_listfile_terms with = *terms;
	struct xb_siphash hash;
	struct stat about;
	uint64_t found[2];
	int error;

	if (!strcmp(path, "-") || stat(path, &about) || !S_ISREG(about.st_mode) ||
	    (uint64_t)about.st_size != imprint->bytes)
		return false;
	begin(&hash, imprint->key, terms, bogons);
	with.hash = &hash;
	error = xb_listfile_hash(-1, path, &with);
	if (error) {
		xb_error_clear();
		return false;
	}
	xb_siphash_end(&hash, found);
	return !memcmp(found, imprint->hash, sizeof(found));
}

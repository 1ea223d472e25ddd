/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded frames. */
#include "corpus.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_frame(struct corpus *corpus, const char *hex)
{
	struct frame *frame;

	corpus->frames = realloc(corpus->frames, (corpus->count + 1) * sizeof(*corpus->frames));
	frame = &corpus->frames[corpus->count++];
	frame->size = rig_bytes(hex, frame->byte);
}

static void read_file(struct corpus *corpus, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[2 * FRAME_BYTES + 2];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		if (*line)
			add_frame(corpus, line);
	}
	if (!file || ferror(file)) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
		exit(1);
	}
	fclose(file);
}

void corpus_read(const char *directory, struct corpus *corpus)
{
	char pattern[512];
	glob_t found;

	*corpus = (struct corpus){0};
	snprintf(pattern, sizeof(pattern), "%s/*.hex", directory);
	if (glob(pattern, 0, NULL, &found)) {
		fprintf(stderr, "no frames in %s\n", directory);
		exit(1);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		read_file(corpus, found.gl_pathv[i]);
	globfree(&found);
}

void corpus_free(struct corpus *corpus)
{
	free(corpus->frames);
}

/* Offset of the IP header of a recorded frame, 0 if it has none. */
static uint32_t network_of(const struct frame *frame)
{
	uint32_t at = 12;

	while (at + 6 < frame->size &&
	       (get16(frame->byte + at) == 0x8100 || get16(frame->byte + at) == 0x88a8))
		at += 4;
	return get16(frame->byte + at) == 0x0800 || get16(frame->byte + at) == 0x86dd ? at + 2 : 0;
}

/* Where the name of a question begins in it, 0 if this is no plain query. */
static uint32_t name_of(const struct frame *frame, uint32_t network)
{
	const uint8_t *ip = frame->byte + network;
	bool ipv6 = ip[0] / 16 == 6;
	uint32_t udp = network + (ipv6 ? 40 : 20);

	return ip[ipv6 ? 6 : 9] == 17 && frame->size > udp + 20 &&
			       get16(frame->byte + udp + 2) == 53
		       ? udp + 20
		       : 0;
}

/* Bytes of the frame that stand at `from` come to stand at `to`. */
static void move(struct frame *frame, uint32_t from, uint32_t to)
{
	memmove(frame->byte + to, frame->byte + from, frame->size - from);
	frame->size += to - from;
}

static void add16(uint8_t *at, uint32_t value)
{
	value += get16(at);
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Another name takes the place of the question's; lengths go with it. */
static void ask_for(const struct universe *universe, uint64_t *chance, struct frame *frame,
		    uint32_t network, uint32_t at)
{
	bool ipv6 = frame->byte[network] / 16 == 6;
	uint8_t name[QUESTION_BYTES];
	uint32_t size = universe_name(universe, chance, name), end = at;

	while (end < frame->size && frame->byte[end])
		end += frame->byte[end] + 1U;
	if (end + 1 > frame->size || frame->size + size > FRAME_BYTES)
		return;
	move(frame, end + 1, at + size);
	memcpy(frame->byte + at, name, size);
	size -= end + 1 - at;
	add16(frame->byte + network + (ipv6 ? 4 : 2), size);
	add16(frame->byte + at - 16, size);
}

void corpus_frame(const struct corpus *corpus, const struct universe *universe, uint64_t *chance,
		  struct frame *frame)
{
	const struct frame *recorded = &corpus->frames[below(chance, (uint32_t)corpus->count)];
	uint32_t network = network_of(recorded), name;
	bool ipv6;

	frame->size = recorded->size;
	memcpy(frame->byte, recorded->byte, recorded->size);
	if (!network)
		return;
	ipv6 = frame->byte[network] / 16 == 6;
	if (one_in(chance, 2))
		universe_address(universe, chance, ipv6, frame->byte + network + (ipv6 ? 8 : 12));
	name = name_of(frame, network);
	if (name && below(chance, 4))
		ask_for(universe, chance, frame, network, name);
}

/* ---- Changes ---- */

static void flip_bits(uint64_t *chance, struct frame *frame)
{
	for (uint32_t flips = 1 + below(chance, 4); flips > 0; flips--)
		frame->byte[below(chance, frame->size)] ^= (uint8_t)(1U << below(chance, 8));
}

/* Headers are hit more often than what is behind them. */
static uint32_t random_place(uint64_t *chance, const struct frame *frame)
{
	return below(chance, below(chance, 3) && frame->size > 80 ? 80 : frame->size);
}

static void change_byte(uint64_t *chance, struct frame *frame)
{
	static const uint8_t liked[] = {0,    1,    4,	  5,	6,    7,   8,	11,  16,
					17,   20,   40,	  43,	44,   51,  53,	60,  63,
					64,   0x45, 0x60, 127,	128,  255, '.', ':', '\r',
					'\n', ' ',  0xc0, 0x81, 0x88, 0x86};
	uint8_t *byte = frame->byte + random_place(chance, frame);

	switch (below(chance, 3)) {
	case 0:
		*byte = (uint8_t)below(chance, 256);
		break;
	case 1:
		*byte = liked[below(chance, sizeof(liked))];
		break;
	default:
		*byte = (uint8_t)(*byte + below(chance, 7) - 3);
	}
}

static void take_out(uint64_t *chance, struct frame *frame)
{
	uint32_t at = random_place(chance, frame), size = 1 + below(chance, 8);

	if (at + size < frame->size)
		move(frame, at + size, at);
}

/* Bytes of its own, once more, or any. */
static void put_in(uint64_t *chance, struct frame *frame)
{
	uint32_t at = random_place(chance, frame), size = 1 + below(chance, 16);

	if (at + size >= frame->size || frame->size + size > FRAME_BYTES)
		return;
	move(frame, at, at + size);
	if (below(chance, 2))
		for (uint32_t i = 0; i < size; i++)
			frame->byte[at + i] = (uint8_t)below(chance, 256);
}

/* Its head before another's tail. */
static void splice(const struct corpus *corpus, uint64_t *chance, struct frame *frame)
{
	const struct frame *other = &corpus->frames[below(chance, (uint32_t)corpus->count)];
	uint32_t at = random_place(chance, frame);
	uint32_t from = below(chance, 2) ? at : below(chance, other->size);

	if (from >= other->size || at + other->size - from > FRAME_BYTES)
		return;
	memcpy(frame->byte + at, other->byte + from, other->size - from);
	frame->size = at + other->size - from;
}

/* A field of the headers, as if they stood where they mostly do. */
static void change_field(uint64_t *chance, struct frame *frame)
{
	static const uint8_t of_ipv4[] = {0, 2, 3, 6, 7, 9, 22, 23, 24, 25, 30, 33, 35, 37, 39},
			     of_ipv6[] = {0, 4, 5, 6, 7, 40, 41, 42, 43, 44, 45, 50, 53, 55, 57};
	uint32_t network = network_of(frame), at;

	if (!network) {
		frame->byte[12 + below(chance, 2)] = (uint8_t)below(chance, 256);
		return;
	}
	at = below(chance, sizeof(of_ipv4));
	at = network + (frame->byte[network] / 16 == 6 ? of_ipv6[at] : of_ipv4[at]);
	if (at < frame->size)
		frame->byte[at] = below(chance, 2)
					  ? (uint8_t)below(chance, 256)
					  : (uint8_t)(frame->byte[at] ^ 1U << below(chance, 8));
}

/* A tag more. */
static void add_tag(uint64_t *chance, struct frame *frame)
{
	if (frame->size + 4 > FRAME_BYTES)
		return;
	move(frame, 12, 16);
	memcpy(frame->byte + 12, below(chance, 2) ? "\x81\0\0\7" : "\x88\xa8\0\7", 4);
}

static void change_source(const struct universe *universe, uint64_t *chance, struct frame *frame)
{
	uint32_t network = network_of(frame);
	bool ipv6 = network && frame->byte[network] / 16 == 6;

	if (network && network + 40 <= frame->size)
		universe_address(universe, chance, ipv6, frame->byte + network + (ipv6 ? 8 : 12));
}

static void change(const struct corpus *corpus, const struct universe *universe, uint64_t *chance,
		   struct frame *frame)
{
	switch (below(chance, 9)) {
	case 0:
		flip_bits(chance, frame);
		break;
	case 1:
		change_byte(chance, frame);
		break;
	case 2:
		take_out(chance, frame);
		break;
	case 3:
		put_in(chance, frame);
		break;
	case 4:
		splice(corpus, chance, frame);
		break;
	case 5:
		add_tag(chance, frame);
		break;
	case 6:
		change_source(universe, chance, frame);
		break;
	default:
		change_field(chance, frame);
	}
}

void mutate(const struct corpus *corpus, const struct universe *universe, uint64_t *chance,
	    struct frame *frame)
{
	for (uint32_t changes = 1 + below(chance, 4); changes > 0; changes--)
		if (frame->size > 14)
			change(corpus, universe, chance, frame);
}

void shape(uint64_t *chance, struct frame *frame)
{
	if (one_in(chance, 12))
		frame->size = below(chance, frame->size + 1);
	if (frame->size < LEAST) {
		memset(frame->byte + frame->size, 0, LEAST - frame->size);
		frame->size = LEAST;
	}
	frame->first = frame->size;
	if (frame->size > ONE_BUFFER)
		frame->first = 64 + below(chance, ONE_BUFFER - 64);
	else if (one_in(chance, 16))
		frame->first = 1 + below(chance,
					 below(chance, 2) && frame->size > 120 ? 120 : frame->size);
}

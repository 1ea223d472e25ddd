/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/fleet/bytes.h"

#include <endian.h>
#include <string.h>

const uint8_t *bytes_pass(struct bytes_in *in, size_t size)
{
	const uint8_t *at = in->at;

	if (in->wrong || in->left < size) {
		in->wrong = true;
		return NULL;
	}
	in->at += size;
	in->left -= size;
	return at;
}

void bytes_copy(struct bytes_in *in, void *out, size_t size)
{
	const uint8_t *at = bytes_pass(in, size);

	if (at)
		memcpy(out, at, size);
	else
		memset(out, 0, size);
}

uint8_t bytes_byte(struct bytes_in *in)
{
	uint8_t byte;

	bytes_copy(in, &byte, sizeof(byte));
	return byte;
}

uint32_t bytes_word(struct bytes_in *in)
{
	uint32_t word;

	bytes_copy(in, &word, sizeof(word));
	return be32toh(word);
}

static uint64_t number(struct bytes_in *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = bytes_byte(in);

		/* Ten bytes have room for six bits more than a number has. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		in->wrong |= shift && !byte;
		return value;
	}
	in->wrong = true;
	return 0;
}

uint64_t bytes_number(struct bytes_in *in, uint64_t most)
{
	uint64_t value = number(in);

	in->wrong |= value > most;
	return in->wrong ? 0 : value;
}

void bytes_list(struct bytes_in *in, char name[65])
{
	uint8_t size = bytes_byte(in);

	memset(name, 0, 65);
	in->wrong |= size > 64;
	if (in->wrong)
		return;
	bytes_copy(in, name, size);
	in->wrong |= strlen(name) != size || !xb_list_name_ok(name);
}

void bytes_digest(struct bytes_in *in, struct xb_digest *digest)
{
	uint64_t half[2];

	bytes_copy(in, half, sizeof(half));
	*digest = (struct xb_digest){{be64toh(half[1]), be64toh(half[0])}};
}

void bytes_put(struct bytes_out *out, const void *bytes, size_t size)
{
	if (size)
		memcpy(out->at, bytes, size);
	out->at += size;
}

void bytes_put_byte(struct bytes_out *out, uint8_t byte)
{
	*out->at++ = byte;
}

void bytes_put_word(struct bytes_out *out, uint32_t word)
{
	word = htobe32(word);
	bytes_put(out, &word, sizeof(word));
}

void bytes_put_number(struct bytes_out *out, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		bytes_put_byte(out, (uint8_t)(number | 0x80));
	bytes_put_byte(out, (uint8_t)number);
}

void bytes_put_list(struct bytes_out *out, const char *name)
{
	size_t size = strlen(name);

	bytes_put_byte(out, (uint8_t)size);
	bytes_put(out, name, size);
}

void bytes_put_digest(struct bytes_out *out, const struct xb_digest *digest)
{
	uint64_t half[2] = {htobe64(digest->half[1]), htobe64(digest->half[0])};

	bytes_put(out, half, sizeof(half));
}

bool bytes_are_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

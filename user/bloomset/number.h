/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that stand for numbers, in the one form that a number has. */
#ifndef XB_BLOOMSET_NUMBER_H
#define XB_BLOOMSET_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Parses "192.0.2.1\n"; returns what is behind it, NULL: the line is another. The text must have a
 * line end. */
static inline const char *number_of_address(const char *text, uint32_t *number)
{
	uint32_t address = 0;

	for (unsigned int part = 0; part < 4; part++) {
		uint32_t value = (uint32_t)(uint8_t)*text++ - '0', digit;

		if (value > 9)
			return NULL;
		digit = (uint32_t)(uint8_t)*text - '0';
		if (digit <= 9) {
			if (!value)
				return NULL;
			value = value * 10 + digit;
			digit = (uint32_t)(uint8_t) * ++text - '0';
			if (digit <= 9) {
				value = value * 10 + digit;
				text++;
			}
			if (value > 255)
				return NULL;
		}
		if (*text++ != (part < 3 ? '.' : '\n'))
			return NULL;
		address = address << 8 | value;
	}
	*number = address;
	return text;
}

/* The same of "4294967295\n". */
static inline const char *number_of_integer(const char *text, uint32_t *number)
{
	const char *start = text;
	uint64_t value = 0;

	for (; (uint8_t)(*text - '0') <= 9; text++) {
		if (text - start == 10)
			return NULL;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	if (*text != '\n' || text == start || (*start == '0' && text - start > 1) ||
	    value > UINT32_MAX)
		return NULL;
	*number = (uint32_t)value;
	return text + 1;
}

#endif

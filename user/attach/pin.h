/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pins: kernel objects that live on under a path of the bpf file system. */
#ifndef XB_ATTACH_PIN_H
#define XB_ATTACH_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/paths.h"

/* An error that says what to do if the directory, there or not, is not on a bpf file system. */
int xb_pin_check_place(const char *directory);

/*
 * Creates the directory (0700) if need be; an error says what to do if there is no bpf file system.
 * Mode and group of the directory decide who may use it: what is created in it is open to its
 * group.
 */
int xb_pin_directory(const char *directory);

/* Makes a directory of pins below it. */
int xb_pin_subdirectory(const char *pins, const char *name);

/* Members give names in the pin directory and below it: the functions that take `below`, the name
 * of a directory of pins, open it first, and follow no link there. XB_PINS_TOP is the pin
 * directory, which its owner may have made a link. */
#define XB_PINS_TOP "."

/* Pins with mode 0660. */
int xb_pin(int fd, const char *pins, const char *below, const char *name);

/* A descriptor of the pinned object; -ENOENT without a message if there is none. */
int xb_pin_open(const char *pins, const char *below, const char *name);

/* A directory of pins that is open, for several of them. The names belong to the caller. trusted:
 * nobody else can give names in it, so that they may be used again. */
struct xb_pins {
	int fd;
	bool trusted;
	const char *pins, *below;
};

/* -ENOENT without a message: there is none. */
int xb_pins_open(const char *pins, const char *below, struct xb_pins *out);
void xb_pins_close(struct xb_pins *from);

/* As xb_pin_open(), in that directory. */
int xb_pins_get(const struct xb_pins *from, const char *name);

/* The same for a map that is read by look-ups: the kernel writes as many bytes as the map says.
 * -EBADF with a message: the map has another type (BPF_MAP_TYPE_...) or another size of values. */
int xb_pins_get_map(const struct xb_pins *from, const char *name, uint32_t type,
		    uint32_t value_bytes);

/* The first value of a pinned array, which another version may have laid out: as many bytes of it
 * as `size` has room for, and zeros behind a shorter one. *value_bytes: how many it has. Without a
 * message: -ENOENT if there is no such pin, -EBADF if that is no array. */
int xb_pins_read(const struct xb_pins *from, const char *name, void *bytes, uint32_t size,
		 uint32_t *value_bytes);

/* Renames a pin, or a directory of pins, which becomes a name in the directory below, and removes
 * either. What is not there is no error. */
int xb_pin_rename(const char *pins, const char *name, const char *below, const char *to);
void xb_unpin(const char *pins, const char *below, const char *name);
void xb_unpin_directory(const char *pins, const char *below, const char *name);

/* Identity of the program behind fd. An error if it cannot be told: that is not another program. */
int xb_program_ask(int fd, uint32_t *id);

/* *id: identity of the program in this cell of an array of programs; 0: the cell is empty. An error
 * if it cannot be told: that is not empty. */
int xb_program_in(int array, uint32_t cell, uint32_t *id);

/* Identity of the program, or of the map, behind fd; 0 if it cannot be told. */
uint32_t xb_program_id(int fd);
uint32_t xb_map_id(int fd);

#endif

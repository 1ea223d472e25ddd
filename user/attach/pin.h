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
int xb_pin_subdirectory(const char *path);

/* Pins with mode 0660. */
int xb_pin(int fd, const char *directory, const char *name);

/* A descriptor of the pinned object; -ENOENT without a message if there is none. No link is
 * followed. */
int xb_pin_open(const char *directory, const char *name);

/* The same for a map that is read by look-ups: the kernel writes as many bytes as the map says.
 * -EBADF with a message: the map has another type (BPF_MAP_TYPE_...) or another size of values. */
int xb_pin_open_map(const char *directory, const char *name, uint32_t type, uint32_t value_bytes);

/* Removes a pin, or a directory of pins. What is not there is no error. */
void xb_unpin(const char *directory, const char *name);
void xb_unpin_directory(const char *directory, const char *name);

/* Identity of the program, or of the map, behind fd; 0 if it cannot be told. */
uint32_t xb_program_id(int fd);
uint32_t xb_map_id(int fd);

#endif

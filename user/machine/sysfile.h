/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files of the system, by other programs, read line by line. */
#ifndef XB_MACHINE_SYSFILE_H
#define XB_MACHINE_SYSFILE_H

/* line: without its newline, may be taken apart. path: the file it is from. Returns 0 or an error
 * with its message recorded. */
typedef int xb_sysfile_line(char *line, const char *path, void *context);

/* Hands over the lines of every file that matches the glob(7) pattern, file after file. One that is
 * missing has no lines; one that cannot be read has none and is a notice. */
int xb_sysfile_lines(const char *pattern, xb_sysfile_line *each, void *context);

#endif

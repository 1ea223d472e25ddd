/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are no lists, although their lines have addresses: web pages, rules of which some let
 * pass, tables for people to look at. */
#ifndef XB_LISTS_FOREIGN_H
#define XB_LISTS_FOREIGN_H

/* By the first line that is neither blank nor a comment. Returns 0, or an input error that says
 * what the file is and how to get a list. */
int xb_list_check_foreign(const char *line);

#endif

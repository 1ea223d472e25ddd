/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XB_CLI_COMPLETION_H
#define XB_CLI_COMPLETION_H

#include "cli/cli.h"

/*
 * Prints what completion asks for, a line each of COMMAND;WORD;OFFERS. COMMAND: "" for
 * options in front of a verb and the verbs themselves. WORD: "", "--option", "--option=" if it
 * takes a value, the number of an operand from 1, or "*" for all further ones. OFFERS: words, or
 * one of <files>, <directories>, <interfaces>, <attached>, <lists>, <lists-to-fill>, <feeds>.
 * Returns the exit code.
 */
int completion_print(const struct cli_program *program);

#endif

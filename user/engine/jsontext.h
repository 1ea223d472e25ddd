/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of a JSON object that somebody else wrote. */
#ifndef XB_ENGINE_JSONTEXT_H
#define XB_ENGINE_JSONTEXT_H

#include <jansson.h>

/* *text: the object's, NULL if there is none. An error with its message: it is not a string. */
int xb_json_text(const json_t *object, const char *key, const char **text);

#endif

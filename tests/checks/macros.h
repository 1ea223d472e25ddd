/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros of the system's headers, which cppcheck does not read, as far as they are no expressions.
 */
#ifndef XB_CHECKS_MACROS_H
#define XB_CHECKS_MACROS_H

#define SEC(name)
#define __uint(name, value)	     int name
#define __type(name, value)	     value *name
#define __array(name, value)	     value *name
#define LIBBPF_OPTS(type, name, ...) struct type name = {__VA_ARGS__}
#define bpf_object__for_each_program(program, object)                                              \
	for (program = item(object); program; program = next(program))
#define json_object_foreach(object, key, value)                                                    \
	for (void *each = pairs(object); (value = pair(each, &key));)
#define json_array_foreach(array, index, value)                                                    \
	for (index = 0; (value = json_array_get(array, index)); index++)

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/mmdbfile.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MARKER	       "\xab\xcd\xefMaxMind.com"
#define MARKER_BYTES   (sizeof(MARKER) - 1)
#define META_MOST      (128U << 10) /* bytes within which the marker stands, from the end */
#define SEPARATOR      16U	    /* zeros between the tree and the data */
#define STEPS_A_BYTE   64U
#define STEPS_AT_LEAST 100000U
#define DEPTH	       128U

/* --- values --- */

static int damaged(const char *what)
{
	return xb_input_error("a damaged MMDB database: %s", what);
}

enum {
	POINTER = 1,
	TEXT,
	DOUBLE,
	BYTES,
	UINT16,
	UINT32,
	MAP,
	INT32,
	UINT64,
	UINT128,
	ARRAY,
	BOOL = 14,
	FLOAT
};

/* The byte or bytes in front of a value. */
struct control {
	unsigned int type;
	uint32_t size;
	uint32_t at; /* behind it */
};

static bool has(const struct xb_mmdb_section *data, uint32_t at, uint32_t size)
{
	return at <= data->size && size <= data->size - at;
}

static uint64_t number_at(const struct xb_mmdb_section *data, uint32_t at, uint32_t size)
{
	uint64_t number = 0;

	while (size--)
		number = number << 8 | data->bytes[at++];
	return number;
}

/* Sizes from 29 on stand in bytes of their own. */
static int read_size(const struct xb_mmdb_section *data, struct control *control)
{
	static const uint32_t base[] = {29, 285, 65821};
	uint32_t bytes = control->size - 28;

	if (control->size < 29)
		return 0;
	if (!has(data, control->at, bytes))
		return damaged("it ends within a value");
	control->size = base[bytes - 1] + (uint32_t)number_at(data, control->at, bytes);
	control->at += bytes;
	return 0;
}

static int read_control(struct xb_mmdb_section *data, uint32_t at, struct control *control)
{
	if (!data->steps)
		return damaged("looking at its records never ends");
	data->steps--;
	if (!has(data, at, 1))
		return damaged("it ends within a value");
	control->type = data->bytes[at] >> 5;
	control->size = data->bytes[at] & 31;
	control->at = at + 1;
	if (control->type == POINTER)
		return 0;
	if (!control->type && !has(data, control->at, 1))
		return damaged("it ends within a value");
	if (!control->type)
		control->type = data->bytes[control->at++] + 7U;
	return read_size(data, control);
}

/* Of a pointer: its bytes behind the control byte, and where it leads. Of the five bits of its size
 * two are the form, and three belong to the number. */
static int read_pointer(const struct xb_mmdb_section *data, struct control *control, uint32_t *to)
{
	static const uint32_t base[] = {0, 2048, 526336, 0};
	uint32_t form = control->size >> 3 & 3, bytes = form + 1;
	uint64_t high = form < 3 ? control->size & 7 : 0;

	if (!has(data, control->at, bytes))
		return damaged("it ends within a value");
	*to = (uint32_t)(high << 8 * bytes | number_at(data, control->at, bytes)) + base[form];
	control->at += bytes;
	return 0;
}

/* Bytes behind the control byte that belong to the value itself. */
static uint32_t bytes_of(const struct control *control)
{
	return control->type == MAP || control->type == ARRAY || control->type == BOOL
		       ? 0
		       : control->size;
}

static int read_value(const struct xb_mmdb_section *data, const struct control *control,
		      struct xb_mmdb_value *value)
{
	uint32_t bytes = bytes_of(control);

	if (!has(data, control->at, bytes))
		return damaged("it ends within a value");
	*value = (struct xb_mmdb_value){.kind = XB_MMDB_OTHER, .behind = control->at + bytes};
	switch (control->type) {
	case TEXT:
		value->kind = XB_MMDB_TEXT;
		value->text = (const char *)data->bytes + control->at;
		value->size = control->size;
		return 0;
	case UINT16:
	case UINT32:
	case UINT64:
	case UINT128:
	case INT32:
		if (bytes > 8 ||
		    (control->type == INT32 && bytes == 4 && data->bytes[control->at] & 0x80))
			return 0;
		value->kind = XB_MMDB_NUMBER;
		value->number = number_at(data, control->at, bytes);
		return 0;
	case BOOL:
		value->kind = XB_MMDB_BOOL;
		value->number = control->size;
		return control->size < 2 ? 0 : damaged("a bool is neither 0 nor 1");
	case MAP:
	case ARRAY:
		value->kind = control->type == MAP ? XB_MMDB_MAP : XB_MMDB_ARRAY;
		value->size = control->size;
		value->inside = control->at;
		return 0;
	case DOUBLE:
	case BYTES:
	case FLOAT:
		return 0;
	default:
		return damaged("a value is of an unknown kind");
	}
}

int xb_mmdb_value_at(struct xb_mmdb_section *data, uint32_t at, struct xb_mmdb_value *value)
{
	struct control control;
	uint32_t behind = 0;
	int error = read_control(data, at, &control);

	if (!error && control.type == POINTER) {
		error = read_pointer(data, &control, &at);
		behind = control.at;
		if (!error)
			error = read_control(data, at, &control);
		if (!error && control.type == POINTER)
			error = damaged("a pointer leads to a pointer");
	}
	if (!error)
		error = read_value(data, &control, value);
	if (!error && behind)
		value->behind = behind;
	return error;
}

/* Without recursion: what is left counts the values still to pass over, however they are nested. */
int xb_mmdb_skip(struct xb_mmdb_section *data, uint32_t *at)
{
	uint64_t left = 1;
	int error = 0;

	while (!error && left) {
		struct control control;
		uint32_t to;

		error = read_control(data, *at, &control);
		if (!error && control.type == POINTER)
			error = read_pointer(data, &control, &to);
		else if (!error && !has(data, control.at, bytes_of(&control)))
			error = damaged("it ends within a value");
		if (error)
			return error;
		left--;
		if (control.type == MAP || control.type == ARRAY)
			left += (uint64_t)control.size * (control.type == MAP ? 2 : 1);
		*at = control.at + (control.type == POINTER ? 0 : bytes_of(&control));
	}
	return error;
}

int xb_mmdb_member(struct xb_mmdb_section *data, const struct xb_mmdb_value *map, const char *key,
		   size_t size, struct xb_mmdb_value *value)
{
	uint32_t at = map->inside, left = map->kind == XB_MMDB_MAP ? map->size : 0;

	for (; left; left--) {
		struct xb_mmdb_value name;
		int error = xb_mmdb_value_at(data, at, &name);

		if (!error && name.kind != XB_MMDB_TEXT)
			error = damaged("a key is no text");
		if (error)
			return error;
		at = name.behind;
		if (name.size == size && !memcmp(name.text, key, size))
			return xb_mmdb_value_at(data, at, value);
		error = xb_mmdb_skip(data, &at);
		if (error)
			return error;
	}
	*value = (struct xb_mmdb_value){.kind = XB_MMDB_NONE};
	return 0;
}

/* --- the file --- */

/* A record of the first node is a number of three bytes or more, nearly always a small one. */
bool xb_mmdb_suits(const char *bytes, size_t size)
{
	return size >= 8 && memchr(bytes, '\0', 8);
}

/* The last marker. NULL: there is none. */
static const char *find_marker(const char *bytes, size_t size)
{
	const char *from = size > META_MOST ? bytes + size - META_MOST : bytes, *found = NULL;
	const char *end = bytes + size;

	while ((from = memmem(from, (size_t)(end - from), MARKER, MARKER_BYTES)))
		found = from++;
	return found;
}

/* A number of the metadata; 0: there is none. */
static int read_number(struct xb_mmdb_section *meta, const struct xb_mmdb_value *map,
		       const char *key, uint64_t *number)
{
	struct xb_mmdb_value value;
	int error = xb_mmdb_member(meta, map, key, strlen(key), &value);

	*number = !error && value.kind == XB_MMDB_NUMBER ? value.number : 0;
	return error;
}

static int read_type(struct xb_mmdb_section *meta, const struct xb_mmdb_value *map,
		     struct xb_mmdb *db)
{
	static const char key[] = "database_type";
	struct xb_mmdb_value value;
	int error = xb_mmdb_member(meta, map, key, strlen(key), &value);

	if (!error && value.kind == XB_MMDB_TEXT)
		xb_utf8_show(value.text, value.size, db->type, sizeof(db->type));
	return error;
}

struct metadata {
	uint64_t version, nodes, bits, family;
};

static int read_metadata(const char *bytes, size_t size, struct metadata *metadata,
			 struct xb_mmdb *db)
{
	struct xb_mmdb_section meta = {(const uint8_t *)bytes, size, STEPS_AT_LEAST};
	struct xb_mmdb_value map;
	int error = xb_mmdb_value_at(&meta, 0, &map);

	if (!error)
		error = read_number(&meta, &map, "binary_format_major_version", &metadata->version);
	if (!error)
		error = read_number(&meta, &map, "node_count", &metadata->nodes);
	if (!error)
		error = read_number(&meta, &map, "record_size", &metadata->bits);
	if (!error)
		error = read_number(&meta, &map, "ip_version", &metadata->family);
	return error ? error : read_type(&meta, &map, db);
}

static int check_metadata(const struct metadata *metadata)
{
	if (metadata->version != 2)
		return xb_input_error("an MMDB database of format %" PRIu64
				      ", and only format 2 is known",
				      metadata->version);
	if (metadata->bits != 24 && metadata->bits != 28 && metadata->bits != 32)
		return damaged("its records have neither 24, 28 nor 32 bits");
	if (metadata->family != 4 && metadata->family != 6)
		return damaged("it is neither of IPv4 nor of IPv6");
	return metadata->nodes && metadata->nodes <= UINT32_MAX
		       ? 0
		       : damaged("it does not say how many nodes it has");
}

int xb_mmdb_open(const char *bytes, size_t size, struct xb_mmdb *db)
{
	const char *marker = find_marker(bytes, size);
	const char *meta = marker ? marker + MARKER_BYTES : NULL;
	struct metadata metadata = {0};
	uint64_t tree, whole;
	int error;

	if (!marker)
		return xb_input_error("neither a list nor a whole MMDB database");
	*db = (struct xb_mmdb){.tree = (const uint8_t *)bytes};
	error = read_metadata(meta, (size_t)(bytes + size - meta), &metadata, db);
	if (!error)
		error = check_metadata(&metadata);
	if (error)
		return error;
	tree = metadata.nodes * (metadata.bits / 4);
	whole = (uint64_t)(marker - bytes);
	if (whole < SEPARATOR || tree > whole - SEPARATOR || whole > UINT32_MAX)
		return damaged("it is shorter than its tree: it may have been cut off");
	db->nodes = (uint32_t)metadata.nodes;
	db->bits = (uint32_t)metadata.bits;
	db->ipv6 = metadata.family == 6;
	db->data = (struct xb_mmdb_section){db->tree + tree + SEPARATOR, whole - tree - SEPARATOR,
					    STEPS_AT_LEAST + STEPS_A_BYTE * (uint64_t)size};
	return 0;
}

/* --- the tree --- */

/* What a side of a node leads to: another node, nothing (the number of nodes), or a record. */
static uint32_t child_of(const struct xb_mmdb *db, uint32_t node, unsigned int side)
{
	const uint8_t *at = db->tree + (size_t)node * (db->bits / 4);
	uint32_t left, right;

	if (db->bits == 32) {
		at += 4 * side;
		return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	}
	left = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
	if (db->bits == 24) {
		right = (uint32_t)at[3] << 16 | (uint32_t)at[4] << 8 | at[5];
	} else {
		right = (at[3] & 15U) << 24 | (uint32_t)at[4] << 16 | (uint32_t)at[5] << 8 | at[6];
		left |= (uint32_t)(at[3] >> 4) << 24;
	}
	return side ? right : left;
}

/* Where IPv4 begins in a tree of IPv6: no node if nothing there tells addresses apart. */
static uint32_t find_ipv4(const struct xb_mmdb *db)
{
	uint32_t node = 0;

	for (unsigned int depth = 0; db->ipv6 && depth < 96 && node < db->nodes; depth++)
		node = child_of(db, node, 0);
	return node;
}

struct walk {
	const struct xb_mmdb *db;
	uint32_t ipv4;	  /* its node */
	uint32_t visited; /* nodes: more than there are, and some way leads back */
	int (*take)(void *context, const struct xb_span *network, uint32_t record);
	void *context;
	/* The way to the present node. */
	uint32_t way[DEPTH + 1];
	uint8_t side[DEPTH + 1]; /* the next to look at; 2: both were */
	unsigned int depth;
	xb_address address;
};

static int give(const struct walk *walk, xb_address first, unsigned int length, bool ipv6,
		uint32_t record)
{
	xb_address behind = length < DEPTH ? ~(xb_address)0 >> length : 0;
	struct xb_span network = {first, first | behind, ipv6};

	return walk->take(walk->context, &network, record);
}

static int take_network(const struct walk *walk, xb_address address, unsigned int length,
			uint32_t record)
{
	int error;

	if (!walk->db->ipv6)
		return give(walk, address, length, false, record);
	if (length >= 96 && !(address >> 32))
		return give(walk, address << 96, length - 96, false, record);
	/* Around all of IPv4. */
	error = length < 96 && !address ? give(walk, 0, 0, false, record) : 0;
	return error ? error : give(walk, address, length, true, record);
}

/* Another way to the node of IPv4 than by ::/96. */
static bool is_alias(const struct walk *walk, uint32_t child, xb_address address)
{
	return walk->db->ipv6 && child == walk->ipv4 && child < walk->db->nodes &&
	       (walk->depth + 1 != 96 || address);
}

static int enter(struct walk *walk, uint32_t node, xb_address address)
{
	if (walk->visited++ >= walk->db->nodes)
		return damaged("several ways in its tree lead to one node");
	if (++walk->depth == (walk->db->ipv6 ? DEPTH : 32))
		return damaged("its tree is deeper than an address is long");
	walk->way[walk->depth] = node;
	walk->side[walk->depth] = 0;
	walk->address = address;
	return 0;
}

static int look_at(struct walk *walk, unsigned int side)
{
	const struct xb_mmdb *db = walk->db;
	uint32_t child = child_of(db, walk->way[walk->depth], side);
	xb_address bit = (xb_address)1 << (DEPTH - 1 - walk->depth);
	xb_address address = side ? walk->address | bit : walk->address;
	uint32_t record = child - db->nodes;

	if (child == db->nodes || is_alias(walk, child, address))
		return 0;
	if (child < db->nodes)
		return enter(walk, child, address);
	if (record < SEPARATOR || record - SEPARATOR >= db->data.size)
		return damaged("its tree leads to no record");
	return take_network(walk, address, walk->depth + 1, record - SEPARATOR);
}

int xb_mmdb_walk(const struct xb_mmdb *db,
		 int (*take)(void *context, const struct xb_span *network, uint32_t record),
		 void *context)
{
	struct walk walk = {
		.db = db, .ipv4 = find_ipv4(db), .visited = 1, .take = take, .context = context};
	int error = 0;

	while (!error) {
		unsigned int side = walk.side[walk.depth]++;

		if (side < 2)
			error = look_at(&walk, side);
		else if (!walk.depth)
			return 0;
		else
			walk.address &= ~((xb_address)1 << (DEPTH - walk.depth--));
	}
	return error;
}

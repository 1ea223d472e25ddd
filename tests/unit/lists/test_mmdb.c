/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MMDB databases: what is listed of them, and what becomes of damaged ones. */
#include "lists/mmdbfile.h"
#include "lists/mmdbpath.h"
#include "support/listfile.h"

/* --- making one --- */

#define NODES	  1024
#define EMPTY	  UINT32_MAX
#define RECORD	  0x80000000U /* and the offset of what is said */
#define MARKER	  "\xab\xcd\xefMaxMind.com"
#define SEPARATOR 16

static struct {
	uint32_t node[NODES][2], nodes;
	unsigned char data[1 << 17];
	uint32_t data_bytes;
	bool ipv6;
} db;

static unsigned char out[1 << 18];
static size_t out_bytes;

static uint32_t new_node(uint32_t both)
{
	assert_true(db.nodes < NODES);
	db.node[db.nodes][0] = db.node[db.nodes][1] = both;
	return db.nodes++;
}

static void begin_database(bool ipv6)
{
	memset(&db, 0, sizeof(db));
	db.ipv6 = ipv6;
	new_node(EMPTY);
}

/* The bytes of a literal, as a record. */
#define SAYS(literal) add_data(literal, sizeof(literal) - 1)
static uint32_t add_data(const char *bytes, size_t size)
{
	uint32_t at = db.data_bytes;

	memcpy(db.data + at, bytes, size);
	db.data_bytes += (uint32_t)size;
	return RECORD | at;
}

/* Lets the network lead to a record or a node. */
static void lead(const char *network, uint32_t to)
{
	struct xb_entry entry;
	uint32_t node = 0, depth, skipped = 0;
	xb_address address;

	assert_int_equal(xb_entry_parse(network, strlen(network), NULL, &entry, NULL), 0);
	address = xb_span_of(&entry).first;
	if (db.ipv6 && xb_entry_is_ipv4(&entry)) {
		address >>= 96;
		skipped = 96;
	}
	for (depth = 0; depth < skipped + entry.length; depth++) {
		unsigned int side = (unsigned int)(address >> (127 - depth)) & 1;
		uint32_t child = db.node[node][side];

		if (depth + 1 == skipped + entry.length) {
			db.node[node][side] = to;
		} else {
			if (child >= RECORD)
				child = new_node(child);
			db.node[node][side] = child;
			node = child;
		}
	}
}

/* Where the way of that many zeros leads. */
static uint32_t below_zeros(unsigned int count)
{
	uint32_t node = 0;

	while (count--)
		node = db.node[node][0];
	return node;
}

static void put_number(uint64_t number, unsigned int bytes)
{
	while (bytes--)
		out[out_bytes++] = (unsigned char)(number >> 8 * bytes);
}

static uint32_t value_of(uint32_t child)
{
	return child == EMPTY	? db.nodes
	       : child < RECORD ? child
				: db.nodes + SEPARATOR + (child & ~RECORD);
}

static void put_node(const uint32_t node[2], unsigned int bits)
{
	uint32_t left = value_of(node[0]), right = value_of(node[1]);

	if (bits == 28) {
		put_number(left & 0xffffff, 3);
		put_number(left >> 24 << 4 | right >> 24, 1);
		put_number(right & 0xffffff, 3);
	} else {
		put_number(left, bits / 8);
		put_number(right, bits / 8);
	}
}

static void put_bytes(const char *bytes, size_t size)
{
	memcpy(out + out_bytes, bytes, size);
	out_bytes += size;
}

#define PUT(literal) put_bytes(literal, sizeof(literal) - 1)

static void put_metadata(uint32_t nodes, unsigned int bits)
{
	PUT(MARKER "\xe5\x4anode_count\xc4");
	put_number(nodes, 4);
	PUT("\x4brecord_size\xa1");
	put_number(bits, 1);
	PUT("\x4aip_version\xa1");
	put_number(db.ipv6 ? 6 : 4, 1);
	PUT("\x4d"
	    "database_type\x44Test\x5b"
	    "binary_format_major_version\xa1\x02");
}

static void end_database(unsigned int bits)
{
	out_bytes = 0;
	for (uint32_t i = 0; i < db.nodes; i++)
		put_node(db.node[i], bits);
	memset(out + out_bytes, 0, SEPARATOR);
	out_bytes += SEPARATOR;
	put_bytes((const char *)db.data, db.data_bytes);
	put_metadata(db.nodes, bits);
}

/* --- what is listed --- */

#define CHOOSE(...) (&(struct xb_list_choice){__VA_ARGS__})

static void check_choice(const struct xb_list_choice *choice, const char *outcome)
{
	const struct xb_listfile_terms terms = {.choice = *choice};
	struct xb_listfile file;
	char found[4096];

	write_list((const char *)out, out_bytes);
	xb_error_clear();
	if (xb_listfile_read_as(-1, path, &terms, &file)) {
		assert_string_equal(xb_error_message() + strlen(path), outcome);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		return;
	}
	describe(&file, found, sizeof(found));
	assert_string_equal(found, outcome);
	xb_listfile_free(&file);
}

#define COUNTRY(code)                                                                              \
	"\xe1\x47"                                                                                 \
	"country\xe1\x48iso_code\x42" code

TEST(each_size_of_records)
{
	static const unsigned int sizes[] = {24, 28, 32};

	for (size_t i = 0; i < 6; i++) {
		begin_database(i % 2);
		lead("192.0.2.0/25", SAYS(COUNTRY("DE")));
		lead("198.51.100.7", SAYS(COUNTRY("FR")));
		if (db.ipv6)
			lead("2001:db8::/48", RECORD);
		end_database(sizes[i / 2]);
		check_choice(CHOOSE(.country = "DE"),
			     i % 2 ? "mmdb: 192.0.2.0/25, 2001:db8::/48" : "mmdb: 192.0.2.0/25");
		check_choice(CHOOSE(.country = "fr"), "mmdb: 198.51.100.7");
		check_choice(CHOOSE(.not_country = "DE"), "mmdb: 198.51.100.7");
	}
}

TEST(ipv4_counts_once)
{
	uint32_t mapped;

	begin_database(true);
	lead("192.0.2.0/24", SAYS(COUNTRY("DE")));
	mapped = below_zeros(80);
	for (unsigned int depth = 80; depth < 95; depth++)
		mapped = db.node[mapped][1] = new_node(EMPTY);
	db.node[mapped][1] = below_zeros(96);
	lead("2002::/16", below_zeros(96));
	lead("2001::/32", below_zeros(96));
	lead("2003::/16", RECORD);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 192.0.2.0/24, 2003::/16");
}

TEST(what_is_around_ipv4)
{
	begin_database(true);
	lead("::/64", SAYS(COUNTRY("DE")));
	lead("2001:db8::/32", RECORD);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 0.0.0.0/0, ::/64, 2001:db8::/32");
}

TEST(neighbours_become_one)
{
	begin_database(false);
	lead("192.0.2.0/25", SAYS(COUNTRY("DE")));
	lead("192.0.2.128/26", RECORD);
	lead("192.0.2.192/26", SAYS("\xe2\x47"
				    "country\xe1\x48iso_code\x42"
				    "DE\x41"
				    "a\x41"
				    "b"));
	lead("192.0.3.0/24", SAYS(COUNTRY("FR")));
	lead("6.0.0.0/7", RECORD);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 6.0.0.0/8, 7.0.0.0/8, 192.0.2.0/24");
	begin_database(false);
	lead("16.0.0.0/4", SAYS(COUNTRY("DE")));
	lead("32.0.0.0/3", RECORD);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     "mmdb: 16.0.0.0/8, 17.0.0.0/8, 18.0.0.0/8, 19.0.0.0/8, 20.0.0.0/8, "
		     "21.0.0.0/8, 22.0.0.0/8, 23.0.0.0/8, 24.0.0.0/8, 25.0.0.0/8, 26.0.0.0/8, "
		     "27.0.0.0/8, 28.0.0.0/8, 29.0.0.0/8, 30.0.0.0/8, 31.0.0.0/8, 32.0.0.0/3");
}

TEST(networks_without_a_country)
{
	begin_database(false);
	lead("192.0.2.0/27", SAYS(COUNTRY("DE")));
	lead("192.0.2.32/27", SAYS(COUNTRY("FR")));
	lead("192.0.2.64/27", SAYS(COUNTRY("ZZ")));
	lead("192.0.2.96/27", SAYS("\xe1\x52registered_country\xe1\x48iso_code\x42"
				   "FR"));
	lead("192.0.2.128/27", SAYS(COUNTRY("EU")));
	lead("192.0.2.160/27", SAYS("\xe1\x47"
				    "country\x46"
				    "France"));
	end_database(24);
	check_choice(CHOOSE(.not_country = "DE"),
		     "mmdb: 192.0.2.32/27; note 0: 4 networks without a country are not listed");
	check_choice(CHOOSE(.not_country = "DE,AT"),
		     "mmdb: 192.0.2.32/27; note 0: no network is in the country AT; note 0: 4 "
		     "networks without a country "
		     "are not listed");
	check_choice(CHOOSE(.country = "FR"), "mmdb: 192.0.2.32/27");
	check_choice(CHOOSE(.mmdb = "registered_country.iso_code=FR"), "mmdb: 192.0.2.96/27");
}

TEST(other_publishers)
{
	begin_database(false);
	lead("192.0.2.0/26", SAYS("\xe3\x43"
				  "asn\x47"
				  "AS64500\x4c"
				  "country_code\x42"
				  "DE\x4e"
				  "continent_code\x42"
				  "EU"));
	lead("192.0.2.64/26", SAYS("\xe2\x58"
				   "autonomous_system_number\xc2\xfb\xf5\x47"
				   "country\x42"
				   "AT"));
	lead("192.0.2.128/26", SAYS("\xe1\x49"
				    "continent\xe1\x44"
				    "code\x42"
				    "EU"));
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 192.0.2.0/26");
	check_choice(CHOOSE(.country = "AT"), "mmdb: 192.0.2.64/26");
	check_choice(CHOOSE(.country = "AT,DE", .asn = "64501,9,AS64500"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.asn = "64501"), "mmdb: 192.0.2.64/26");
	check_choice(CHOOSE(.continent = "EU"), "mmdb: 192.0.2.0/26, 192.0.2.128/26");
	check_choice(CHOOSE(.continent = "EU", .country = "DE"), "mmdb: 192.0.2.0/26");
}

TEST(paths)
{
	begin_database(false);
	/* {"vpn": true, "tags": ["scan", "tor"], "n": 7, "empty": {}, "z": false} */
	lead("192.0.2.0/25",
	     SAYS("\xe5\x43vpn\x01\x07\x44tags\x02\x04\x44scan\x43tor\x41n\xc1\x07\x45"
		  "empty\xe0\x41z\x00\x07"));
	lead("192.0.2.128/25", SAYS("\xe0"));
	end_database(24);
	check_choice(CHOOSE(.mmdb = "vpn"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.mmdb = "vpn=true|x,n=8|7"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.mmdb = "tags[]=tor"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.mmdb = "[]=7"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.mmdb = "[][]=scan"), "mmdb: 192.0.2.0/25");
	check_choice(CHOOSE(.mmdb = "."), "mmdb: 192.0.2.0/24");
#define NONE                                                                                       \
	": none of its networks is among those that were asked for; the database is of the type "  \
	"'Test', its first record has vpn=true, n=7, z=false"
	check_choice(CHOOSE(.mmdb = "vpn,n=8"), NONE);
	check_choice(CHOOSE(.mmdb = "z"), NONE);
	check_choice(CHOOSE(.mmdb = "empty"), NONE);
	check_choice(CHOOSE(.mmdb = "vpn.x"), NONE);
	check_choice(CHOOSE(.mmdb = "tags=scan"), NONE);
	check_choice(CHOOSE(.asn = "1"),
		     ": none of its networks has an AS; the database is of the "
		     "type 'Test', its first record has vpn=true, n=7, z=false");
	check_choice(CHOOSE(.json = NULL), ": which networks of the database are meant has to be "
					   "said; the database is of the type 'Test', its first "
					   "record has vpn=true, n=7, z=false");
}

/* Pointers of each size, and texts of each form of length. */
TEST(pointers)
{
	static const char country[] = COUNTRY("DE");
	static char filling[40000];

	begin_database(false);
	SAYS(COUNTRY("DE"));
	lead("192.0.2.0/28", SAYS("\x20\x00"));
	lead("192.0.2.16/28", SAYS("\x38\x00\x00\x00\x00"));
	lead("192.0.2.32/28", SAYS("\xe2\x41"
				   "a\x5d\x00"
				   "0123456789012345678901234567\x01\x47"
				   "country\x20\x0b"));
	add_data(filling, 2100 - db.data_bytes);
	lead("192.0.2.48/28", add_data(country, sizeof(country) - 1));
	lead("192.0.2.64/28", SAYS("\x28\x00\x34"));
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 192.0.2.0/27, 192.0.2.48/28, 192.0.2.64/28");
}

/* --- damaged ones --- */

static int open_out(struct xb_mmdb *opened)
{
	xb_error_clear();
	return xb_mmdb_open((const char *)out, out_bytes, opened);
}

TEST(metadata_that_lies)
{
	struct xb_mmdb opened;

	begin_database(false);
	lead("192.0.2.0/24", SAYS(COUNTRY("DE")));
	end_database(24);
	assert_int_equal(open_out(&opened), 0);
	/* 2^32 bytes and a few, by a number of 32 bits. */
	out_bytes = 0;
	for (uint32_t i = 0; i < db.nodes; i++)
		put_node(db.node[i], 24);
	memset(out + out_bytes, 0, SEPARATOR);
	out_bytes += SEPARATOR;
	put_metadata(0x2aaaaaab, 24);
	assert_int_equal(open_out(&opened), -EINVAL);
	assert_string_equal(xb_error_message(), "a damaged MMDB database: it is shorter than its "
						"tree: it may have been cut off");
	out_bytes = 0;
	put_metadata(0, 24);
	assert_int_equal(open_out(&opened), -EINVAL);
	out_bytes = 0;
	put_metadata(1, 23);
	assert_int_equal(open_out(&opened), -EINVAL);
	out_bytes = 0;
	PUT(MARKER);
	assert_int_equal(open_out(&opened), -EINVAL);
	PUT("\xe0");
	assert_int_equal(open_out(&opened), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "an MMDB database of format 0, and only format 2 is known");
}

TEST(ways_that_lead_back)
{
	begin_database(true);
	lead("192.0.2.0/24", SAYS(COUNTRY("DE")));
	lead("2001:db8::/32", 0);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     ": a damaged MMDB database: several ways in its tree lead to one node");
	begin_database(false);
	lead("192.0.2.1/32", new_node(EMPTY));
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     ": a damaged MMDB database: its tree is deeper than an address is long");
	begin_database(false);
	lead("192.0.2.0/24", RECORD | 10000);
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     ": a damaged MMDB database: its tree leads to no record");
	begin_database(false);
	lead("192.0.2.0/24", SAYS("\x20\x00"));
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     ": a damaged MMDB database: a pointer leads to a pointer");
}

/* They are passed over, however deep, without a call for each. */
TEST(levels_without_end)
{
	static char levels[4000];

	begin_database(false);
	db.data_bytes = 0;
	lead("192.0.2.0/24", SAYS("\xe2\x41"
				  "a"));
	for (size_t i = 0; i < sizeof(levels); i += 2)
		memcpy(levels + i, "\x01\x04", 2);
	add_data(levels, sizeof(levels));
	SAYS("\x01\x07\x47"
	     "country\xe1\x48iso_code\x42"
	     "DE");
	end_database(24);
	check_choice(CHOOSE(.country = "DE"), "mmdb: 192.0.2.0/24");
}

/* Each network has a long map of its own, and the maps share what they have: all of it are texts,
 * of which some have the beginning of a map in them. */
TEST(work_without_end)
{
	begin_database(false);
	for (unsigned int i = 0; i < 256; i++) {
		char network[32];

		SAYS("\x43");
		snprintf(network, sizeof(network), "192.0.2.%u", i);
		lead(network, SAYS("\xfe\x25\xf3"));
	}
	for (unsigned int i = 0; i < 30000; i++)
		SAYS("\x41"
		     "a");
	end_database(24);
	check_choice(CHOOSE(.country = "DE"),
		     ": a damaged MMDB database: looking at its records never ends");
}

static int look_at_network(void *context, const struct xb_span *network, uint32_t record)
{
	struct xb_mmdb *opened = context;
	static struct xb_mmdb_conditions conditions;
	char described[64];
	bool hold;
	int error = xb_mmdb_conditions_parse("country.iso_code=DE,[][]", &conditions);

	if (!error)
		error = xb_mmdb_conditions_hold(&conditions, &opened->data, record, &hold);
	return error ? error
		     : xb_mmdb_describe(&opened->data, record, described, sizeof(described));
}

/* Nothing behind the bytes can be read. */
static void read_damaged(size_t size)
{
	char *bytes = malloc(size ?: 1);
	struct xb_mmdb opened;

	assert_non_null(bytes);
	memcpy(bytes, out, size);
	xb_error_clear();
	if (xb_mmdb_open(bytes, size, &opened) || xb_mmdb_walk(&opened, look_at_network, &opened)) {
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_null(strchr(xb_error_message(), '\n'));
	}
	free(bytes);
}

TEST(cut_off_and_damaged)
{
	begin_database(true);
	lead("192.0.2.0/24", SAYS(COUNTRY("DE")));
	lead("2001:db8::/32", SAYS("\xe1\x47"
				   "country\x20\x0a"));
	end_database(28);
	for (size_t size = 0; size < out_bytes; size++)
		read_damaged(size);
	for (size_t at = 0; at < out_bytes; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			out[at] ^= (unsigned char)(1 << bit);
			read_damaged(out_bytes);
			out[at] ^= (unsigned char)(1 << bit);
		}
}

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);

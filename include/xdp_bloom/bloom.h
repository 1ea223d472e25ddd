/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bloom filters for programs: made, asked, combined, kept in files, and exchanged with Java through
 * Guava's format. The calls have the names that users of Guava's BloomFilter know.
 *
 * An element is a string of bytes. A filter answers "surely never put" or "perhaps put": it has no
 * false negatives, and false positives at a rate that follows from its size. (The filter of packets
 * is another one: xdp_bloom/layout.h.)
 *
 * Errors: unless stated otherwise a function returns 0 or a negative errno, with a message as
 * base/error.h has it: XB_ERROR_INPUT for what is wrong with a request or a file, XB_ERROR_SYSTEM
 * for what the machine could not do. Threads may ask one filter at the same time while nobody
 * changes it.
 *
 * Build with `pkg-config --cflags --libs libxdp-bloom`.
 */
#ifndef XDP_BLOOM_BLOOM_H
#define XDP_BLOOM_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the bits of an element are chosen. */
enum xb_filter_kind {
	/* As Bloom has it (CACM 1970): hashes independent of each other choose from all bits. */
	XB_FILTER_STANDARD,
	/* All bits of an element in one line of 64 bytes, as in the filter of packets: one read
	 * from memory, for some more bits (Putze, Sanders, Singler, JEA 2009). */
	XB_FILTER_BLOCKED,
	/* Guava's MURMUR128_MITZ_32 and MURMUR128_MITZ_64: two hashes, and sums of them (Kirsch,
	 * Mitzenmacher, ESA 2006). They have no key: who knows the format can compute which
	 * elements hit by accident. */
	XB_FILTER_GUAVA_32,
	XB_FILTER_GUAVA_64,
};

/* What elements are made of; the filter only keeps it for its reader. Guava's funnels, in the order
 * stringFunnel(UTF_8), unencodedCharsFunnel(), integerFunnel(), longFunnel(), byteArrayFunnel(). */
enum xb_funnel {
	XB_FUNNEL_STRING,  /* text, in UTF-8 */
	XB_FUNNEL_CHARS,   /* text, in UTF-16 */
	XB_FUNNEL_INTEGER, /* 32 bits */
	XB_FUNNEL_LONG,	   /* 64 bits */
	XB_FUNNEL_BYTES,
};

/* 128 bits on which the choice of bits depends, of the first two kinds. */
struct xb_filter_key {
	uint64_t a, b;
};

/* How texts are written; the filter only keeps it for its reader. */
enum xb_filter_form {
	XB_FORM_LINES,	 /* as they came */
	XB_FORM_ENTRIES, /* addresses, prefixes and domains in their canonical form */
};

/* What a filter is to be. All zero is a standard one with a random key. */
struct xb_filter_options {
	enum xb_filter_kind kind;
	enum xb_funnel funnel;
	enum xb_filter_form form;
	bool counting;	 /* with a counter of 4 bits behind each bit; of standard filters alone */
	uint64_t bits;	 /* m; 0: from expected insertions and rate */
	uint32_t hashes; /* k, 1 to 255, together with m; a blocked one has 8 or 16 */
	const struct xb_filter_key *key; /* NULL: a random one */
};

/* Bytes that an element can have that a funnel makes of so many bytes of text. */
#define XB_FUNNEL_ROOM(size) (2 * (size) + 8)

/*
 * The element that a line of text stands for, as Guava's funnel of this name makes it. STRING: the
 * line as it is. CHARS: a line of UTF-8, in UTF-16, little endian. INTEGER and LONG: a decimal
 * number of 32 or 64 bits with a sign, little endian; INTEGER also an IPv4 address, as
 * InetAddresses.coerceToInteger() takes it. BYTES: a line of hexadecimal digits. Returns the number
 * of bytes, or -EINVAL with a message that says what is wrong with the line.
 */
int64_t xb_funnel_take(enum xb_funnel funnel, const char *line, size_t size, uint8_t *element);

struct xb_filter;

/*
 * An empty filter for so many elements, with this rate of false positives when they are in; 0
 * counts as 1. Where the options say m and k, rate has no meaning. The rate is more than 0 and less
 * than 1. The caller frees the filter.
 */
int xb_filter_create(uint64_t expected_insertions, double rate,
		     const struct xb_filter_options *options, struct xb_filter **filter);

/* NULL is allowed. */
void xb_filter_free(struct xb_filter *filter);

/*
 * Puts an element in. Returns 1 if it was surely not in before, 0 if it perhaps was. In a counting
 * filter, a counter of 4 bits behind each bit goes up in both cases; one that has reached 15
 * stays there for ever, and so does an element that was put in 15 times.
 * A filter that was read to be asked only is not to be changed.
 */
int xb_filter_put(struct xb_filter *filter, const void *element, size_t size);

/* False: it was surely never put in. */
bool xb_filter_might_contain(const struct xb_filter *filter, const void *element, size_t size);

/*
 * Takes one putting of an element out of a counting filter. -ENOENT without a message: it is not
 * in, and nothing has changed. The bits alone could not tell what hits by accident, and would lose
 * others with it; so a counting filter keeps a hash of 64 bits of each element besides.
 */
int xb_filter_del(struct xb_filter *filter, const void *element, size_t size);

/* Takes everything out, and keeps sizes and key. */
void xb_filter_clear(struct xb_filter *filter);

/*
 * The rate of false positives with the bits as they are now: (set bits / m) to the power of k, for
 * a blocked filter the mean of that over its blocks and words. For elements that are not chosen to
 * hit, that is exact where hashes are independent, which those of Guava's kinds are not: for these
 * it is what expectedFpp() says, which for GUAVA_32 with more than 2^31 bits is too little, since
 * its hashes of 31 bits never reach the others. Fewer than 1,000 elements or rates below 1e-5 cost
 * more then (docs/bloom.md; why: Dillinger, Manolios, "Bloom Filters in Probabilistic
 * Verification", FMCAD 2004).
 */
double xb_filter_expected_rate(const struct xb_filter *filter);

/* How many different elements are in, by the bits that are set: -m/k ln(1 - set/m) (Swamidass,
 * Baldi, J. Chem. Inf. Model. 2007). Within a few parts in a thousand for a filter that is not much
 * fuller than intended. If all bits are set: UINT64_MAX. */
uint64_t xb_filter_approximate_count(const struct xb_filter *filter);

/* Whether both can be combined: the same kind, sizes, key and elements, and both or none counting.
 */
bool xb_filter_is_compatible(const struct xb_filter *one, const struct xb_filter *other);

/* What keeps them apart, as a clause of a sentence ("they have different keys"); NULL: nothing. */
const char *xb_filter_difference(const struct xb_filter *one, const struct xb_filter *other);

/* Puts all in that is in the other one, which has to be compatible; an input error says what
 * differs. Counters are added; a sum of 15 or more stays 15. */
int xb_filter_put_all(struct xb_filter *filter, const struct xb_filter *other);

/* A filter of its own that has the same in it, and can be changed; NULL after an error. */
int xb_filter_copy(const struct xb_filter *filter, struct xb_filter **copy);

/* What a filter is, and what is in it. */
struct xb_filter_info {
	enum xb_filter_kind kind;
	enum xb_funnel funnel;
	enum xb_filter_form form; /* lines in Guava's format, which does not say it */
	bool counting;
	uint64_t bits;	     /* m */
	uint32_t hashes;     /* k */
	uint64_t expected;   /* n it was made for; 0: not known, as in Guava's format */
	uint64_t insertions; /* puts, less what was deleted; 0 in Guava's format */
	double rate;	     /* asked for; 0: not known */
	uint64_t set_bits;
	uint64_t stuck; /* counters that stay at 15 */
	uint64_t bytes; /* of bits, counters and fingerprints */
	struct xb_filter_key key;
};

struct xb_filter_info xb_filter_inspect(const struct xb_filter *filter);

/*
 * Writes a file: beside, synced, and then renamed, so that whoever opens the path meanwhile finds
 * the former file or the new one. What is no regular file, such as a pipe, is written as it is.
 * Filters of Guava's kinds become what BloomFilter.readFrom() reads, byte for byte what writeTo()
 * writes; the others get a header with sizes, key and check sums (user/bloom/filterfile.h).
 */
int xb_filter_write(const struct xb_filter *filter, const char *path);

/* The same to a descriptor; name: for messages. */
int xb_filter_write_fd(const struct xb_filter *filter, int fd, const char *name);

enum xb_filter_access {
	XB_FILTER_ASK,	  /* the pages of the file are those of the filter */
	XB_FILTER_CHANGE, /* as above until they change, which the file does not see */
};

/*
 * Reads a file of either format; which one its first bytes say. Nothing but a whole, undamaged
 * filter is read: everything else is an input error. Guava's format has no check sums and does not
 * say the funnel, which is `funnel` then, and the options say in ours. A regular file is mapped:
 * who cuts it short meanwhile ends the reader by SIGBUS.
 */
int xb_filter_read(const char *path, enum xb_filter_access access, enum xb_funnel funnel,
		   struct xb_filter **filter);
int xb_filter_read_fd(int fd, const char *name, enum xb_filter_access access, enum xb_funnel funnel,
		      struct xb_filter **filter);

/*
 * The formulas of sizing, with n elements, m bits, k hashes and the rate p.
 * p = (1 - (1 - 1/m)^(kn))^k (Bloom 1970; exact but for terms of 1/m: Bose et al., Inf. Process.
 * Lett. 2008).
 */
double xb_filter_rate_of(double elements, double bits, uint32_t hashes);

/* m = -k n / ln(1 - p^(1/k)): the bits with which k hashes keep the rate (the former, solved for m
 * with 1 - 1/m as e^(-1/m)); rounded up. */
double xb_filter_bits_for(double elements, double rate, uint32_t hashes);

/* k = ln(1/p) / ln 2, or its neighbour if that takes fewer bits (Broder, Mitzenmacher, Internet
 * Math. 2004, section 2.2). */
uint32_t xb_filter_hashes_for(double rate);

#ifdef __cplusplus
}
#endif

#endif

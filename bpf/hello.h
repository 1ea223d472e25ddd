/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the name in the first data of a connection, if one segment holds all of it: the server name
 * of a TLS hello, or the host of an HTTP request. */
#ifndef XDP_BLOOM_HELLO_H
#define XDP_BLOOM_HELLO_H

#include <linux/bpf.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bits.h"
#include "name.h"
#include "query.h"

#define TEXT_AT	   (DNS_HEADER + 1) /* so that there is room for the first label's length */
#define HOST_BYTES 254		    /* at most, of which the last is a dot then */

/*
 * Makes labels of text that stands from TEXT_AT on: the length of each goes where the dot before it
 * was. room: its bytes, of which the last is a dot.
 */
static long host_next_label(__u32 round __attribute__((unused)), void *data)
{
	struct name *name = *(struct name **)data;
	__u8 *length = name_at(name, name->bytes);
	__u64 dots = 0;
	__u32 bytes = 0;

	if (name->bytes >= name->room) {
		name->bad = XB_NAME_CLEAN;
		return 1;
	}
#pragma unroll
	for (__u32 i = 0; i < 8; i++) {
		dots = bytes_zero(*(__u64 *)(length + 1 + 8 * i) ^ EACH_BYTE('.'));
		if (dots)
			break;
		bytes += 8;
	}
	bytes += dots ? lowest_byte(dots) : 0;
	if (!bytes || bytes > 63)
		return 1;
	*length = bytes;
	name->start[name->labels & 127] = name->bytes;
	name->labels++;
	name->bytes += bytes + 1;
	return 0;
}

/* size: of the text at TEXT_AT, 1 to HOST_BYTES. False if it is no name. */
static __always_inline bool host_cut(struct name *name, __u32 size)
{
	__u8 *last = &name->message[TEXT_AT - 1 + (size & 255)];

	if (*last != '.') {
		last[1] = '.';
		size++;
	}
	if (size > HOST_BYTES)
		return false;
	name->room = size;
	name->bad = XB_DNS_LABEL;
	name->bytes = name->labels = 0;
	bpf_loop(XB_NAME_LABELS + 1, host_next_label, &name, 0);
	return name->bad == XB_NAME_CLEAN && name->bytes == name->room && name->labels;
}

/* Brings size bytes of the packet to TEXT_AT. */
static __always_inline bool host_load(struct xdp_md *ctx, struct name *name, __u32 at, __u32 size)
{
	return size && size <= HOST_BYTES &&
	       !bpf_xdp_load_bytes(ctx, at, &name->message[TEXT_AT], bounded(size, 1, HOST_BYTES));
}

/* What a walk through the data needs. */
struct hello_walk {
	struct xdp_md *ctx;
	struct name *name;
};

/* RFC 8446, section 4.1.2. */
struct tls_start {
	__u8 type;
	__u8 version[2];
	__u8 length[2]; /* of the record */
	__u8 message;
	__u8 message_length[3];
	__u8 legacy_version[2];
	__u8 random[32];
	__u8 session_bytes;
};

#define TLS_HANDSHAKE  22
#define TLS_HELLO      1
#define TLS_RECORD     5  /* bytes of its header */
#define TLS_MESSAGE    9  /* bytes up to what its length counts */
#define TLS_EXTENSIONS 64 /* at most */

static __always_inline __u32 u16_of(const __u8 bytes[2])
{
	return bytes[0] << 8 | bytes[1];
}

static __always_inline __u32 u24_of(const __u8 bytes[3])
{
	return bytes[0] << 16 | u16_of(bytes + 1);
}

/* Ends the data at `end`, unless it ends before: an inner length cannot exceed an outer one. */
static __always_inline void hello_end(struct hello *hello, __u32 end)
{
	if (end < hello->end)
		hello->end = end;
}

static long tls_next_extension(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;
	struct hello *hello = &walk->name->hello;
	__u8 bytes[9];

	if (hello->at + 4 > hello->end || bpf_xdp_load_bytes(walk->ctx, hello->at, bytes, 4))
		return 1;
	if (u16_of(bytes)) {
		hello->at += 4 + u16_of(bytes + 2);
		return 0;
	}
	/* RFC 6066, section 3: a list; its first name is the host's, the only kind that exists. */
	if (hello->at + 9 > hello->end || bpf_xdp_load_bytes(walk->ctx, hello->at, bytes, 9) ||
	    bytes[6])
		return 1;
	hello_end(hello, hello->at + 4 + u16_of(bytes + 2));
	hello_end(hello, hello->at + 6 + u16_of(bytes + 4));
	hello->host = hello->at + 9;
	hello->size = u16_of(bytes + 7);
	if (hello->host + hello->size > hello->end)
		hello->size = 0;
	return 1;
}

/* Past a vector whose length is a number of 1 or 2 bytes. */
static __always_inline bool tls_skip(struct xdp_md *ctx, struct hello *hello, __u32 number)
{
	__u8 bytes[2];

	if (hello->at + number > hello->end ||
	    bpf_xdp_load_bytes(ctx, hello->at, bytes, number == 1 ? 1 : 2))
		return false;
	hello->at += number + (number == 1 ? bytes[0] : u16_of(bytes));
	return true;
}

/* Into the vector of the extensions. */
static __always_inline bool tls_enter(struct xdp_md *ctx, struct hello *hello)
{
	__u8 bytes[2];

	if (hello->at + 2 > hello->end || bpf_xdp_load_bytes(ctx, hello->at, bytes, 2))
		return false;
	hello->at += 2;
	hello_end(hello, hello->at + u16_of(bytes));
	return true;
}

/* False: this is no hello. */
static __noinline int tls_find(struct xdp_md *ctx, struct name *name)
{
	struct hello_walk walk = {.ctx = ctx, .name = name};
	struct hello *hello = &name->hello;
	struct tls_start start;

	if (hello->at + TLS_RECORD + 1 > hello->end ||
	    bpf_xdp_load_bytes(ctx, hello->at, &start, TLS_RECORD + 1) ||
	    start.type != TLS_HANDSHAKE || start.version[0] != 3 || start.message != TLS_HELLO)
		return false;
	/* If the hello goes on in another record, that one's header would stand in between. */
	hello_end(hello, hello->at + TLS_RECORD + u16_of(start.length));
	if (hello->at + sizeof(start) > hello->end ||
	    bpf_xdp_load_bytes(ctx, hello->at, &start, sizeof(start)))
		return true;
	hello_end(hello, hello->at + TLS_MESSAGE + u24_of(start.message_length));
	hello->at += (__u32)sizeof(start) + start.session_bytes;
	if (!tls_skip(ctx, hello, 2) || !tls_skip(ctx, hello, 1) || !tls_enter(ctx, hello))
		return true;
	bpf_loop(TLS_EXTENSIONS, tls_next_extension, &walk, 0);
	return true;
}

#define WORD(a, b, c, d)	     ((__u32)(a) | (b) << 8 | (c) << 16 | (__u32)(d) << 24)
#define TEXT(a, b, c, d, e, f, g, h) ((__u64)WORD(a, b, c, d) | (__u64)WORD(e, f, g, h) << 32)
#define FIRST(bytes, word)	     ((word) & (~0ULL >> (64 - 8 * (bytes))))

/* The methods of RFC 9110 and RFC 5789, with the blank behind them. */
static __always_inline bool is_http_method(__u64 word)
{
	return FIRST(4, word) == TEXT('G', 'E', 'T', ' ', 0, 0, 0, 0) ||
	       FIRST(5, word) == TEXT('P', 'O', 'S', 'T', ' ', 0, 0, 0) ||
	       FIRST(5, word) == TEXT('H', 'E', 'A', 'D', ' ', 0, 0, 0) ||
	       FIRST(4, word) == TEXT('P', 'U', 'T', ' ', 0, 0, 0, 0) ||
	       FIRST(7, word) == TEXT('D', 'E', 'L', 'E', 'T', 'E', ' ', 0) ||
	       word == TEXT('O', 'P', 'T', 'I', 'O', 'N', 'S', ' ') ||
	       word == TEXT('C', 'O', 'N', 'N', 'E', 'C', 'T', ' ') ||
	       FIRST(6, word) == TEXT('P', 'A', 'T', 'C', 'H', ' ', 0, 0) ||
	       FIRST(6, word) == TEXT('T', 'R', 'A', 'C', 'E', ' ', 0, 0);
}

static __always_inline __u64 text_word(struct hello *hello, __u32 at)
{
	return *(__u64 *)&hello->text[at & (TEXT_BYTES - 1)];
}

#define SMALL EACH_BYTE(0x20)

/* Of 8 bytes, the line feeds before the host's line and before an empty one; text: readable 13
 * bytes from there on. All at once, so that short lines cost no more than long ones. */
static __always_inline __u64 http_lines(const __u8 *text, bool folded)
{
#define FROM(at) (*(const __u64 *)(text + (at)))
	__u64 feeds = bytes_equal(FROM(0), '\n'), empty, host, fold = 0;

	if (!feeds)
		return 0;
	empty = bytes_equal(FROM(1), '\n') | bytes_equal(FROM(1), '\r');
	host = bytes_equal(FROM(1) | SMALL, 'h') & bytes_equal(FROM(2) | SMALL, 'o') &
	       bytes_equal(FROM(3) | SMALL, 's') & bytes_equal(FROM(4) | SMALL, 't') &
	       bytes_equal(FROM(5), ':');
	if (folded)
		fold = bytes_equal(FROM(1), ' ') | bytes_equal(FROM(1), '\t');
	return feeds & (empty | host | fold);
#undef FROM
}

/* True: there is no more to look at. */
static __always_inline bool http_word(struct hello *hello)
{
	__u32 at = hello->at;
	__u64 lines;
	__u8 first;

	if (at >= hello->end)
		return true;
	lines = http_lines(&hello->text[at & (TEXT_BYTES - 1)], hello->seen);
	if (!lines) {
		hello->at = at + 8;
		return false;
	}
	at += lowest_byte(lines) + 1;
	first = (__u8)text_word(hello, at);
	if (at >= hello->end || first == '\r' || first == '\n')
		return true;
	/* A Host line that the segment cuts off does not count: the bytes behind the end belong to
	 * another packet. */
	if (hello->seen)
		hello->doubt = first == ' ' || first == '\t' || at + 5 <= hello->end;
	else
		hello->host = at + 5;
	return true;
}

#define WORDS_A_ROUND 4

/* Moves to the Host line, or an empty one; behind the first Host, also to a folded one. */
static long http_next_words(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;

#pragma unroll
	for (int i = 0; i < WORDS_A_ROUND; i++)
		if (http_word(&walk->name->hello))
			return 1;
	return 0;
}

/* Measures the name: up to a blank, the end of the line or the port; in a target also up to the
 * path. */
static long http_next_host_word(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;
	struct hello *hello = &walk->name->hello;
	__u64 word = text_word(hello, hello->host + hello->size);
	__u64 ends = bytes_less(word, '!') | bytes_zero(word ^ EACH_BYTE(':'));

	if (hello->target)
		ends |= bytes_equal(word, '/') | bytes_equal(word, '?') | bytes_equal(word, '#') |
			bytes_equal(word, '@');
	hello->size += ends ? lowest_byte(ends) : 8;
	return ends || hello->host + hello->size >= hello->end;
}

static long http_skip_blank(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;
	struct hello *hello = &walk->name->hello;
	__u8 byte = (__u8)text_word(hello, hello->host);

	if (byte != ' ' && byte != '\t')
		return 1;
	hello->host++;
	return 0;
}

static long http_skip_line(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;
	struct hello *hello = &walk->name->hello;
	__u8 byte = (__u8)text_word(hello, hello->at);

	if (byte != '\r' && byte != '\n')
		return 1;
	hello->at++;
	return 0;
}

/* Moves hello->at to the first line feed, or to the end. */
static long http_next_feed(__u32 round __attribute__((unused)), void *data)
{
	struct hello_walk *walk = data;
	struct hello *hello = &walk->name->hello;

#pragma unroll
	for (int i = 0; i < WORDS_A_ROUND; i++) {
		__u64 feeds = bytes_zero(text_word(hello, hello->at) ^ EACH_BYTE('\n'));

		hello->at += feeds ? lowest_byte(feeds) : 8;
		if (feeds || hello->at >= hello->end)
			return 1;
	}
	return 0;
}

#define HTTP_BLANKS 64 /* at most */
#define HTTP_EMPTY  16 /* bytes of empty lines before a request, at most */
#define HTTP_LEAST  8  /* bytes in which a method can be told from other text */
#define HTTP_METHOD 24 /* bytes of a method, at most */
#define HTTP_ROUNDS (TEXT_BYTES / 8 / WORDS_A_ROUND)

/* Bytes of the first word up to its blank; 0: there is no such word, or it is too long. */
static __always_inline __u32 http_method(struct hello *hello, __u32 at)
{
#pragma unroll
	for (__u32 i = 0; i < HTTP_METHOD; i += 8) {
		__u64 word = text_word(hello, at + i), ends = bytes_less(word, '!');
		__u32 bytes = i + lowest_byte(ends);
		__u8 end;

		if (!ends)
			continue;
		end = (__u8)text_word(hello, at + bytes);
		return end == ' ' || end == '\t' ? bytes : 0;
	}
	return 0;
}

static __always_inline bool is_letter(__u8 byte)
{
	return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* Whether the line at `at` begins with a letter, and has a target and a version of HTTP behind a
 * word of so many bytes. Data that continues an earlier segment hardly looks so. */
static __always_inline bool http_has_version(struct hello_walk *walk, __u32 at, __u32 bytes)
{
	const __u64 any_digit = TEXT(0, 0, 0, 0, 0, 15, 0, 15);
	struct hello *hello = &walk->name->hello;
	__u32 end;

	if (!is_letter((__u8)text_word(hello, at)))
		return false;
	hello->at = at;
	bpf_loop(HTTP_ROUNDS, http_next_feed, walk, 0);
	end = hello->at;
	if (end >= hello->end || end < at + bytes + 11)
		return false;
	if ((__u8)text_word(hello, end - 1) == '\r')
		end--;
	at = (__u8)text_word(hello, end - 9);
	return (text_word(hello, end - 8) | any_digit) ==
		       (TEXT('H', 'T', 'T', 'P', '/', '0', '.', '0') | any_digit) &&
	       (at == ' ' || at == '\t');
}

/* Moves hello->host to the target of a request. False: this is no request. */
static __always_inline bool http_enter(struct hello_walk *walk)
{
	struct hello *hello = &walk->name->hello;
	__u32 at, bytes;

	/* RFC 9112, section 2.2: empty lines before a request are passed over. */
	bpf_loop(HTTP_EMPTY, http_skip_line, walk, 0);
	at = hello->at;
	bytes = http_method(hello, at);
	if (!bytes || at + HTTP_LEAST > hello->end)
		return false;
	if (!is_http_method(text_word(hello, at)) && !http_has_version(walk, at, bytes))
		return false;
	hello->target = bytes == 7 && FIRST(7, text_word(hello, at)) ==
					      TEXT('C', 'O', 'N', 'N', 'E', 'C', 'T', 0);
	hello->at = at;
	hello->host = at + bytes;
	bpf_loop(HTTP_BLANKS, http_skip_blank, walk, 0);
	return true;
}

/* RFC 9112, section 3.2: if the target has a host, it wins over the Host field. */
static __always_inline void http_target(struct hello *hello)
{
	__u32 at = hello->host;
	__u64 word = text_word(hello, at), colons = bytes_zero(word ^ EACH_BYTE(':'));

	if (hello->target || !colons || !is_letter((__u8)word))
		return;
	at += lowest_byte(colons);
	hello->target = FIRST(3, text_word(hello, at)) == TEXT(':', '/', '/', 0, 0, 0, 0, 0);
	hello->host = at + 3;
}

/* Looks for a second Host or a folded line behind the first. */
static __always_inline void http_look_behind(struct hello_walk *walk)
{
	struct hello *hello = &walk->name->hello;

	hello->at = hello->host + hello->size;
	hello->seen = 1;
	bpf_loop(HTTP_ROUNDS, http_next_words, walk, 0);
}

/* False: this is no request. */
static __noinline int http_find(struct xdp_md *ctx, struct name *name)
{
	struct hello_walk walk = {.ctx = ctx, .name = name};
	struct hello *hello = &name->hello;
	__u32 start = hello->at, size = hello->end - hello->at;

	if (size < HTTP_LEAST)
		return false;
	size = bounded(size, HTTP_LEAST, TEXT_BYTES);
	if (bpf_xdp_load_bytes(ctx, start, hello->text, size))
		return false;
	hello->at = hello->seen = 0;
	hello->end = size;
	if (!http_enter(&walk))
		return false;
	http_target(hello);
	if (!hello->target) {
		hello->host = 0;
		bpf_loop(HTTP_ROUNDS, http_next_words, &walk, 0);
	}
	if (!hello->host)
		return true;
	bpf_loop(HTTP_BLANKS, http_skip_blank, &walk, 0);
	bpf_loop(HOST_BYTES / 8 + 1, http_next_host_word, &walk, 0);
	/* A name that ends with the segment may go on in the next; before an @ stands a user. */
	if (hello->host + hello->size >= hello->end ||
	    (hello->target && (__u8)text_word(hello, hello->host + hello->size) == '@'))
		hello->size = 0;
	if (!hello->target)
		http_look_behind(&walk);
	hello->host += start;
	return true;
}

/*
 * The name in the data of a TCP segment, which begins at `at`. XB_NAME_CLEAN: it is cut into
 * labels; XB_CLEAN: this is not the first data of a connection.
 */
static __always_inline enum xb_reason hello_name(struct xdp_md *ctx, struct name *name, __u32 at)
{
	bool tls = name->tcp == XB_TLS_DROPPED;

	if (at >= name->transport.end)
		return XB_CLEAN;
	name->hello.at = at;
	name->hello.end = name->transport.end;
	name->hello.host = name->hello.size = 0;
	name->hello.target = name->hello.doubt = 0;
	if (!(tls ? tls_find(ctx, name) : http_find(ctx, name)))
		return XB_CLEAN;
	if (!host_load(ctx, name, name->hello.host, name->hello.size) ||
	    !host_cut(name, name->hello.size))
		return tls ? XB_TLS_NAMELESS : XB_HTTP_NAMELESS;
	return XB_NAME_CLEAN;
}

#endif

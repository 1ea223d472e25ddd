# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of any shape, for bloomd's sockets."""
READS = ("SISMEMBER", "SMISMEMBER", "SCARD", "ZCARD", "BF.CARD", "BF.EXISTS", "BF.MEXISTS", "BF.INFO", "HGET", "HMGET", "HEXISTS",
         "EXISTS", "TYPE", "ZSCORE", "ZMSCORE", "SSCAN", "PING", "ECHO", "HELLO", "AUTH", "SELECT", "RESET", "CLIENT", "COMMAND",
         "INFO")
WRITES = ("SADD", "SREM", "ZADD", "ZREM", "BF.ADD", "BF.MADD")
NONE = ("MULTI", "SMEMBERS", "DEL", "FLUSHALL", "EXPIRE", "HSET", "KEYS", "EVAL", "CONFIG", "DEBUG", "", "\0", "SUBSCRIBE")
BETWEEN = ("MATCH", "COUNT", "NX", "XX", "GT", "LT", "CH", "LIST", "INFO", "DOCS", "SETNAME", "GETNAME", "ID", "2", "3", "0")
MOST_BYTES = 1 << 20


def encode(words):
    words = [word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape") for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def entry(dice):
    """Of 4,096 addresses of each family, prefixes and domains, or no entry."""
    number, kind = dice.randrange(4096), dice.randrange(16)
    if kind < 6:
        return "5.9.%d.%d" % (number >> 8, number & 255)
    if kind < 8:
        return "5.10.%d.0/%d" % (number & 255, dice.randint(0, 33))
    if kind < 11:
        return "2400:9::%x" % number
    if kind < 12:
        return "2400:%x::/%d" % (number, dice.randint(0, 129))
    if kind < 14:
        return "n%d.example" % number
    return dice.choice(("", "0.0.0.0/0", "::/0", "com", "*", "5.9.0.1\n", "\0", "x" * dice.randint(1, 5000), "99999999999", "-1",
                        "+inf", "nan", "::ffff:5.9.0.1", "\x1b[2J", "\udcff\udcfe", "5.66.0.7", "5.66.1.9", "listed.example"))


def key(dice):
    return dice.choice(("default", "roots", "bad", "allow", "allow:default", "list%d" % dice.randrange(20), "", "bad name", "\0",
                        "k" * dice.randint(1, 300)))


def number_of_words(dice, most):
    return dice.choice((0, 1, 1, 1, 2, 3, dice.randint(0, 30), dice.randint(0, most)))


def request(dice, commands, most):
    """Of one of the commands, with up to so many words; perhaps with too many, too few, or wrong ones."""
    words = [dice.choice(commands), key(dice)]
    if words[0] == "ZADD":
        words += [dice.choice(("4000000000", "+inf", "1", "nan", "-1e400", "NX"))]
    if words[0] == "SSCAN":
        words += [str(dice.choice((0, 0, 1, 1 << 63, -1))), "MATCH", "*" * dice.choice((1, 5, most)) + "x"]
    elif dice.randrange(8):
        few = [entry(dice) for _ in range(dice.randint(1, 20))]
        words += [dice.choice(few) for _ in range(max(1, number_of_words(dice, most)))]
    else:
        words += [dice.choice(BETWEEN) for _ in range(dice.randint(0, 4))]
    if not dice.randrange(20):
        words = words[:dice.randint(1, len(words))]
    encoded = encode(words)
    return encoded if len(encoded) < MOST_BYTES else encode(words[:2])


def no_request(dice):
    """Bytes that are none; the connection ends with an error, at once or never."""
    return dice.choice((
        b"*%d\r\n" % dice.choice((-1, 0, 65537, 1 << 31, 1 << 63, 1 << 64)),
        b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % dice.choice((-1, 1 << 20, 1 << 31, 1 << 63)), b"*1\r\n*1\r\n$1\r\na\r\n",
        b"*1\r\n" * 1000, b"x" * 5000, b"PING" * 1000 + b"\r\n", b"*1\r\n$2\r\nabcd\r\n", b"\r\n" * 5000, b"$5\r\nhello\r\n",
        dice.randbytes(dice.randint(1, 3000)), b"*1\r\n$1048575\r\n" + b"x" * dice.randint(0, 1 << 20)))

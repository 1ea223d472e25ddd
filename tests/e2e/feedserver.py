#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/feedserver.py DIRECTORY PORT HTTP-PORT [ADDRESS]: a server of one list, over TLS and without. What it
answers is the word in DIRECTORY/mode at the time of the request; each mode is a function below. Creates
DIRECTORY/serving when it listens, and writes a line for each request into DIRECTORY/requests."""
import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

DIRECTORY, PORTS = sys.argv[1], (int(sys.argv[2]), int(sys.argv[3]))
ADDRESS = sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1"
HOST = "feeds.example"


def read(name):
    with open(os.path.join(DIRECTORY, name), encoding="ascii") as file:
        return file.read().strip()


def addresses(count=100, extra=""):
    """The list: 5.9.0.0/24 in part, and one address for each version of it."""
    lines = ["5.9.0.%d" % i for i in range(count)] + ["5.9.1.%s" % read("version")]
    return ("# a list\n" + "\n".join(lines) + "\n" + extra).encode()


def rows(wrong=1):
    """The same list with columns, and others that do not count."""
    lines = ["%d,%s,ban" % pair for pair in enumerate(addresses().decode().splitlines()[1:])]
    return "\n".join(["id,ip,kind", "0,8.8.8.8,pass", *lines, *["1,wrong,ban"] * wrong]).encode() + b"\n"


def document():
    """The same list as JSON."""
    lines = addresses().decode().splitlines()[1:]
    return json.dumps({"prefixes": [{"ip": line} for line in lines]}).encode()


def zstd(content):
    return subprocess.run(["zstd", "-q", "-c"], input=content, stdout=subprocess.PIPE, check=True).stdout


def reply(status, headers, body=b"", length=None):
    lines = ["HTTP/1.1 %s" % status, "Connection: close"] + ["%s: %s" % pair for pair in headers.items()]
    if length != "none":
        lines.append("Content-Length: %d" % (len(body) if length is None else length))
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(body, end=True):
    half = len(body) // 2
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:]))
    head = reply("200 OK", {"Transfer-Encoding": "chunked"}, length="none")
    return head + chunks + (b"0\r\n\r\n" if end else b"")


PACKED = {"Content-Encoding": "gzip"}
PAGE = b"\n <!DOCTYPE html><html><body>Checking your browser</body></html>\n"


def good(request):
    tag = '"version-%s"' % read("version")
    if "if-none-match: " + tag in request:
        return reply("304 Not Modified", {"ETag": tag})
    return reply("200 OK", {"ETag": tag}, addresses())


def endless(_request):
    yield reply("200 OK", {"Transfer-Encoding": "chunked"}, length="none")
    while True:
        part = b"# more and more\n" * 4096
        yield b"%x\r\n%s\r\n" % (len(part), part)


def slow(_request):
    yield reply("200 OK", {}, length=100000)
    while True:
        yield b"#"
        time.sleep(0.1)


def cut(body, share=2):
    return body[:len(body) // share]


MODES = {
    "good": good,
    "chunked": lambda _: chunked(addresses()),
    "gzip": lambda _: reply("200 OK", PACKED, gzip.compress(addresses())),
    "gzip-unframed": lambda _: reply("200 OK", PACKED, gzip.compress(addresses()), "none"),
    "gzip-file": lambda _: reply("200 OK", {"Content-Type": "application/gzip"}, gzip.compress(addresses())),
    "gzip-cut": lambda _: reply("200 OK", PACKED, cut(gzip.compress(addresses()))),
    "gzip-damaged": lambda _: reply("200 OK", PACKED, gzip.compress(addresses())[:-8] + bytes(8)),
    "gzip-bomb": lambda _: reply("200 OK", PACKED, gzip.compress(b"# and so on\n" * 500000)),
    "rows": lambda _: reply("200 OK", {}, rows()),
    "wrong-rows": lambda _: reply("200 OK", {}, rows(2)),
    "document": lambda _: reply("200 OK", {}, zstd(document())),
    "other-document": lambda _: reply("200 OK", {}, document().replace(b"ip", b"net")),
    "packed-bomb": lambda _: reply("200 OK", {}, zstd(b"# and so on\n" * 500000)),
    "brotli": lambda _: reply("200 OK", {"Content-Encoding": "br"}, addresses()),
    "cut": lambda _: reply("200 OK", {}, cut(addresses()), len(addresses())),
    "chunked-cut": lambda _: chunked(addresses(), end=False),
    "unframed": lambda _: reply("200 OK", {}, addresses(), "none"),
    "unframed-cut": lambda _: reply("200 OK", {}, cut(addresses()), "none"),
    "two-lengths": lambda _: reply("200 OK", {"Content-Length": len(addresses())}, cut(addresses())),
    "one-length-twice": lambda _: reply("200 OK", {"Content-Length": len(cut(addresses()))}, cut(addresses())),
    "length-list": lambda _: reply("200 OK", {"Content-Length": "%d, %d" % (len(cut(addresses())), len(addresses()))},
                                   cut(addresses()), "none"),
    "identity": lambda _: reply("200 OK", {"Transfer-Encoding": "identity"}, cut(addresses()), len(addresses())),
    "length-and-chunks": lambda _: chunked(cut(addresses())).replace(
        b"Transfer-", b"Content-Length: %d\r\nTransfer-" % len(addresses()), 1),
    "endless": endless,
    "slow": slow,
    "large": lambda _: reply("200 OK", {}, b"# much\n" * 100000),
    "html": lambda _: reply("200 OK", {"Content-Type": "text/html"}, PAGE),
    "empty": lambda _: reply("200 OK", {}),
    "comments": lambda _: reply("200 OK", {}, b"# nothing today\n"),
    "halved": lambda _: reply("200 OK", {}, addresses(50)),
    "doubled": lambda _: reply("200 OK", {}, addresses(202)),
    "canary": lambda _: reply("200 OK", {}, addresses(extra="8.8.8.0/25\n")),
    "wide": lambda _: reply("200 OK", {}, addresses(extra="16.0.0.0/8\n64.0.0.0/8\n")),
    "old": lambda _: reply("200 OK", {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, addresses()),
    "ahead": lambda _: reply("200 OK", {"Last-Modified": "Fri, 01 Jan 2100 00:00:00 GMT"}, addresses()),
    "nonsense": lambda _: reply("200 OK", {}, addresses(extra="what is this?\n")),
    "loop": lambda _: reply("302 Found", {"Location": "/again"}),
    "to-http": lambda _: reply("301 Moved", {"Location": "http://%s:%d/list" % (HOST, PORTS[1])}),
    "to-file": lambda _: reply("301 Moved", {"Location": "file:///etc/passwd"}),
    "to-gopher": lambda _: reply("301 Moved", {"Location": "gopher://%s/" % HOST}),
    "to-https": lambda _: reply("301 Moved", {"Location": "https://%s:%d/list" % (HOST, PORTS[0])}),
    "moved": lambda request: good(request) if "/elsewhere" in request else
    reply("301 Moved", {"Location": "/elsewhere"}),
    "known": lambda request: good(request) if "|key: hidden-key|" in "|%s" % request.replace("\r\n", "|") and
    "authorization: basic sglkzgvuoldvcmq=" in request else reply("401 Unauthorized", {}),
    "to-another": lambda request: good(request) if "/elsewhere" in request else
    reply("302 Found", {"Location": "https://other.example:%d/back" % PORTS[0]}) if "/list" in request else
    reply("302 Found", {"Location": "https://%s:%d/elsewhere" % (HOST, PORTS[0])}),
    "403": lambda _: reply("403 Forbidden", {}, PAGE),
    "404": lambda _: reply("404 Not Found", {}, addresses()),
    "429": lambda _: reply("429 Too Many Requests", {"Retry-After": "3"}),
    "500": lambda _: reply("500 Internal Server Error", {}),
    "304-unasked": lambda _: reply("304 Not Modified", {}),
    "closed": lambda _: b"",
    "garbage": lambda _: b"\x00\x01\x02 no HTTP at all\r\n\r\n",
    "wrong-ca": good,
    "wrong-name": good,
}
CERTIFICATES = {"wrong-ca": "other", "wrong-name": "name"}


def request_of(connection):
    text = b""
    while b"\r\n\r\n" not in text:
        part = connection.recv(65536)
        if not part:
            break
        text += part
    return text.decode("latin-1").lower()


def serve(connection, encrypted):
    connection.settimeout(10)
    mode = read("mode")
    try:
        if encrypted:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(DIRECTORY, CERTIFICATES.get(mode, "server") + ".pem"))
            connection = context.wrap_socket(connection, server_side=True)
        request = request_of(connection)
        with open(os.path.join(DIRECTORY, "requests"), "a", encoding="ascii") as file:
            file.write("%s %s\n" % (mode, request.replace("\r\n", "|")))
        answer = MODES["good" if encrypted and mode == "to-https" else mode](request)
        for part in [answer] if isinstance(answer, bytes) else answer:
            connection.sendall(part)
        if encrypted:
            connection.unwrap()
    except (OSError, ssl.SSLError):
        pass
    connection.close()


def listen(port, encrypted):
    listener = socket.create_server((ADDRESS, port), backlog=32)

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0], encrypted), daemon=True).start()
    return threading.Thread(target=accept, daemon=True)


def main():
    threads = [listen(PORTS[0], True), listen(PORTS[1], False)]
    for thread in threads:
        thread.start()
    with open(os.path.join(DIRECTORY, "serving"), "w", encoding="ascii"):
        pass
    threads[0].join()


if __name__ == "__main__":
    main()

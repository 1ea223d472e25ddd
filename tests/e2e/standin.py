#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/standin.py DIRECTORY PORT [ADDRESS]: in place of CrowdSec's local API, for what Debian's version does not do,
also at DIRECTORY/lapi.sock. A request for all decisions gets the bytes of DIRECTORY/whole, each other one those of
DIRECTORY/delta once, and nothing new until that file is there again. In place of @SECONDS@, a time in seconds since 1970, it
puts the duration that is left until then. A first line "HTTP STATUS [HEADER]" in a file is the status, "CUT" in its place
cuts the answer short, and "HELD" lets it wait for DIRECTORY/go. POST gets DIRECTORY/post, a status; with 201 its body is a
line of DIRECTORY/taken. Creates DIRECTORY/serving, and writes a line for each request into DIRECTORY/requests."""
import http.server
import os
import re
import socket
import sys
import threading
import time

DIRECTORY, PORT = sys.argv[1], int(sys.argv[2])
ADDRESS = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
NOTHING = b'{"new":null,"deleted":null}'


def path_of(name):
    return os.path.join(DIRECTORY, name)


def read(name):
    with open(path_of(name), "rb") as file:
        return file.read()


def take(name):
    """A delta comes once: the cursor has moved."""
    try:
        os.rename(path_of(name), path_of(name + ".taken"))
    except FileNotFoundError:
        return NOTHING
    return read(name + ".taken")


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""
    protocol_version = "HTTP/1.1"

    def note(self, body=""):
        with open(path_of("requests"), "a", encoding="ascii") as file:
            file.write("%s %s agent=%s key=%s %s\n" % (
                self.command, self.path, self.headers["User-Agent"], self.headers["X-Api-Key"], body))

    def reply(self, status, body, headers=(), cut=False):
        self.send_response(status)
        for header in headers:
            self.send_header(*header.split(": ", 1))
        self.send_header("Content-Length", str(len(body) + (100 if cut else 0)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # pylint: disable=invalid-name
        """The stream."""
        self.note()
        body = read("whole") if "startup=true" in self.path else take("delta")
        body = re.sub(rb"@(\d+)@", lambda end: b"%.3fs" % (int(end[1]) - time.time()), body)
        status, headers, cut = 200, [], False
        if body.startswith((b"HTTP ", b"CUT\n", b"HELD\n")):
            line, body = body.split(b"\n", 1)
            words = line.decode().split(" ", 2)
            cut = words[0] == "CUT"
            if words[0] == "HELD":
                while not os.path.exists(path_of("go")):
                    time.sleep(0.05)
            elif not cut:
                status, headers = int(words[1]), words[2:]
        self.reply(status, body, headers, cut)

    def do_POST(self):  # pylint: disable=invalid-name
        """Metrics of use."""
        body, status = self.rfile.read(int(self.headers["Content-Length"])).decode("ascii"), int(read("post"))
        if status == 201:
            with open(path_of("taken"), "a", encoding="ascii") as file:
                file.write(body + "\n")
        self.note(body)
        self.reply(status, b"")

    def log_message(self, *_words):  # pylint: disable=arguments-differ
        pass


class AtPath(http.server.ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)
        os.chmod(self.server_address, 0o600)

    def get_request(self):
        return self.socket.accept()[0], ("", 0)


def main():
    for name, text in (("whole", NOTHING), ("post", b"404"), ("requests", b"")):
        if not os.path.exists(path_of(name)):
            with open(path_of(name), "wb") as file:
                file.write(text)
    server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler)
    if not os.path.exists(path_of("lapi.sock")):
        threading.Thread(target=AtPath(path_of("lapi.sock"), Handler).serve_forever, daemon=True).start()
    with open(path_of("serving"), "w", encoding="ascii"):
        pass
    server.serve_forever()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/e2e/snapshotserver.py DIRECTORY PORT HTTP-PORT: hands out the files in DIRECTORY/files over TLS, as
feedserver.py does its list: DIRECTORY/mode says what is wrong with the answers. In a mode of two words such
as "manifest cut", the second is what is done to answers for the manifest, or for chunks; the others are good."""
import os

import feedserver
from feedserver import DIRECTORY, MODES, PAGE, reply


def content(request, folder="files"):
    """What the request asks for; None: there is no such file."""
    path = os.path.join(DIRECTORY, folder, os.path.basename(request.split(" ", 2)[1]))
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def good(request, folder="files"):
    body = content(request, folder)
    if body is None:
        return reply("404 Not Found", {}, PAGE)
    tag = '"%d-%d"' % (len(body), hash(body))
    if "if-none-match: " + tag in request:
        return reply("304 Not Modified", {"ETag": tag})
    return reply("200 OK", {"ETag": tag}, body)


def flipped(body):
    """In the middle, where no structure notices."""
    at = len(body) // 2
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


CHANGES = {
    "cut": lambda request: reply("200 OK", {}, content(request)[:-9], len(content(request))),
    "short": lambda request: reply("200 OK", {}, content(request)[:-9]),
    "longer": lambda request: reply("200 OK", {}, content(request) + b"\0"),
    "flipped": lambda request: reply("200 OK", {}, flipped(content(request))),
    "missing": lambda _: reply("404 Not Found", {}, PAGE),
    "unframed": lambda request: reply("200 OK", {}, content(request), "none"),
    "to-http": lambda _: MODES["to-http"](None),
    "endless": MODES["endless"],
    "closed": MODES["closed"],
}


def changed(which, change):
    return lambda request: CHANGES[change](request) if (" /fleet/manifest " in request) == (which == "manifest") \
        else good(request)


MODES.update({"good": good, "old": lambda request: good(request, "old"), "wrong-ca": good})
MODES.update({"%s %s" % (which, change): changed(which, change) for which in ("manifest", "chunk") for change in CHANGES})

if __name__ == "__main__":
    feedserver.main()

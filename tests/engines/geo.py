# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx's geo: networks or ranges with values, in a block, of which the narrowest counts, and of equal ones the last."""
import engine
import web

PACKAGES = ("nginx-light",)
NAMES = False
CONF = """worker_processes 1; daemon off; master_process off; pid /lists/nginx.pid; error_log /lists/error.log crit; user root;
events { worker_connections 64; }
http { access_log off; client_body_temp_path /lists/tmp/b; proxy_temp_path /lists/tmp/p; fastcgi_temp_path /lists/tmp/f;
uwsgi_temp_path /lists/tmp/u; scgi_temp_path /lists/tmp/s;
include /lists/list;
server { listen 127.0.0.1:8080; listen [::1]:8080; root /lists/www; if ($bad) { return 403; } } }
"""


def value(draw):
    return draw.choice(("0", "1", "1", "\"1\"", "\"\""))


def networks(draw):
    return ["%s %s;%s" % (web.address(draw), value(draw), draw.choice(("", "", " # x"))) for _ in range(draw.randint(1, 8))]


def ranges(draw):
    """Each inside those before it, the same, or apart: what nginx takes."""
    kept = []
    for _ in range(draw.randint(1, 8)):
        first, last = sorted((draw.randrange(16), draw.randrange(16)))
        if all(last < one or first > two or (one <= first and last <= two) for one, two in kept):
            kept.append((first, last))
    return ["ranges;"] + ["%s-%s %s;" % (web.FOUR % first, web.FOUR % last, value(draw)) for first, last in kept]


def make(draw):
    lines = ranges(draw) if draw.random() < 0.4 else networks(draw)
    if draw.random() < 0.5:
        lines.insert(draw.randint(1, len(lines)), "default %s;" % draw.choice(("0", "\"\"")))
    return "geo $bad {\n%s\n}\n" % "\n".join(lines), web.SOURCES, {"format": "geo"}


class Geo:
    def __init__(self, root):
        self.root, self.version = root, root.version("nginx")
        web.begin(root)
        root.file("conf", CONF)

    def refused(self, text, questions):
        self.root.file("list", text)
        server = self.root.start("nginx", "-c", "/lists/conf")
        try:
            engine.wait_for("nginx", web.listens, server)
            return web.refused(questions)
        finally:
            engine.stop(server)

    def close(self):
        pass


def engines(root):
    return [Geo(root)]


def is_left_out(_text, _asked, _reading):
    return False


def may_be_refused(_text, reason):
    return "no entries" in reason or "nothing of it can be listed" in reason

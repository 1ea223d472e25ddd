# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx: who may ask, by rules of a server and of what is in it."""
import engine
import web

PACKAGES = ("nginx-light",)
NAMES = False
CONF = """worker_processes 1; daemon off; master_process off; pid /lists/nginx.pid; error_log /lists/error.log crit; user root;
events { worker_connections 64; }
http { access_log off; client_body_temp_path /lists/tmp/b; proxy_temp_path /lists/tmp/p; fastcgi_temp_path /lists/tmp/f;
uwsgi_temp_path /lists/tmp/u; scgi_temp_path /lists/tmp/s;
server { listen 127.0.0.1:8080; listen [::1]:8080; root /lists/www; error_page 405 =200 /a;
include /lists/list; } }
"""
BLOCKS = ("location /a", "location = /b.html", "location ~ x", "if ($request_method = POST)", "location /")
OTHERS = ("return 404;", "return 200;", "return 403;", "add_header X \"#; deny 203.0.113.3;\";", "autoindex on;",
          "satisfy any;", "satisfy all;", "rewrite ^/a /b.html;")


def rules(draw, most):
    made = []
    for _ in range(draw.randint(1, most)):
        who = "all" if draw.random() < 0.1 else web.address(draw)
        made.append("%s %s;%s" % (draw.choice(("deny", "deny", "deny", "allow")), who, draw.choice(("", "", " # x"))))
    return made


def block(draw, name):
    inside = []
    if name.startswith("if"):
        inside = [draw.choice(("return 403;", "return 404;", "return 200;", "break;"))]
    elif draw.random() < 0.7:
        inside = rules(draw, 3)
    elif draw.random() < 0.5:
        inside = ["limit_except GET {", *rules(draw, 2), "}"]
    if not name.startswith("if") and draw.random() < 0.1:
        inside.append(draw.choice(OTHERS[:4]))
    return [name + " {", *inside, "}"]


def make(draw):
    parts = [rules(draw, 5)]
    for name in draw.sample(BLOCKS, draw.choice((0, 0, 1, 1, 2))):
        parts.append(block(draw, name))
    if draw.random() < 0.1:
        parts.append([draw.choice(OTHERS)])
    draw.shuffle(parts)
    join = draw.choice(("\n", "\n", "\n    "))
    return join.join(join.join(part) for part in parts) + "\n", web.SOURCES, {"format": "deny"}


class Nginx:
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
    return [Nginx(root)]


def is_left_out(text, _asked, reading):
    return bool(reading.notes) or "return 403" in text


def may_be_refused(_text, reason):
    return "refuses all that are not named" in reason or "no entries" in reason or "no line could be read" in reason

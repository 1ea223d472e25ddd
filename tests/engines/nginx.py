# SPDX-License-Identifier: GPL-2.0-or-later
"""nginx: who may ask, by rules of a server and of what is in it."""
import web

PACKAGES = ("nginx-light",)
NAMES = False
BLOCKS = ("location /a", "location = /b.html", "location ~ x", "if ($request_method = POST)", "location /")
OTHERS = ("return 404;", "return 200;", "return 403;", "add_header X \"#; deny 203.0.113.3;\";", "autoindex on;",
          "satisfy any;", "satisfy all;", "rewrite ^/a /b.html;")
# Of which nginx takes most characters for themselves.
ODD = ('add_header X a"b;', "add_header X a'b;", "add_header X ${host};", r"add_header X a\;b;", "add_header X a}b;", "add_header X a#b;",
       'add_header X "a\n# \\";\n";', "add_header X 'a\n# \"';", '# a"b', "# deny 203.0.113.4; \\", r'add_header X b\"c;')


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
    for _ in range(draw.choice((0, 0, 0, 1, 2))):
        parts.append([draw.choice(ODD)])
    draw.shuffle(parts)
    parts.insert(0, ["server_tokens off;"])     # the first line says that it is nginx's
    join = draw.choice(("\n", "\n", "\n    "))
    return join.join(join.join(part) for part in parts) + "\n", web.SOURCES, {"format": "deny"}


def engines(root):
    return [web.Nginx(root, "", "error_page 405 =200 /a; include /lists/list;")]


def is_left_out(text, _asked, reading):
    return bool(reading.notes) or "return 403" in text


def may_be_refused(_text, reason):
    return "refuses all that are not named" in reason or "no entries" in reason or "no line could be read" in reason

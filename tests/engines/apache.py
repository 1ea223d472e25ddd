# SPDX-License-Identifier: GPL-2.0-or-later
"""Apache 2.4: who may ask, by Order, Allow and Deny, by Require, and in sections."""
import engine
import web

PACKAGES = ("apache2-bin",)
NAMES = False
MODULES = ("mpm_event", "authz_core", "authz_host", "access_compat", "dir", "env", "setenvif", "authn_core", "alias")
CONF = "ServerRoot /lists\nPidFile /lists/pid\nServerName x\nListen 127.0.0.1:8080\nListen [::1]:8080\n" \
       "ErrorLog /lists/error\nLogLevel crit\nUser www-data\nGroup www-data\nStartServers 1\nMinSpareThreads 1\n" \
       "MaxSpareThreads 4\nThreadsPerChild 4\nDefaultRuntimeDir /lists\nDocumentRoot /lists/www\n" + \
       "".join("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n" % (name, name) for name in MODULES) + \
       "<Directory /lists/www>\nAllowOverride All\n</Directory>\n"
SECTIONS = ("<Files a>", "<Files \"*.html\">", "<Limit POST>", "<LimitExcept GET>", "<FilesMatch \"^a\">",
            "<IfModule mod_authz_core.c>", "<IfModule !mod_authz_core.c>", "<IfModule mod_x.c>",
            "<IfModule mod_access_compat.c>", "<IfVersion >= 2.4>", "<IfVersion < 2.4>",
            "<If \"%{REQUEST_METHOD} == 'POST'\">", "<IfDefine x>")


def order(draw):
    return "Order " + draw.choice(("deny,allow", "allow,deny", "Deny,Allow", "Allow,Deny", "mutual-failure"))


def who(draw):
    chance = draw.random()
    if chance < 0.12:
        return "all"
    if chance < 0.17:
        return draw.choice(("env=x", "env=!x", "host.invalid"))
    if chance < 0.22:
        return draw.choice(("203.0.113", "203.0.113.", "203.0.113.0/255.255.255.252"))
    return " ".join(web.address(draw) for _ in range(draw.randint(1, 2)))


def compat(draw, most):
    lines = ["%s from %s" % (draw.choice(("Deny", "Deny", "deny", "Allow")), who(draw))
             for _ in range(draw.randint(1, most))]
    if draw.random() < 0.6:
        lines.append(order(draw))
    draw.shuffle(lines)
    return lines


def leaf(draw, negatable):
    negated = "not " if negatable and draw.random() < 0.6 else ""
    chance = draw.random()
    if chance < 0.75:
        return "Require %sip %s" % (negated, " ".join(web.address(draw) for _ in range(draw.randint(1, 2))))
    if chance < 0.85:
        return "Require %s%s" % (negated, draw.choice(("env x", "host host.invalid", "method GET", "local")))
    return "Require %sall %s" % (negated, draw.choice(("granted", "denied")))


def group(draw, depth):
    """Lines of a group that requires something."""
    kind = draw.choice(("RequireAll", "RequireAll", "RequireAny"))
    lines = [draw.choice(("Require all granted", leaf(draw, False)))]
    for _ in range(draw.randint(1, 3)):
        if depth < 2 and draw.random() < 0.25:
            lines += group(draw, depth + 1)
        elif kind == "RequireAll" and draw.random() < 0.2:
            lines += ["<RequireNone>"] + [leaf(draw, False) for _ in range(draw.randint(1, 2))] + ["</RequireNone>"]
        else:
            lines.append(leaf(draw, kind == "RequireAll"))
    return ["<%s>" % kind, *lines, "</%s>" % kind]


def required(draw):
    if draw.random() < 0.8:
        return group(draw, 0)
    return [leaf(draw, False) for _ in range(draw.randint(1, 2))]


def rules(draw, most):
    chance = draw.random()
    if chance < 0.5:
        return compat(draw, most)
    if chance < 0.9:
        return required(draw)
    return compat(draw, most) + required(draw)


def section(draw):
    name = draw.choice(SECTIONS)
    inside = rules(draw, 3)
    if draw.random() < 0.08:
        inside.append("AuthMerging And")
    return [name, *inside, "</%s>" % name[1:].split(" ")[0].rstrip(">")]


def broken(draw, text):
    """Comments and blank lines, which may go on, and lines broken up."""
    lines = []
    for line in text.splitlines():
        if draw.random() < 0.2:
            lines.append(draw.choice(("# why", "", "\\")))
        if line.startswith(("Deny", "Allow")) and draw.random() < 0.2:
            lines.append(draw.choice(("# why \\", "#\\", "DirectoryIndex a \\")))
        if " " in line and draw.random() < 0.2:
            places = [place for place, character in enumerate(line) if character == " "]
            place = draw.choice(places)
            line = line[:place] + draw.choice((" \\\n", "\\\n ", " \\\n\t")) + line[place + 1:]
        lines.append(line)
    return "\n".join(lines) + draw.choice(("\n", "\n", "", "\n# end \\\n"))


def make(draw):
    parts = [rules(draw, 4)] if draw.random() < 0.95 else []
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        parts.append(section(draw))
    if draw.random() < 0.06:
        parts.append(["Satisfy " + draw.choice(("any", "all"))])
    if draw.random() < 0.1:
        parts.append([draw.choice(("SetEnvIf Request_Method POST x", "Redirect /a /b.html", "DirectoryIndex index.html"))])
    draw.shuffle(parts)
    text = "\n".join(line for part in parts for line in part) + "\n"
    if draw.random() < 0.3:
        text = broken(draw, text)
    return text, web.SOURCES, {"format": "deny"}


class Apache:
    def __init__(self, root):
        self.root, self.version = root, root.version("apache2-bin")
        web.begin(root)
        root.file("conf", CONF)
        root.file("www/.htaccess", "")
        self.server = root.start("apache2", "-DFOREGROUND", "-f", "/lists/conf")
        engine.wait_for("apache2", web.listens, self.server)

    def refused(self, text, questions):
        self.root.file("www/.htaccess", text)
        return web.refused(questions)

    def close(self):
        self.server.terminate()
        self.server.wait()


def engines(root):
    return [Apache(root)]


def is_left_out(_text, _asked, reading):
    return bool(reading.notes)


def may_be_refused(_text, reason):
    return "refuses all that are not named" in reason or "no entries" in reason or "no line could be read" in reason

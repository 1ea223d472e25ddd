# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests over loopback from many sources to a web server, for several files and by several methods."""
import socket
import subprocess

import engine

HERE4, HERE6, PORT = "127.0.0.1", "::1", 8080
REQUESTS = [(method, path) for method in ("GET", "POST") for path in ("/", "/a", "/b.html")]
OTHER = "198.51.100.7"      # no file names it
FOUR, SIX = "203.0.113.%d", "2001:db8::%x"
SOURCES = [FOUR % number for number in range(17)] + [SIX % number for number in range(5)]


def begin(root):
    """Sources that this machine has, and files to ask for."""
    subprocess.run(["ip", "route", "add", "local", "203.0.113.0/24", "dev", "lo"], check=True)
    subprocess.run(["ip", "-6", "route", "add", "local", "2001:db8::/64", "dev", "lo"], check=True)
    subprocess.run(["chroot", root.path, "sh", "-c", "mkdir -p /lists/www /lists/tmp; cd /lists/www; "
                    "echo a | tee a b.html index.html; chmod -R a+rX /lists"], check=True, stdout=subprocess.DEVNULL)


def status(source, method, path):
    """The code of the answer, 0 without one."""
    ipv6 = ":" in source
    with socket.socket(socket.AF_INET6 if ipv6 else socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(5)
        # IPV6_FREEBIND, IP_FREEBIND
        sock.setsockopt(socket.IPPROTO_IPV6 if ipv6 else socket.IPPROTO_IP, 78 if ipv6 else 15, 1)
        sock.bind((source, 0))
        sock.connect((HERE6 if ipv6 else HERE4, PORT))
        sock.sendall(("%s %s HTTP/1.0\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: 0\r\n\r\n" %
                      (method, path, OTHER)).encode())
        answer = sock.recv(4096).split(b" ")
    return int(answer[1]) if len(answer) > 1 else 0


def refused(sources):
    """Of the sources those whose requests all are refused."""
    found = set()
    for source in sources:
        codes = {status(source, *request) for request in REQUESTS}
        if codes & {0, 500}:
            raise RuntimeError("%s is answered %s" % (source, sorted(codes)))
        if codes == {403}:
            found.add(source)
    return found


def listens():
    try:
        return status(HERE4, "GET", "/") > 0
    except OSError:
        return False


def address(draw):
    """An address or prefix of which sources are asked for."""
    if draw.random() < 0.2:
        return draw.choice((SIX % draw.randrange(4), "2001:db8::/127", "2001:db8::2/127"))
    length = draw.choice((0, 0, 0, 0, 1, 2, 3, 4))
    number = draw.randrange(16) >> length << length
    return FOUR % number + ("/%d" % (32 - length) if length else "")


NGINX = """worker_processes 1; daemon off; master_process off; pid /lists/nginx.pid; error_log /lists/error.log crit; user root;
events { worker_connections 64; }
http { access_log off; client_body_temp_path /lists/tmp/b; proxy_temp_path /lists/tmp/p; fastcgi_temp_path /lists/tmp/f;
uwsgi_temp_path /lists/tmp/u; scgi_temp_path /lists/tmp/s;
%s
server { listen 127.0.0.1:8080; listen [::1]:8080; root /lists/www; %s } }
"""


class Nginx:
    """http, server: what stands in these blocks; one of them includes /lists/list."""

    def __init__(self, root, http, server):
        self.root, self.version = root, root.version("nginx")
        begin(root)
        root.file("conf", NGINX % (http, server))

    def refused(self, text, questions):
        self.root.file("list", text)
        server = self.root.start("nginx", "-c", "/lists/conf")
        try:
            engine.wait_for("nginx", listens, server)
            return refused(questions)
        finally:
            engine.stop(server)

    def close(self):
        pass

# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of HTTP on a free port, in threads of this process."""
import http.server
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        body = self.server.body(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *_):  # pylint: disable=redefined-builtin
        pass


class Server(http.server.ThreadingHTTPServer):
    """body(path): what is there, or None."""
    daemon_threads, handler = True, Handler

    def __init__(self, body):
        self.body = body
        super().__init__(("127.0.0.1", 0), self.handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Whoever asked is gone."""

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mailer.py SOURCE SERVER [SENDER [PORT]]: sends a mail from this address, and prints the code and the text of
the last answer: "250 2.0.0 Ok: queued as ...", or that of the refusal; "none" if there is none. Without smtplib, which takes
longer to begin than all the rest."""
import socket
import sys


def answer(lines):
    """Of the last line, with the text of those before."""
    texts = []
    while True:
        line = lines.readline().decode().rstrip("\r\n")
        if len(line) < 4:
            raise ConnectionError("the server ends the connection")
        texts.append(line[4:])
        if line[3] == " ":
            return int(line[:3]), "\n".join(texts)


def send(source, server, sender, port):
    steps = ("EHLO client.example", "MAIL FROM:<%s>" % sender, "RCPT TO:<reader@mail.example>", "DATA",
             "From: <%s>\r\nSubject: a test\r\n\r\nhello\r\n." % sender)
    try:
        with socket.create_connection((server, int(port)), 20, (source, 0)) as one, one.makefile("rb") as lines:
            code, text = answer(lines)
            for step in steps:
                if code >= 400:
                    break
                one.sendall(step.encode() + b"\r\n")
                code, text = answer(lines)
            one.sendall(b"QUIT\r\n")
            return code, text
    except OSError as error:
        return "none", str(error)


DEFAULTS = ["someone@partner.example", "25"]
SENDER, PORT = sys.argv[3:] + DEFAULTS[len(sys.argv) - 3:]
print(*send(sys.argv[1], sys.argv[2], SENDER, PORT))

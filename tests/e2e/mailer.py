#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mailer.py SOURCE SERVER [SENDER [PORT]]: sends a mail from this address, and prints the code and the text of
the last answer: "250 2.0.0 Ok: queued as ...", or that of the refusal; "none" if there is none."""
import smtplib
import sys


def send(source, server, sender, port):
    try:
        with smtplib.SMTP(server, int(port), "client.example", timeout=20, source_address=(source, 0)) as smtp:
            for step in (smtp.ehlo, lambda: smtp.mail(sender), lambda: smtp.rcpt("reader@mail.example")):
                code, text = step()
                if code >= 400:
                    return code, text
            return smtp.data(b"From: <%s>\r\nSubject: a test\r\n\r\nhello\r\n" % sender.encode())
    except smtplib.SMTPConnectError as error:
        return error.smtp_code, error.smtp_error
    except (OSError, smtplib.SMTPServerDisconnected) as error:
        return "none", str(error).encode()


DEFAULTS = ["someone@partner.example", "25"]
SENDER, PORT = sys.argv[3:] + DEFAULTS[len(sys.argv) - 3:]
CODE, TEXT = send(sys.argv[1], sys.argv[2], SENDER, PORT)
print(CODE, TEXT.decode())

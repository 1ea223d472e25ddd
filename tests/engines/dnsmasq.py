# SPDX-License-Identifier: GPL-2.0-or-later
"""dnsmasq: domains with addresses that lead nowhere, and servers to ask."""
import engine

PACKAGES = ("dnsmasq-base",)
NAMES = True


def name(draw):
    return ".".join([draw.choice("ab") for _ in range(draw.randrange(3))] + ["example"])


def make(draw):
    lines = ["address=/%s/%s" % (name(draw), draw.choice(("", "0.0.0.0"))) for _ in range(draw.randint(1, 4))]
    questions = {name(draw) for _ in range(20)} | {"other"}
    return "\n".join(lines) + "\n", sorted(questions), {"format": "dnsmasq"}


class Dnsmasq:
    def __init__(self, root):
        self.root, self.version = root, root.version("dnsmasq-base")

    def refused(self, text, questions):
        self.root.file("conf", text)
        # What passes leads to an address.
        server = self.root.start("dnsmasq", "-k", "-C", "/work/conf", "-R", "-h", "-u", "root", "-8", "-", "-a", "127.0.0.1", "-x",
                                 "/work/pid", "--address=/#/192.0.2.9")
        try:
            engine.wait_for("dnsmasq", lambda: engine.ask("probe", tries=1, patience=0.2), server)
            answers = {asked: engine.ask(asked) for asked in questions}
        finally:
            engine.stop(server)
        return {asked for asked, answer in answers.items() if not answer or "192.0.2.9" not in answer.addresses}

    def close(self):
        pass


def engines(root):
    return [Dnsmasq(root)]


def is_left_out(_text, _asked, _reading):
    return False

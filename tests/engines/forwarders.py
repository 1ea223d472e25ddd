# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that answer some names themselves, and send queries for all others to servers."""
import engine

ANSWERS = {"192.0.2.99", "2001:db8::99"}        # of the servers
NOWHERE = {"0.0.0.0", "::", "127.0.0.1", "::1"}
SERVERS = 5300      # their port


class Forwarder:
    """Asked for each file anew, with servers that answer each name."""

    def __init__(self, root, package):
        self.root, self.version = root, root.version(package)
        self.servers = root.start("dnsmasq", "-k", "-C", "/dev/null", "-R", "-h", "-u", "root", "-8", "-", "-p", str(SERVERS),
                                  "-x", "/lists/servers", *["--address=/#/" + each for each in ANSWERS])
        engine.wait_for("servers", lambda: engine.ask("probe", port=SERVERS, tries=1, patience=0.2), self.servers)

    def those(self, is_refused, questions, *words):
        """Of the questions those that the program, started by the words, refuses."""
        server = self.root.start(*words)
        try:
            engine.wait_for(words[0], lambda: engine.ask("probe", tries=1, patience=0.2), server)
            return {asked for asked in questions if is_refused(asked)}
        finally:
            engine.stop(server)

    def close(self):
        engine.stop(self.servers)

"""A mail server that keeps what it receives, for one connection after another."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message


@dataclass
class Mailbox:
    """Received mails, with the addresses that each was for.

    refusals: number of connections that are refused before the first one is served.
    """

    port: int
    refusals: int = 0
    mails: list[Message] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)


@contextmanager
def mailbox(*, refusals: int = 0, greets: threading.Event | None = None) -> Iterator[Mailbox]:
    """greets: the server greets a client, and takes its mail, only once this is set."""

    class Conversation(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if box.refusals:
                box.refusals -= 1
                self.wfile.write(b"421 come back later\r\n")
                return
            if greets is not None:
                greets.wait()
            self.wfile.write(b"220 mailbox\r\n")
            to: list[str] = []
            for line in self.rfile:
                word = line.split()[0].upper() if line.split() else b""
                if word == b"RCPT":
                    to.append(line.decode().partition("<")[2].partition(">")[0])
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    box.recipients.append(to)
                    box.mails.append(message_from_bytes(b"".join(lines)))
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
                if word == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Conversation) as server:
        box = Mailbox(server.server_address[1], refusals)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()

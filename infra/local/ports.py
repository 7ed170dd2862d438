"""Free TCP ports on 127.0.0.1; a next start uses the same ports if they are free."""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence

from infra.local.errors import StackError
from infra.local.state import State

# Below the kernel's usual range for outgoing connections (from 32768), so that no client socket takes a port between
# the check here and the server's bind. Ports shifted by GRPC_OFFSET stay below it as well.
_LOWEST, _HIGHEST = 20000, 22700
GRPC_OFFSET = 10000
"""Distance from a port of SeaweedFS to the port of its gRPC."""


def is_free(port: int) -> bool:
    """Whether a server could listen now at this port on 127.0.0.1 and on all addresses."""
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - only tried, closed at once
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return True


def claim(state: State, name: str, *, size: int = 1, offsets: Sequence[int] = (0,)) -> int:
    """Return the first of ``size`` neighbouring ports that are free at every offset, and remember it under ``name``."""

    def usable(first: int) -> bool:
        return all(is_free(first + step + offset) for step in range(size) for offset in offsets)

    remembered = state.port(name)
    if remembered is not None and usable(remembered):
        return remembered
    # A port that another server of this stack will bind is still free.
    promised = state.ports()
    for _ in range(200):
        first = random.randrange(_LOWEST, _HIGHEST - size)
        if promised.isdisjoint(range(first, first + size)) and usable(first):
            state.set_port(name, first)
            return first
    raise StackError(f"no {size} free neighbouring ports between {_LOWEST} and {_HIGHEST}")

"""Inside a box: the bytes of the recording, as a file that can only be read."""

from __future__ import annotations

import os
import struct

QUESTION = struct.Struct("<QI")
"""Offset and number of bytes that a box wants; the answer begins with their number, REPLY, -1 for a fault."""
REPLY = struct.Struct("<i")
BLOCK_BYTES = 256 * 1024


class Supplied:
    """A recording of `size` bytes (None: unknown), read from a file's descriptor or asked of the worker (remote)."""

    def __init__(self, descriptor: int, size: int | None, *, remote: bool) -> None:
        self.size = size
        self._descriptor, self._remote = descriptor, remote
        self._at = 0

    def read(self, count: int = -1) -> bytes:
        """Return the next bytes, b"" at the end. Raises OSError if the worker cannot get them."""
        wanted = BLOCK_BYTES if count < 0 else min(count, BLOCK_BYTES)
        if self.size is not None:
            wanted = max(0, min(wanted, self.size - self._at))
        if not wanted:
            return b""
        data = self._ask(wanted) if self._remote else os.pread(self._descriptor, wanted, self._at)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move as io.IOBase.seek() does. Raises OSError for a position that is unknown or before the beginning."""
        if whence == os.SEEK_END and self.size is None:
            raise OSError("the size is not known")
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size or 0}[whence]
        if begin + offset < 0:
            raise OSError("a position before the beginning")
        self._at = begin + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def _ask(self, count: int) -> bytes:
        os.write(self._descriptor, QUESTION.pack(self._at, count))
        (length,) = REPLY.unpack(self._exactly(REPLY.size))
        if not 0 <= length <= count:
            raise OSError("the bytes cannot be read")
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = os.read(self._descriptor, count - len(data))
            if not piece:
                raise OSError("the worker has gone")
            data += piece
        return bytes(data)

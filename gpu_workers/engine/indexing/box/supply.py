"""The worker's side of a box's reads: a file, or ranges of one URL that the box never learns."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import httpx

from gpu_workers.engine.indexing.box.supplied import BLOCK_BYTES, QUESTION, REPLY
from gpu_workers.engine.indexing.container import SourceUnreachable, is_url
from gpu_workers.engine.tls import tls

CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 30.0, 60.0
_SKIP_BYTES = 1024 * 1024
"""Distance ahead up to which reading on is cheaper than another request."""


class RemoteFile:
    """The bytes behind a URL, by range requests; reading on continues the request that is open. size: None: unknown.

    Every fault is a SourceUnreachable, without the URL; redirects are not followed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx.Client(verify=tls(), timeout=httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S))
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._rest, self._at = b"", 0
        self.size: int | None = None
        self._request(0)

    def read(self, offset: int, count: int) -> bytes:
        """Return count bytes from offset, fewer only at the end. Raises SourceUnreachable."""
        if not 0 <= offset - self._at <= _SKIP_BYTES:
            if self.size is not None and offset >= self.size:
                return b""
            self._request(offset)
        self._take(offset - self._at)
        return self._take(count)

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
        self._client.close()

    def _request(self, offset: int) -> None:
        if self._response is not None:
            self._response.close()
        self._rest, self._at = b"", offset
        try:
            request = self._client.build_request(
                "GET", self._url, headers={"Range": f"bytes={offset}-", "Accept-Encoding": "identity"}
            )
            self._response = response = self._client.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SourceUnreachable(f"The URL cannot be read: {type(error).__name__}.") from error
        code = response.status_code
        if code == 416:  # a range of an empty object, or behind the end
            self.size, self._pieces = self.size or 0, iter(())
            return
        if code >= 400:
            raise SourceUnreachable(f"The URL answers {code}.", retryable=code >= 500 or code in (408, 429))
        if code >= 300:
            raise SourceUnreachable("The URL redirects; give the final address.", retryable=False)
        if code != 206 and offset:
            raise SourceUnreachable("The server does not serve parts of the file.", retryable=False)
        total = response.headers.get("content-range", "").rpartition("/")[2] if code == 206 else ""
        total = total or response.headers.get("content-length", "")
        self.size = int(total) if total.isdigit() else self.size
        self._pieces = response.iter_raw(BLOCK_BYTES)

    def _take(self, count: int) -> bytes:
        taken = bytearray()
        while len(taken) < count:
            if not self._rest:
                try:
                    self._rest = next(self._pieces, b"")
                except httpx.HTTPError as error:
                    raise SourceUnreachable(f"Reading the URL stopped: {type(error).__name__}.") from error
                if not self._rest:
                    break
            piece, self._rest = self._rest[: count - len(taken)], self._rest[count - len(taken) :]
            taken += piece
        self._at += len(taken)
        return bytes(taken)


class Supply:
    """What a box reads from. descriptor: to be handed to the box. failure: the fault that ended a read, if any.

    Raises SourceUnreachable for a source that cannot be opened.
    """

    def __init__(self, source: str) -> None:
        self.failure: SourceUnreachable | None = None
        self.remote = is_url(source)
        self._thread: threading.Thread | None = None
        if not self.remote:
            try:
                self.descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                reason = f"The file cannot be opened: {error.strerror}."
                raise SourceUnreachable(reason, retryable=False) from error
            self.size: int | None = os.fstat(self.descriptor).st_size
            return
        self._file = RemoteFile(source)
        self.size = self._file.size
        self._mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.descriptor = theirs.detach()

    def head(self, count: int) -> bytes:
        """Return the first bytes. Raises SourceUnreachable."""
        return self._file.read(0, count) if self.remote else os.pread(self.descriptor, count, 0)

    def serve(self) -> None:
        """Answer the box's reads from now on; the descriptor is the box's, and is closed here."""
        os.close(self.descriptor)
        self.descriptor = -1
        if self.remote:
            self._thread = threading.Thread(target=self._answer, name="supply", daemon=True)
            self._thread.start()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        if self.remote and self._mine.fileno() >= 0:
            if self._thread is not None:
                with contextlib.suppress(OSError):  # the box may have ended before
                    self._mine.shutdown(socket.SHUT_RDWR)
                self._thread.join()
            self._mine.close()
            self._file.close()

    def _answer(self) -> None:
        try:
            while question := self._mine.recv(QUESTION.size, socket.MSG_WAITALL):
                if len(question) < QUESTION.size:
                    return
                offset, count = QUESTION.unpack(question)
                try:
                    data = self._file.read(offset, min(count, BLOCK_BYTES))
                except SourceUnreachable as error:
                    self.failure = error
                    self._mine.sendall(REPLY.pack(-1))
                    return
                self._mine.sendall(REPLY.pack(len(data)) + data)
        except OSError:
            return  # the box has ended

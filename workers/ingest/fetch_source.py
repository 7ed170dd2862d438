"""Copies a recording from a customer's URL into object storage, with never more than one part in memory."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.conf import settings

from backend.jobs.services import JobFailed
from backend.library.services.uploads import part_size_for
from backend.library.storage import ObjectStorage, StorageAway, StorageError, StoredPart, source_prefix
from backend.outbound import transport

TIMEOUT_S = 600.0
"""Timeout of one whole file, inside a task's time limit. Larger files are better sent as an upload or in segments."""
SILENT_S = 30.0
"""Longest wait for the next bytes of a source."""
FLOOR_WINDOW_S = 30.0
"""Seconds of waiting for a source over which its throughput is measured."""
USER_AGENT = "AVA-Cloud-Fetch/1"
_TRY_LATER = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch stored. sha256: of all bytes, in hex, computed as they arrived."""

    sha256: str
    size_bytes: int


def fetch(
    url: str,
    key: str,
    storage: ObjectStorage,
    *,
    limit: int,
    on_progress: Callable[[int, int], None],
    reserve: Callable[[int], None] = lambda size_bytes: None,
) -> Fetched:
    """Store the file at url under key, at most limit bytes; on_progress(bytes so far, bytes announced or 0).

    reserve(bytes of the whole file, as far as they are known) is called before these bytes are stored. What it raises
    ends the fetch.

    The address is checked as webhook receivers are; redirects are not followed. Raises JobFailed: source_refused
    (the address is refused, or the response is not the file), source_too_slow (less than SOURCE_MIN_BYTES_PER_SECOND),
    too_large, empty_file, and, as retryable, source_unreachable (final after a time-out)
    and storage_unavailable. Raises StorageAway.
    """
    headers = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": "identity"}
    try:
        with (
            transport.request(
                "GET",
                url,
                headers=headers,
                timeout_s=TIMEOUT_S,
                silent_s=SILENT_S,
                allow_private=settings.SOURCE_ALLOW_PRIVATE,
            ) as response,
        ):
            _check_status(response.status)
            announced = _content_length(response.headers.get("content-length", ""))
            if announced > limit:
                raise _too_large(limit)
            return _store(
                fast_enough(response.chunks()),
                key,
                storage,
                announced=announced,
                limit=limit,
                on_progress=on_progress,
                reserve=reserve,
            )
    except transport.TransportError as error:
        if error.code in ("invalid_url", "address_refused"):
            raise JobFailed("source_refused", f"This URL is not fetched: {error}.", retryable=False) from error
        # A server that answers too late would hold a slot for as long at each further attempt.
        late = error.code == "timeout"
        raise JobFailed(
            "source_unreachable", f"The URL could not be read: {error.code}.", retryable=not late
        ) from error
    except StorageAway:
        raise  # an outage of ours, which is not counted as an attempt
    except StorageError as error:
        raise JobFailed("storage_unavailable", "object storage did not take the recording", retryable=True) from error


def fast_enough(chunks: Iterator[bytes], *, clock: Callable[[], float] = time.monotonic) -> Iterator[bytes]:
    """Yield the chunks of a source that keeps up the lowest throughput. Raises JobFailed (source_too_slow).

    A source that drips would hold a slot of all tenants for TIMEOUT_S. Only the time that the source takes counts.
    """
    waited, received = 0.0, 0
    while True:
        since = clock()
        chunk = next(chunks, None)
        waited += clock() - since
        if chunk is None:
            return
        received += len(chunk)
        if waited >= FLOOR_WINDOW_S:
            if received < settings.SOURCE_MIN_BYTES_PER_SECOND * waited:
                message = f"The URL sends less than {settings.SOURCE_MIN_BYTES_PER_SECOND} bytes per second."
                # The sender's doing, which would hold a slot again and again.
                raise JobFailed("source_too_slow", message, retryable=False)
            waited, received = 0.0, 0
        yield chunk


def _check_status(status: int) -> None:
    if status == 200:
        return
    if status >= 500 or status in _TRY_LATER:
        raise JobFailed("source_unreachable", f"The URL answered with status {status}.", retryable=True)
    reason = "redirects are not followed" if 300 <= status < 400 else f"the URL answered with status {status}"
    raise JobFailed("source_refused", f"There is no file to fetch: {reason}.", retryable=False)


def _content_length(text: str) -> int:
    return int(text[:18]) if text.isascii() and text.isdigit() else 0


def _too_large(limit: int) -> JobFailed:
    return JobFailed("too_large", f"The file has more than {limit} bytes.", retryable=False)


def _store(
    chunks: Iterator[bytes],
    key: str,
    storage: ObjectStorage,
    *,
    announced: int,
    limit: int,
    on_progress: Callable[[int, int], None],
    reserve: Callable[[int], None],
) -> Fetched:
    # What an earlier attempt left when it was killed.
    storage.abort_prefix(source_prefix(key))
    upload_id = storage.create_upload(key, content_type="application/octet-stream", part_checksums=False)
    try:
        parts: list[StoredPart] = []
        digest = hashlib.sha256()
        received = reserved = 0
        for body in _in_parts(chunks, size=part_size_for(announced or limit)):
            received += len(body)
            if received > limit:
                raise _too_large(limit)
            if max(received, announced) > reserved:
                reserved = max(received, announced)
                reserve(reserved)
            digest.update(body)
            parts.append(storage.put_part(key, upload_id, len(parts) + 1, body))
            on_progress(received, announced)
        if not parts:
            raise JobFailed("empty_file", "The URL answered with an empty file.", retryable=False)
        # Replaces an object that an earlier attempt completed before it died.
        storage.delete(key)
        storage.complete(key, upload_id, parts)
        return Fetched(digest.hexdigest(), received)
    except BaseException:
        _abort(storage, key, upload_id)
        raise


def _abort(storage: ObjectStorage, key: str, upload_id: str) -> None:
    try:
        storage.abort(key, upload_id)
    except StorageError:
        return  # the bucket's lifecycle rule drops parts that nobody completes


def _in_parts(chunks: Iterator[bytes], *, size: int) -> Iterator[bytes]:
    """Yield the bytes of chunks in parts of size bytes; the last part may be shorter."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        while len(waiting) >= size:
            yield bytes(waiting[:size])
            del waiting[:size]
    if waiting:
        yield bytes(waiting)

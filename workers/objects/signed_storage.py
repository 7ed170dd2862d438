"""Object storage for a process without a key of the bucket: the signer signs each request, for one leased job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
from django.conf import settings

from backend.jobs.services import Lease, LeaseLost
from backend.library import storage
from backend.library.storage import (
    READ_URL_LIFETIME,
    ObjectHead,
    ObjectMissing,
    ObjectStorage,
    StorageAway,
    StorageDenied,
    StorageError,
    StoredPart,
    UploadMissing,
)
from gpu_workers.engine.tls import tls
from workers.objects.object_rights import MOST_PUTS

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_KINDS = {
    kind.__name__: kind for kind in vars(storage).values() if isinstance(kind, type) and issubclass(kind, StorageError)
}


def storage_of(lease: Lease | None) -> ObjectStorage:
    """Return the storage of a job, or for ping() alone: through the signer if there is one."""
    return SignedStorage(lease) if settings.SIGNER_URL else ObjectStorage()


class SignedStorage(ObjectStorage):
    """What a job may do with objects. Raises what ObjectStorage does, and LeaseLost once the lease is not held.

    A signer that is away raises StorageAway. No error has a URL.
    """

    def __init__(self, lease: Lease | None) -> None:
        self._lease = lease

    @property
    def _client(self) -> S3Client:  # type: ignore[override]
        raise StorageDenied("this process has no key of the bucket")

    # --- multipart uploads -------------------------------------------------------------------------------------------

    def create_upload(self, key: str, *, content_type: str, part_checksums: bool) -> str:
        if part_checksums:
            raise ValueError("a job's upload has no checksums of parts")
        return str(self._ask("begin", key)["upload"])

    def put_part(self, key: str, upload_id: str, part_number: int, body: bytes) -> StoredPart:
        url = self._ask("part", key, upload=upload_id, number=part_number, size=len(body))["url"]
        reply = _sent("PUT", url, missing=UploadMissing, content=body)
        return StoredPart(part_number, reply.headers["etag"].strip('"'), len(body))

    def complete(self, key: str, upload_id: str, parts: Sequence[StoredPart]) -> None:
        listed = [(part.part_number, part.etag, part.size_bytes) for part in parts]
        self._ask("complete", key, upload=upload_id, parts=listed)

    def abort(self, key: str, upload_id: str) -> None:
        self._ask("abort", key, upload=upload_id)

    def abort_prefix(self, prefix: str) -> int:
        return int(self._ask("clear", f"{prefix}source")["count"])

    # --- objects -----------------------------------------------------------------------------------------------------

    def head(self, key: str) -> ObjectHead:
        reply = self._ask("head", key)
        return ObjectHead(size_bytes=int(reply["size"]), etag=str(reply["etag"]))

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        self.putter({key: len(body)}, content_type=content_type)(key, body)

    def put_file(self, key: str, path: Path, *, content_type: str) -> None:
        size = path.stat().st_size
        url = self._ask("put", [key], sizes=[size], content_type=content_type)["urls"][key]
        with path.open("rb") as body:
            _sent("PUT", url, content=body, headers={"content-type": content_type})

    def putter(self, sizes: Mapping[str, int], *, content_type: str) -> Callable[[str, bytes], None]:
        """Ask for all URLs at once; they last two minutes."""
        urls: dict[str, str] = {}
        keys = list(sizes)
        for first in range(0, len(keys), MOST_PUTS):
            some = keys[first : first + MOST_PUTS]
            urls |= self._ask("put", some, sizes=[sizes[key] for key in some], content_type=content_type)["urls"]

        def put(key: str, body: bytes) -> None:
            _sent("PUT", urls[key], content=body, headers={"content-type": content_type})

        return put

    def get(self, key: str) -> bytes:
        return _sent("GET", self._ask("get", key)["url"]).content

    def presign_get(self, key: str, *, expires: timedelta = READ_URL_LIFETIME, content_type: str = "") -> str:
        """Return a URL that reads one object, also by ranges, for at least as long as a job may run."""
        return str(self._ask("get", key)["url"])

    def chunks(self, key: str, *, size: int = 1024**2) -> Iterator[bytes]:
        url = self._ask("get", key)["url"]
        try:
            with _http().stream("GET", url) as reply:
                _check(reply, ObjectMissing)
                yield from reply.iter_bytes(size)
        except httpx.HTTPError as error:
            raise StorageAway(type(error).__name__) from None

    def delete(self, key: str) -> None:
        self._ask("delete", key)

    def erase(self, prefix: str) -> int:
        return int(self._ask("erase", f"{prefix}source")["count"])

    def ping(self) -> None:
        self._request({"operation": "ping"})

    # --- the signer --------------------------------------------------------------------------------------------------

    def _ask(self, operation: str, key: str | Sequence[str], **details: Any) -> dict[str, Any]:
        if self._lease is None:
            raise StorageDenied("only a job has objects")
        named: dict[str, UUID] = {"tenant": self._lease.tenant_id, "job": self._lease.job_id}
        which = {name: str(value) for name, value in named.items()}
        return self._request({**which, "token": self._lease.token, "operation": operation, "key": key, **details})

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            headers = {"authorization": f"Bearer {settings.SIGNER_KEY}"}
            reply = _http().post(settings.SIGNER_URL, json=body, headers=headers)
            content: dict[str, Any] = reply.json()
        except (httpx.HTTPError, ValueError) as error:
            raise StorageAway(f"the signer did not answer: {type(error).__name__}") from None
        if reply.status_code == httpx.codes.OK:
            return content
        code = str(content.get("error", ""))
        if code == "lease_lost":
            raise LeaseLost("the signer finds no such lease")
        if reply.status_code == httpx.codes.UNAUTHORIZED:
            raise StorageDenied("the signer refuses the worker's secret")
        raise _KINDS.get(code, StorageError)(str(content.get("message", f"the signer answered {code}")))


def _sent(method: str, url: str, *, missing: type[StorageError] = ObjectMissing, **request: Any) -> httpx.Response:
    try:
        reply = _http().request(method, url, **request)
    except httpx.HTTPError as error:
        # Without the cause, whose text may have the URL.
        raise StorageAway(type(error).__name__) from None
    _check(reply, missing)
    return reply


def _check(reply: httpx.Response, missing: type[StorageError]) -> None:
    status = reply.status_code
    if reply.is_success:
        return
    if status == httpx.codes.NOT_FOUND:
        raise missing(f"storage answered {status}")
    if status == httpx.codes.FORBIDDEN:
        raise StorageDenied(f"storage answered {status}")
    away = status >= 500 or status in (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_MANY_REQUESTS)
    raise (StorageAway if away else StorageError)(f"storage answered {status}")


@cache
def _http() -> httpx.Client:
    # One client per process. A connection that the other side has closed meanwhile is opened once more.
    transport = httpx.HTTPTransport(
        verify=tls(), retries=3, limits=httpx.Limits(max_connections=64, keepalive_expiry=30)
    )
    return httpx.Client(transport=transport, timeout=httpx.Timeout(60, connect=5), trust_env=False)

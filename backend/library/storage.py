"""Object storage over the S3 protocol: multipart uploads, presigned URLs and plain objects of one bucket."""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote, urlencode
from uuid import UUID

import boto3
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from backend.api.monitoring.readiness import NotReady

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = logging.getLogger("ava.storage")

PART_URL_LIFETIME = timedelta(hours=1)
"""Lifetime of a URL for one part of an upload: a part may wait for those before it."""
READ_URL_LIFETIME = timedelta(minutes=30)
"""Longest time for which somebody who lost access, or passed a URL on, can still read an object."""
WINDOW_S = 900
"""Windows of time in which an object has one signed URL that reads it. It is valid for READ_URL_LIFETIME from the
window's begin."""
PLAIN_BYTES = "application/octet-stream"
_LIST_PAGE = 1000


def tenant_prefix(tenant_id: UUID) -> str:
    """Return the folder that holds all objects of a tenant."""
    return f"t/{tenant_id}/"


def source_key(tenant_id: UUID, upload_id: UUID) -> str:
    """Return the key of an upload's object, which never contains the customer's file name."""
    return f"t/{tenant_id}/u/{upload_id}/source"


def source_prefix(object_key: str) -> str:
    """Return the folder that holds one source and nothing else."""
    return object_key[: object_key.rindex("/") + 1]


def video_prefix(tenant_id: UUID, video_id: UUID) -> str:
    """Return the folder of everything derived from a video: its index versions, and the frames that answers cite."""
    return f"t/{tenant_id}/v/{video_id}/"


def version_prefix(tenant_id: UUID, video_id: UUID, index_version: int) -> str:
    """Return the folder of everything derived for one index version."""
    return f"{video_prefix(tenant_id, video_id)}{index_version}/"


def thumbnail_key(tenant_id: UUID, video_id: UUID, index_version: int, ms: int) -> str:
    """Return the key of a frame's thumbnail: the same for the same frame, so repeated work overwrites itself."""
    return f"{version_prefix(tenant_id, video_id, index_version)}frames/{ms}.jpg"


def question_prefix(tenant_id: UUID, video_id: UUID, question_id: UUID) -> str:
    """Return the folder of the pictures of one video that one answer shows."""
    return f"{video_prefix(tenant_id, video_id)}q/{question_id}/"


def evidence_key(tenant_id: UUID, video_id: UUID, question_id: UUID, frame_id: UUID, picture: bytes) -> str:
    """Return the key of a frame that an answer cites. It outlives the index version, and ends with the video.

    It names the frame and the content: a late attempt, which may have the thumbnail where the answer shows the full
    picture, writes the same bytes again or another object.
    """
    digest = hashlib.sha256(picture).hexdigest()[:16]
    return f"{question_prefix(tenant_id, video_id, question_id)}{frame_id}-{digest}.jpg"


def cited_thumbnail_key(tenant_id: UUID, video_id: UUID, question_id: UUID, ordinal: int) -> str:
    """Return the key of a thumbnail that evidence shows. It outlives the index version, and ends with the video."""
    return f"{question_prefix(tenant_id, video_id, question_id)}thumbnail-{ordinal:03d}.jpg"


class StorageError(Exception):
    """A call that object storage refused, for a reason without a subclass."""


class StorageAway(StorageError):
    """No answer, or an answer that asks to try later."""


class StorageDenied(StorageAway):
    """The service's own keys or rights do not suffice. Work waits until an operator mends them."""


class ObjectMissing(StorageError):
    """There is no object under this key."""


class UploadMissing(StorageError):
    """The multipart upload has been completed or aborted."""


class PartRejected(StorageError):
    """A part is missing, too small, or not the named part."""


class ChecksumRejected(StorageError):
    """A part's checksum does not match its bytes, or is missing in an upload begun with checksums."""


class ObjectExists(StorageError):
    """The key is taken, and the call would not overwrite."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part as storage has it. sha256: hex, "" if none was sent with it or storage does not report it."""

    part_number: int
    etag: str
    size_bytes: int
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class PresignedPart:
    """The URL to PUT one part to, and the headers that are signed with it."""

    part_number: int
    url: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class ObjectHead:
    size_bytes: int
    etag: str


_ERRORS: dict[str, type[StorageError]] = {
    "NoSuchKey": ObjectMissing,
    "NotFound": ObjectMissing,
    "404": ObjectMissing,
    "NoSuchUpload": UploadMissing,
    "InvalidPart": PartRejected,
    "InvalidPartOrder": PartRejected,
    "EntityTooSmall": PartRejected,
    "BadDigest": ChecksumRejected,
    "XAmzContentChecksumMismatch": ChecksumRejected,
    "InvalidRequest": ChecksumRejected,
    "PreconditionFailed": ObjectExists,
    "412": ObjectExists,
    "AccessDenied": StorageDenied,
    "Forbidden": StorageDenied,
    "InvalidAccessKeyId": StorageDenied,
    "SignatureDoesNotMatch": StorageDenied,
    # A HEAD has no body, so its code is the status.
    "403": StorageDenied,
    "SlowDown": StorageAway,
    # Another request makes an object of the same key at this moment.
    "ConditionalRequestConflict": StorageAway,
    "OperationAborted": StorageAway,
    "RequestTimeout": StorageAway,
}


def _raise(error: ClientError) -> NoReturn:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    kind = _ERRORS.get(code) or (StorageAway if status >= 500 else StorageError)
    if kind is StorageDenied:
        logger.error("object storage refuses the service's keys or rights (%s: %s)", error.operation_name, code)
    raise kind(f"{error.operation_name}: {code}") from error


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        _raise(error)
    except BotoCoreError as error:
        raise StorageAway(type(error).__name__) from error


def _check_prefix(prefix: str) -> None:
    if not prefix.startswith("t/") or not prefix.endswith("/") or prefix.count("/") < 2:
        raise ValueError(f"a prefix names one tenant's folder, got {prefix!r}")


def to_base64(sha256_hex: str) -> str:
    """Return a hex SHA-256 in S3's base64 form. Raises ValueError for anything but hex."""
    return base64.b64encode(bytes.fromhex(sha256_hex)).decode()


def _to_hex(sha256_base64: str) -> str:
    # A composite checksum ends with "-<parts>"; the checksum of a part never does.
    return base64.b64decode(sha256_base64).hex() if sha256_base64 else ""


def window_begin(now: float) -> int:
    """Return the begin of the window that holds a moment, as Unix time."""
    return int(now) // WINDOW_S * WINDOW_S


class ObjectStorage:
    """The service's bucket. Every method raises StorageAway if storage does not answer."""

    def __init__(self) -> None:
        self._client = _client()
        self._bucket: str = settings.S3_BUCKET

    # --- multipart uploads -------------------------------------------------------------------------------------------

    def create_upload(self, key: str, *, content_type: str, part_checksums: bool) -> str:
        """Begin a multipart upload and return its id. part_checksums: every part will carry its SHA-256."""
        options: dict[str, Any] = {"ChecksumAlgorithm": "SHA256"} if part_checksums else {}
        with _translated():
            reply = self._client.create_multipart_upload(
                Bucket=self._bucket, Key=key, ContentType=content_type, **options
            )
        return reply["UploadId"]

    def presign_part(
        self, key: str, upload_id: str, part_number: int, *, size_bytes: int, sha256: str = ""
    ) -> PresignedPart:
        """Return a URL for one PUT of one part. Its length and, if given, its sha256 (hex) are signed.

        Storage refuses a body of another length or with other bytes.
        """
        parameters: dict[str, Any] = {
            "Bucket": self._bucket,
            "Key": key,
            "UploadId": upload_id,
            "PartNumber": part_number,
            "ContentLength": size_bytes,
        }
        headers = {}
        if sha256:
            parameters["ChecksumSHA256"] = headers["x-amz-checksum-sha256"] = to_base64(sha256)
        seconds = int(PART_URL_LIFETIME.total_seconds())
        url = self._client.generate_presigned_url("upload_part", Params=parameters, ExpiresIn=seconds)
        return PresignedPart(part_number, url, headers)

    def put_part(self, key: str, upload_id: str, part_number: int, body: bytes) -> StoredPart:
        """Store one part of an upload without checksums. Raises UploadMissing."""
        with _translated():
            reply = self._client.upload_part(
                Bucket=self._bucket, Key=key, UploadId=upload_id, PartNumber=part_number, Body=body
            )
        return StoredPart(part_number, reply["ETag"].strip('"'), len(body))

    def list_parts(self, key: str, upload_id: str) -> list[StoredPart]:
        """Return the parts that have arrived, by number. Raises UploadMissing.

        Some servers also list what a part held before it was sent again. Only what was sent last is returned; several
        parts of one number if the server, whose clock shows seconds, received them within a second.
        """
        sent: list[tuple[datetime, StoredPart]] = []
        marker = 0
        while True:
            with _translated():
                reply = self._client.list_parts(
                    Bucket=self._bucket, Key=key, UploadId=upload_id, PartNumberMarker=marker, MaxParts=_LIST_PAGE
                )
            sent += [
                (
                    part["LastModified"],
                    StoredPart(
                        part_number=part["PartNumber"],
                        etag=part["ETag"].strip('"'),
                        size_bytes=part["Size"],
                        sha256=_to_hex(part.get("ChecksumSHA256", "")),
                    ),
                )
                for part in reply.get("Parts", [])
            ]
            if not reply.get("IsTruncated"):
                last = {part.part_number: at for at, part in sorted(sent, key=lambda one: one[0])}
                return sorted(
                    (part for at, part in sent if at == last[part.part_number]), key=lambda part: part.part_number
                )
            marker = int(reply["NextPartNumberMarker"])

    def complete(self, key: str, upload_id: str, parts: Sequence[StoredPart]) -> None:
        """Make the object from its parts. Raises UploadMissing, PartRejected, ChecksumRejected, ObjectExists."""
        listed: list[Any] = []
        for part in parts:
            entry = {"PartNumber": part.part_number, "ETag": f'"{part.etag}"'}
            if part.sha256:
                entry["ChecksumSHA256"] = to_base64(part.sha256)
            listed.append(entry)
        with _translated():
            self._client.complete_multipart_upload(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload_id,
                MultipartUpload={"Parts": listed},
                # Some servers ignore both, so the caller compares head() afterwards.
                MpuObjectSize=sum(part.size_bytes for part in parts),
                IfNoneMatch="*",
            )

    def abort(self, key: str, upload_id: str) -> None:
        """Drop an upload and its parts; does nothing if it is gone already."""
        try:
            with _translated():
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload_id)
        except (UploadMissing, ObjectMissing):
            return

    # --- objects -----------------------------------------------------------------------------------------------------

    def head(self, key: str) -> ObjectHead:
        """Return the object's metadata. Raises ObjectMissing."""
        with _translated():
            reply = self._client.head_object(Bucket=self._bucket, Key=key)
        return ObjectHead(size_bytes=reply["ContentLength"], etag=reply["ETag"].strip('"'))

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        with _translated():
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)

    def put_file(self, key: str, path: Path, *, content_type: str) -> None:
        """Store a file of any size."""
        with _translated(), path.open("rb") as body:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)

    def putter(self, sizes: Mapping[str, int], *, content_type: str) -> Callable[[str, bytes], None]:
        """Return a function that stores these objects, each by its key, also from several threads.

        sizes: length of each object in bytes by its key; no other object can be stored.
        """
        return lambda key, body: self.put(key, body, content_type=content_type)

    def presign_put(self, key: str, *, size_bytes: int, content_type: str, expires: timedelta) -> str:
        """Return a URL for one PUT of an object of exactly this length and type."""
        parameters = {"Bucket": self._bucket, "Key": key, "ContentLength": size_bytes, "ContentType": content_type}
        return self._client.generate_presigned_url(
            "put_object", Params=parameters, ExpiresIn=int(expires.total_seconds())
        )

    def get(self, key: str) -> bytes:
        """Return the whole object: for thumbnails and evidence, never for sources. Raises ObjectMissing."""
        with _translated():
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()

    def presign_get(self, key: str, *, expires: timedelta = READ_URL_LIFETIME, content_type: str = "") -> str:
        """Return a URL that reads one object, also by ranges, until it expires.

        The reply's type is signed, whatever a customer announced: content_type, else that of a thumbnail or of plain
        bytes. A browser shows pictures and downloads anything else.
        """
        served = content_type or ("image/jpeg" if key.endswith(".jpg") else PLAIN_BYTES)
        disposition = "inline" if served.startswith("image/") else "attachment"
        parameters = {
            "Bucket": self._bucket,
            "Key": key,
            "ResponseContentType": served,
            "ResponseContentDisposition": disposition,
        }
        return self._client.generate_presigned_url(
            "get_object", Params=parameters, ExpiresIn=int(expires.total_seconds())
        )

    def presign_window(self, key: str, *, content_type: str, begin: int) -> str:
        """Return a URL that reads one object, also by ranges: the same one whenever it is asked for with this begin.

        begin: Unix time from which the URL is valid, see window_begin(). So browsers and caches recognise an object
        that they have.
        """
        query = urlencode({"response-content-type": content_type, "response-content-disposition": "inline"})
        request = AWSRequest("GET", f"{self._client.meta.endpoint_url}/{self._bucket}/{quote(key)}?{query}")
        lifetime_s = int(READ_URL_LIFETIME.total_seconds())
        _WindowSigner(_credentials(), settings.S3_REGION, lifetime_s, begin).add_auth(request)
        return str(request.url)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys under a prefix, in their order."""
        return (key for key, _ in self.list_sizes(prefix))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield key and size in bytes of each object under a prefix, in the order of the keys."""
        with _translated():
            for listing in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                yield from ((entry["Key"], entry["Size"]) for entry in listing.get("Contents", []))

    def upload(self, key: str, body: IO[bytes]) -> None:
        """Store an object of any size from a stream; it is whole or absent."""
        with _translated():
            self._client.upload_fileobj(body, self._bucket, key)

    def chunks(self, key: str, *, size: int = 1024**2) -> Iterator[bytes]:
        """Yield the bytes of an object in pieces of size bytes. Raises ObjectMissing."""
        with _translated():
            yield from self._client.get_object(Bucket=self._bucket, Key=key)["Body"].iter_chunks(size)

    def delete(self, key: str) -> None:
        with _translated():
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def delete_prefix(self, prefix: str) -> int:
        """Delete every object under a tenant's folder and return their number.

        Raises ValueError for any other prefix, StorageError if storage keeps an object.
        """
        _check_prefix(prefix)
        deleted = 0
        with _translated():
            for listing in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                keys: list[Any] = [{"Key": entry["Key"]} for entry in listing.get("Contents", [])]
                if keys:
                    reply = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True})
                    if errors := reply.get("Errors"):
                        # The request as a whole succeeds even then.
                        raise StorageError(f"DeleteObjects: {errors[0].get('Code', '')} for {len(errors)} objects")
                    deleted += len(keys)
        return deleted

    def abort_prefix(self, prefix: str) -> int:
        """Drop the unfinished multipart uploads under a tenant's folder and return their number."""
        _check_prefix(prefix)
        found = self._unfinished(prefix)
        for key, upload_id in found:
            self.abort(key, upload_id)
        return len(found)

    def count_uploads(self, prefix: str) -> int:
        """Return the number of unfinished multipart uploads under a tenant's folder."""
        return len(self._unfinished(prefix))

    def _unfinished(self, prefix: str) -> list[tuple[str, str]]:
        pages = self._client.get_paginator("list_multipart_uploads")
        with _translated():
            return [
                (upload["Key"], upload["UploadId"])
                for listing in pages.paginate(Bucket=self._bucket, Prefix=prefix)
                for upload in listing.get("Uploads", [])
            ]

    def erase(self, prefix: str) -> int:
        """Delete every object and every unfinished upload under a tenant's folder and return their number.

        Raises what delete_prefix() raises.
        """
        # Uploads first: one that is completed meanwhile is an object.
        return self.abort_prefix(prefix) + self.delete_prefix(prefix)

    def ping(self) -> None:
        """Make one cheap call that needs the bucket and the service's rights on it."""
        with _translated():
            self._client.head_bucket(Bucket=self._bucket)


def check_storage() -> None:
    """Raise NotReady if the bucket cannot be used."""
    try:
        ObjectStorage().ping()
    except StorageError as error:
        raise NotReady(str(error)) from error


class _WindowSigner(S3SigV4QueryAuth):
    """Signs a URL as of a given moment, where botocore takes the present."""

    def __init__(self, credentials: Any, region: str, expires: int, begin: int) -> None:
        super().__init__(credentials, "s3", region, expires=expires)
        self._begin = datetime.fromtimestamp(begin, UTC)

    def add_auth(self, request: AWSRequest) -> None:
        request.context["timestamp"] = self._begin.strftime("%Y%m%dT%H%M%SZ")
        self._modify_request_before_signing(request)  # type: ignore[attr-defined]
        signed = self.signature(self.string_to_sign(request, self.canonical_request(request)), request)
        self._inject_signature_to_request(request, signed)  # type: ignore[attr-defined]


def _credentials() -> Any:
    if settings.S3_ACCESS_KEY_ID:
        return Credentials(settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY)
    found = _session().get_credentials()
    if found is None:
        raise StorageDenied("there are no credentials of the bucket")
    return found.get_frozen_credentials()


@cache
def _session() -> boto3.Session:
    # It renews credentials that end.
    return boto3.Session()


@cache
def _client() -> S3Client:
    # One client per process: making a client is slow, and clients are thread-safe. Making one is not in boto3's default
    # session, and several threads may begin at once.
    return boto3.Session().client(
        "s3",
        endpoint_url=settings.S3_ENDPOINT_URL or None,
        aws_access_key_id=settings.S3_ACCESS_KEY_ID or None,
        aws_secret_access_key=settings.S3_SECRET_ACCESS_KEY or None,
        region_name=settings.S3_REGION,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            # Otherwise every presigned PUT would have to carry a CRC that its client did not ask for.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            connect_timeout=5,
            read_timeout=60,
            # Several segments of one process store and read their thumbnails at once.
            max_pool_connections=64,
            retries={"mode": "standard", "max_attempts": 3},
        ),
    )

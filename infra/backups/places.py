"""Places of files: a folder, or a bucket of any S3 server. Either holds backups; a bucket is their source, too."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

_BLOCK = 1024 * 1024


class PlaceError(Exception):
    """A place cannot be used; the message says why and what to do."""


class Reader(Protocol):
    """What can be read in blocks, such as a file."""

    def read(self, size: int = -1, /) -> bytes: ...


class Hashed:
    """A reader that knows the size and the SHA-256 of what was read from it so far."""

    def __init__(self, inner: Reader) -> None:
        self._inner, self._digest, self.size = inner, hashlib.sha256(), 0

    def read(self, size: int = -1, /) -> bytes:
        block = self._inner.read(size)
        self._digest.update(block)
        self.size += len(block)
        return block

    def drain(self) -> None:
        """Read to the end."""
        while self.read(_BLOCK):
            continue

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


class Place(Protocol):
    """Where files have names with slashes. A name without its file raises FileNotFoundError."""

    def put(self, name: str, content: Reader) -> None: ...

    def open(self, name: str) -> Reader: ...

    def names(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """Yield the names that begin with a prefix, with their sizes in bytes."""

    def delete(self, name: str) -> None: ...


class Folder:
    """A folder of this machine; only its owner can read what is put there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise PlaceError(f"{path} cannot be made: {error.strerror}") from error

    def put(self, name: str, content: Reader) -> None:
        final = self._path / name
        final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        half = final.with_name(f".{final.name}.part")
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            shutil.copyfileobj(content, file, _BLOCK)
            file.flush()
            os.fsync(file.fileno())
        half.replace(final)

    def open(self, name: str) -> IO[bytes]:
        return (self._path / name).open("rb")

    def names(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        for path in sorted((self._path / prefix.rpartition("/")[0]).rglob("*")):
            name = path.relative_to(self._path).as_posix()
            if path.is_file() and name.startswith(prefix):
                yield name, path.stat().st_size

    def delete(self, name: str) -> None:
        path = self._path / name
        path.unlink(missing_ok=True)
        if path.parent != self._path and not any(path.parent.iterdir()):
            path.parent.rmdir()


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a bucket: key, tag of its content, size in bytes."""

    key: str
    etag: str
    size: int


class Bucket:
    """A bucket, or the folder of a bucket whose name is `prefix` (which ends with a slash, or is empty)."""

    def __init__(self, client: Any, bucket: str, prefix: str = "") -> None:
        self._client, self._bucket, self._prefix = client, bucket, prefix

    def put(self, name: str, content: Reader, *, content_type: str = "application/octet-stream") -> None:
        # boto3 reads to the end in parts, and never asks for the size.
        self._client.upload_fileobj(content, self._bucket, self._prefix + name, ExtraArgs={"ContentType": content_type})

    def open(self, name: str) -> Reader:
        reader: Reader = self.get(name)["Body"]
        return reader

    def get(self, name: str) -> Mapping[str, Any]:
        """Return the reply with the object's Body, ETag and ContentType."""
        try:
            reply: Mapping[str, Any] = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                raise FileNotFoundError(name) from error
            raise
        return reply

    def objects(self, prefix: str = "") -> Iterator[StoredObject]:
        """Yield the objects whose names begin with a prefix, in the order of their names."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix
        )
        for page in pages:
            for each in page.get("Contents", []):
                yield StoredObject(each["Key"].removeprefix(self._prefix), each["ETag"].strip('"'), each["Size"])

    def names(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        for each in self.objects(prefix):
            yield each.key, each.size

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def make(self) -> None:
        """Make the bucket unless it is there."""
        try:
            self._client.head_bucket(Bucket=self._bucket)
        except ClientError:
            self._client.create_bucket(Bucket=self._bucket)


def source_bucket(environ: Mapping[str, str]) -> Bucket:
    """Return the bucket of the installation, from the variables S3_…."""
    return Bucket(_client(environ, "S3_ENDPOINT_URL", "S3_"), environ["S3_BUCKET"])


def target_place(target: str, environ: Mapping[str, str]) -> Place:
    """Return the place of backups that a folder or s3://bucket/folder names. Raises PlaceError."""
    if not target.startswith("s3://"):
        return Folder(Path(target))
    parts = urlsplit(target)
    prefix = parts.path.strip("/")
    return Bucket(_client(environ, "AVA_BACKUP_ENDPOINT", "AVA_BACKUP_"), parts.netloc, f"{prefix}/" if prefix else "")


def _client(environ: Mapping[str, str], endpoint: str, keys: str) -> Any:
    """Return a client of S3; without keys, boto3 takes those of the machine."""
    # Checksums by trailers are unknown to other servers than Amazon's.
    config = Config(
        s3={"addressing_style": "path"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=16,
        retries={"max_attempts": 5, "mode": "standard"},
    )
    return boto3.client(
        "s3",
        endpoint_url=environ.get(endpoint) or None,
        aws_access_key_id=environ.get(f"{keys}ACCESS_KEY_ID") or None,
        aws_secret_access_key=environ.get(f"{keys}SECRET_ACCESS_KEY") or None,
        region_name=environ.get("S3_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1",
        config=config,
    )

"""The file of an exported tenant: a ZIP archive.

manifest.json    format, tenant, sums of tables and graph, digests of what both installations must share, objects
rows/TABLE.csv   the tenant's rows of each table, with the names of the columns in the first line
people/TABLE.csv the accounts of its members, unless they were left out
objects/KEY      recordings, thumbnails and evidence frames, by their keys below the tenant's folder, unless left out
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from uuid import UUID

FORMAT = 1
_MANIFEST = "manifest.json"
_BLOCK = 1024**2


class BadArchive(ValueError):
    """The file is no archive of a tenant, or it is damaged."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says about itself.

    sums: number of rows and sum of their hashes, by table and by label of the graph. shared: digests that must be equal
    in the importing installation. objects: size in bytes by key, below the tenant's folder. has_people, has_objects:
    whether the archive holds the accounts and the objects themselves.
    """

    tenant_id: str
    slug: str
    exported_at: str
    sums: dict[str, list[str]]
    shared: dict[str, str]
    objects: dict[str, int]
    has_people: bool
    has_objects: bool
    format: int = FORMAT


class ArchiveWriter:
    """Writes an archive next to its final name, which it gets when it is complete. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = path.with_name(f"{path.name}.partial")
        # The archive holds digests of passwords: nobody but its writer may read it.
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(descriptor, "wb")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)

    def __enter__(self) -> Self:
        return self

    def write(self, name: str, blocks: Iterable[bytes], *, compress: bool = True) -> None:
        """Add a member. compress: False for media, which does not get smaller."""
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        with self._zip.open(entry, "w", force_zip64=True) as member:
            for block in blocks:
                member.write(block)

    def finish(self, manifest: Manifest) -> None:
        """Add the manifest. An archive without a manifest is refused."""
        self.write(_MANIFEST, [json.dumps(asdict(manifest), indent=1).encode()])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._file.close()
        if error is None:
            self._partial.rename(self._path)
        else:
            self._partial.unlink()


class ArchiveReader:
    """Reads an archive. Every method raises BadArchive if the file is damaged. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        with _readable():
            self._zip = zipfile.ZipFile(path)
            self.manifest = _manifest(self._zip)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member."""
        with self.open(name) as member:
            while block := member.read(_BLOCK):
                yield block

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member for reading."""
        with _readable(), self._zip.open(name) as member:
            yield member


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadArchive(f"the archive cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise BadArchive(f"the file is damaged or no archive of a tenant: {error}") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    member = archive.read(_MANIFEST)
    try:
        entries = json.loads(member)
        if (version := entries.get("format")) != FORMAT:
            raise BadArchive(f"the archive has format {version}; this release reads format {FORMAT}")
        manifest = Manifest(**entries)
        UUID(manifest.tenant_id)
    except (AttributeError, TypeError, json.JSONDecodeError) as error:
        raise BadArchive(f"the archive's manifest is not valid: {error}") from error
    return manifest

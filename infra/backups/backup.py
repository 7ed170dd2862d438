"""A backup: what it is made of, and how it is made, checked and deleted.

Each backup is a folder named after its time, with a dump, the list of objects, and a manifest that is written last. The
objects of all backups share the folder `objects`, so a nightly backup copies what is new. An object is named there
after its key and its content, and never changes.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from infra.backups import database
from infra.backups.places import Bucket, Hashed, Place, Reader, StoredObject

FORMAT = 1
MANIFEST, DUMP, OBJECTS = "manifest.json", "database.dump", "objects.jsonl"
_AT_ONCE = 8


class BackupDamaged(Exception):
    """A backup is not what its manifest says; the message names the files."""


@dataclass(frozen=True, slots=True)
class File:
    """Size in bytes and SHA-256 of a file of a backup."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Kept:
    """An object as a backup holds it. etag: the bucket's tag of its content, by which the next backup knows it."""

    key: str
    etag: str
    size: int
    sha256: str
    content_type: str

    @property
    def name(self) -> str:
        digest = hashlib.sha256(f"{self.key}\n{self.etag}\n{self.size}".encode()).hexdigest()
        return f"objects/{digest[:2]}/{digest}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """version: of the code that the database belongs to. secrets: digest of the secrets that its rows need."""

    format: int
    version: str
    made_at: str
    secrets: str
    dump: File
    objects: File
    object_count: int
    object_bytes: int


def make(place: Place, bucket: Bucket, *, version: str, secrets: str) -> str:
    """Make a backup and return its name. The database comes first: rows never name an object that was not there yet."""
    now = datetime.now(UTC)
    name = f"{now:%Y%m%dT%H%M%SZ}"
    with database.dumped() as dump:
        content = Hashed(dump)
        place.put(f"{name}/{DUMP}", content)
    known = _known(place)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        kept = [each for each in pool.map(lambda found: _keep(place, bucket, found, known), bucket.objects()) if each]
    listed = Hashed(io.BytesIO("".join(json.dumps(asdict(each)) + "\n" for each in kept).encode()))
    place.put(f"{name}/{OBJECTS}", listed)
    manifest = Manifest(
        format=FORMAT,
        version=version,
        made_at=now.isoformat(timespec="seconds"),
        secrets=secrets,
        dump=File(content.size, content.sha256),
        objects=File(listed.size, listed.sha256),
        object_count=len(kept),
        object_bytes=sum(each.size for each in kept),
    )
    place.put(f"{name}/{MANIFEST}", io.BytesIO(json.dumps(asdict(manifest), indent=2).encode()))
    return name


def _known(place: Place) -> dict[tuple[str, str, int], Kept]:
    """Return the objects that the last backup has."""
    last = names(place)[-1:]
    return {(each.key, each.etag, each.size): each for name in last for each in kept_objects(place, name)}


def _keep(place: Place, bucket: Bucket, found: StoredObject, known: dict[tuple[str, str, int], Kept]) -> Kept | None:
    """Copy an object unless the last backup has it; None if it was deleted meanwhile."""
    if (kept := known.get((found.key, found.etag, found.size))) is not None:
        return kept
    try:
        reply = bucket.get(found.key)
    except FileNotFoundError:
        return None
    etag, size = str(reply["ETag"]).strip('"'), int(reply["ContentLength"])
    named = Kept(found.key, etag, size, "", str(reply.get("ContentType", "application/octet-stream")))
    content = Hashed(reply["Body"])
    place.put(named.name, content)
    if content.size != size:
        raise BackupDamaged(f"{found.key} ended after {content.size} of {size} bytes")
    return Kept(named.key, etag, size, content.sha256, named.content_type)


def names(place: Place) -> list[str]:
    """Return the names of the complete backups, oldest first."""
    return _complete(name for name, _ in place.names())


def _complete(files: Iterable[str]) -> list[str]:
    return sorted(name.removesuffix(f"/{MANIFEST}") for name in files if name.endswith(f"/{MANIFEST}"))


def manifest(place: Place, name: str) -> Manifest:
    """Return the manifest of a backup. Raises BackupDamaged."""
    try:
        values = json.loads(place.open(f"{name}/{MANIFEST}").read())
        if values["format"] != FORMAT:
            raise BackupDamaged(f"{name} has format {values['format']}, and this version reads format {FORMAT}")
        files = {field: File(**values.pop(field)) for field in ("dump", "objects")}
        return Manifest(**{**values, **files})
    except FileNotFoundError as error:
        raise BackupDamaged(f"there is no backup {name}, or it did not finish") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BackupDamaged(f"the manifest of {name} is not valid") from error


def kept_objects(place: Place, name: str) -> Iterator[Kept]:
    """Yield the objects of a backup."""
    for line in place.open(f"{name}/{OBJECTS}").read().splitlines():
        yield Kept(**json.loads(line))


def verify(place: Place, name: str, *, contents: bool = True) -> Manifest:
    """Check the files of a backup against its manifest. Raises BackupDamaged.

    contents: whether every object is read; otherwise only its size is looked at.
    """
    found = manifest(place, name)
    wrong = [
        f"{name}/{file}"
        for file, wanted in ((DUMP, found.dump), (OBJECTS, found.objects))
        if _read(place, f"{name}/{file}") != (wanted.size, wanted.sha256)
    ]
    if wrong:
        raise BackupDamaged(f"damaged: {', '.join(wrong)}")
    sizes = dict(place.names("objects/"))
    kept = list(kept_objects(place, name))
    wrong = [each.key for each in kept if sizes.get(each.name) != each.size]
    if contents and not wrong:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            read = pool.map(lambda each: _read(place, each.name) == (each.size, each.sha256), kept)
        wrong = [each.key for each, holds in zip(kept, read, strict=True) if not holds]
    if wrong:
        raise BackupDamaged(f"{len(wrong)} damaged or missing objects, such as {', '.join(wrong[:3])}")
    return found


def _read(place: Place, name: str) -> tuple[int, str]:
    try:
        content = Hashed(place.open(name))
    except FileNotFoundError:
        return 0, ""
    content.drain()
    return content.size, content.sha256


def restore(place: Place, bucket: Bucket, name: str) -> Manifest:
    """Replace the database by that of a backup, and store its objects. Other objects of the bucket stay.

    Everything is checked before anything is changed. Raises BackupDamaged.
    """
    found = verify(place, name)
    database.load(place.open(f"{name}/{DUMP}"))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda each: _store(bucket, each, place.open(each.name)), kept_objects(place, name)))
    return found


def _store(bucket: Bucket, kept: Kept, content: Reader) -> None:
    bucket.put(kept.key, content, content_type=kept.content_type)


def prune(place: Place, keep: int) -> list[str]:
    """Delete all but the newest backups, what no backup uses any more, and backups that did not finish.

    keep: number of backups that stay, at least one. Returns the names of the deleted backups.
    """
    files = [name for name, _ in place.names()]
    complete = _complete(files)
    staying, going = complete[-keep:], complete[:-keep]
    used = {each.name for name in staying for each in kept_objects(place, name)}
    # The manifest goes first: without it the rest is no backup.
    for name in sorted(files, key=lambda name: not name.endswith(MANIFEST)):
        folder = name.partition("/")[0]
        if (folder == "objects" and name not in used) or (folder != "objects" and folder not in staying):
            place.delete(name)
    return going

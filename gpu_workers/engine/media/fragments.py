"""The byte ranges of a fragmented MP4, read from its boxes (ISO/IEC 14496-12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


class NoFragments(ValueError):
    """The bytes are no fragmented MP4 with pictures in their first track."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A fragment that begins with a keyframe. start_us: time of its first picture in the video."""

    offset: int
    size: int
    start_us: int


@dataclass(frozen=True, slots=True)
class FragmentedFile:
    """init_bytes: length of the part before the first fragment, which every fragment needs."""

    init_bytes: int
    fragments: tuple[Fragment, ...]


def fragments_of(data: bytes) -> FragmentedFile:
    """Return the fragments of a file whose first track has its pictures. Raises NoFragments."""
    view, scale, begin, init = memoryview(data), 0, 0, 0
    found: list[tuple[int, int]] = []
    ends: list[int] = []
    for kind, start, body, end in _boxes(view, 0, len(view)):
        if kind == b"moov":
            scale, init = _timescale(view, body, end), end
        elif kind == b"moof":
            begin = start
            found.append((start, _decode_time(view, body, end)))
        elif kind == b"mdat" and found:
            ends.append(end)
    if not scale or not init or len(found) != len(ends) or begin < init:
        raise NoFragments("no fragmented MP4")
    return FragmentedFile(
        init,
        tuple(
            Fragment(start, end - start, round(ticks * 1_000_000 / scale))
            for (start, ticks), end in zip(found, ends, strict=True)
        ),
    )


def _boxes(view: memoryview, at: int, end: int) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield type, position, position of the content and end of each box."""
    while at + 8 <= end:
        size, body = int.from_bytes(view[at : at + 4]), at + 8
        kind = bytes(view[at + 4 : at + 8])
        if size == 1:
            size, body = int.from_bytes(view[at + 8 : at + 16]), at + 16
        if size < body - at or at + size > end:
            raise NoFragments("a box that reaches over its end")
        yield kind, at, body, at + size
        at += size


def _first(view: memoryview, body: int, end: int, *path: bytes) -> tuple[int, int]:
    for kind, _, inner, inner_end in _boxes(view, body, end):
        if kind == path[0]:
            return (inner, inner_end) if len(path) == 1 else _first(view, inner, inner_end, *path[1:])
    raise NoFragments(f"no {path[0].decode()}")


def _timescale(view: memoryview, body: int, end: int) -> int:
    at, _ = _first(view, body, end, b"trak", b"mdia", b"mdhd")
    place = at + (20 if view[at] else 12)
    return int.from_bytes(view[place : place + 4])


def _decode_time(view: memoryview, body: int, end: int) -> int:
    at, _ = _first(view, body, end, b"traf", b"tfdt")
    return int.from_bytes(view[at + 4 : at + (12 if view[at] else 8)])

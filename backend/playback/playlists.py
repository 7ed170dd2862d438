"""HLS playlists of a rendition (RFC 8216): byte ranges into its pieces, on the clock of the video.

The n-th millisecond of a playlist is the n-th millisecond of the video: what cannot be played takes its time as a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

LONGEST_GAP_MS = 6_000
"""Length of one entry of a gap: players skip one entry after the other."""
SLACK_US = 50_000
"""Time between two fragments that is no gap: a picture is shown until the next one."""


@dataclass(frozen=True, slots=True)
class PlayedPiece:
    """A piece of a playlist. source: the input that it shows. fragments: (bytes, time of the first picture in µs).

    Without fragments the piece is a gap.
    """

    n: int
    source: UUID | None
    begin_ms: int
    until_ms: int
    init_bytes: int = 0
    fragments: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a playlist. offset: position in the piece; None for a gap."""

    piece: PlayedPiece
    start_us: int
    end_us: int
    size: int = 0
    offset: int | None = None


def entries_of(pieces: Sequence[PlayedPiece]) -> Iterator[Entry]:
    """Yield the fragments of pieces in order of time, with gaps where nothing can be played."""
    at = 0
    for piece in pieces:
        until = piece.until_ms * 1000
        if not piece.fragments:
            yield from _gap(piece, at, until)
            at = max(at, until)
            continue
        if piece.fragments[0][1] - at > SLACK_US:
            yield from _gap(piece, at, piece.fragments[0][1])
            at = piece.fragments[0][1]
        offset = piece.init_bytes
        ends = [start for _, start in piece.fragments[1:]] + [max(until, piece.fragments[-1][1])]
        for (size, _), end in zip(piece.fragments, ends, strict=True):
            yield Entry(piece, at, end, size, offset)
            at, offset = end, offset + size


def _gap(piece: PlayedPiece, start_us: int, end_us: int) -> Iterator[Entry]:
    for at in range(start_us, end_us, LONGEST_GAP_MS * 1000):
        yield Entry(piece, at, min(at + LONGEST_GAP_MS * 1000, end_us))


@dataclass(frozen=True, slots=True)
class Cut:
    """The part of a video that a playlist shows."""

    start_ms: int
    end_ms: int

    def covers(self, entry: Entry) -> bool:
        return entry.start_us < self.end_ms * 1000 and entry.end_us > self.start_ms * 1000


def playlist(
    entries: Sequence[Entry],
    *,
    is_complete: bool,
    token: str,
    recorded_at: Mapping[UUID | None, tuple[int, datetime]],
    start_ms: int = 0,
) -> str:
    """Return the media playlist of entries. is_complete: whether nothing will be appended.

    recorded_at: for each source, a time of the video and the moment that it shows. start_ms: where players begin.
    """
    longest = max((entry.end_us - entry.start_us for entry in entries), default=0)
    lines = [
        "#EXTM3U",
        "#EXT-X-VERSION:8",
        f"#EXT-X-TARGETDURATION:{max(6, -(-longest // 1_000_000))}",
        "#EXT-X-MEDIA-SEQUENCE:0",
        f"#EXT-X-PLAYLIST-TYPE:{'VOD' if is_complete else 'EVENT'}",
        "#EXT-X-INDEPENDENT-SEGMENTS",
    ]
    first = entries[0].start_us if entries else 0
    if start_ms * 1000 > first:
        lines.append(f"#EXT-X-START:TIME-OFFSET={(start_ms * 1000 - first) / 1_000_000:.3f},PRECISE=YES")
    before: Entry | None = None
    for entry in entries:
        lines += _marks(entry, before, token, recorded_at)
        lines.append(f"#EXTINF:{(entry.end_us - entry.start_us) / 1_000_000:.6g},")
        lines += _media(entry, before, token)
        before = entry
    if is_complete:
        lines.append("#EXT-X-ENDLIST")
    return "\n".join(lines) + "\n"


def _marks(
    entry: Entry, before: Entry | None, token: str, recorded_at: Mapping[UUID | None, tuple[int, datetime]]
) -> Iterator[str]:
    source = entry.piece.source
    if before is not None and (before.piece.source != source or (before.offset is None) != (entry.offset is None)):
        yield "#EXT-X-DISCONTINUITY"
    if entry.offset is not None and (before is None or before.piece.n != entry.piece.n or before.offset is None):
        yield f'#EXT-X-MAP:URI="{address(entry.piece.n, token)}",BYTERANGE="{entry.piece.init_bytes}@0"'
    if (before is None or before.piece.source != source) and source in recorded_at:
        at_ms, moment = recorded_at[source]
        shown = moment + timedelta(microseconds=entry.start_us - at_ms * 1000)
        yield f"#EXT-X-PROGRAM-DATE-TIME:{shown.isoformat(timespec='milliseconds')}"


def _media(entry: Entry, before: Entry | None, token: str) -> Iterator[str]:
    if entry.offset is None:
        yield "#EXT-X-GAP"
    else:
        follows = before is not None and before.piece.n == entry.piece.n and before.offset is not None
        yield f"#EXT-X-BYTERANGE:{entry.size}" + ("" if follows else f"@{entry.offset}")
    yield address(entry.piece.n, token)


def address(n: int, token: str) -> str:
    """Return the address of a piece, relative to the playlist."""
    return f"p/{n}.mp4?token={token}"

"""What a scope leaves of things that reach beyond its span: one definition for every store.

Text that was written over more than the scope cannot be cut, so it is left out. Measurements are cut, and counts are
made again over what is left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_workers.engine.ekg import Overview, Span, TrackObservation
from gpu_workers.engine.ports import StoredEntity, StoredObject

ALIASES = 16
"""Maximum number of aliases, as engine.indexing.linking keeps them."""

_UNSTORABLE = re.compile("[\\x00\ud800-\udfff]")


def object_in(scope: Span, whole: StoredObject, tracks: Iterable[TrackObservation]) -> StoredObject | None:
    """Return the object as the scope shows it; None if it is not visible there.

    tracks: all of the object's. They are read only if some of its spans lie outside, to count the entries and exits
    inside.
    """
    spans = tuple(part for span in whole.spans if (part := span.cut_to(scope)) is not None)
    if not spans or spans == whole.spans:
        return whole if spans else None
    inside = [seen for track in tracks if (seen := track_in(scope, track)) is not None]
    entries, exits = sum(track.entered for track in inside), sum(track.left for track in inside)
    return replace(whole, spans=spans, entries=entries, exits=exits)


def track_in(scope: Span, track: TrackObservation) -> TrackObservation | None:
    """Return the part of the track inside scope, with its boxes there; None if there is none.

    The track entered, or left, only if it did so inside.
    """
    span = track.span.cut_to(scope)
    if span is None or span == track.span:
        return None if span is None else track
    return replace(
        track,
        span=span,
        boxes=tuple(box for box in track.boxes if scope.contains(box[0])),
        entered=track.entered and span.start_ms == track.span.start_ms,
        left=track.left and span.end_ms == track.span.end_ms,
    )


def entity_in(whole: StoredEntity, mentions: Sequence[tuple[str, str, str]]) -> StoredEntity:
    """Return an entity that also takes part in events out of scope as the events in scope know it.

    mentions: (name, type, description) by these events, in order of time, at least one. Their first words count.
    """
    names = list(dict.fromkeys(name for name, _, _ in mentions))
    description = next((description for _, _, description in mentions if description), "")
    return replace(
        whole,
        name=names[0],
        type=mentions[0][1],
        description=description,
        aliases=tuple(names[1 : ALIASES + 1]),
        weight=len(mentions),
    )


def overview_in(scope: Span, overview: Overview | None) -> Overview | None:
    """Return the overview if the scope holds all that it covers, from the video's first moment to its until_ms."""
    if overview is None or scope.start_ms > 0 or overview.until_ms > scope.end_ms:
        return None
    return overview


def folded(text: str) -> str:
    """Return text without differences of case, composed (NFC), so that equal words are equal strings."""
    return unicodedata.normalize("NFC", text).casefold()


def searchable(words: Iterable[str]) -> list[str]:
    """Return the words folded, each once, without blank ones and those with a code that no stored text can hold."""
    distinct = dict.fromkeys(map(folded, words))
    return [word for word in distinct if word.strip() and not _UNSTORABLE.search(word)]

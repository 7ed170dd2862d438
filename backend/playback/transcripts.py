"""What was said in a part of a video, as captions."""

from __future__ import annotations

from backend.ekg import queries as index
from backend.ekg.queries import Narrowing
from backend.library.models import Video
from backend.playback.captions import Cue, Line, cues_of, within


def spoken_cues(
    video: Video, *, start_ms: int | None = None, end_ms: int | None = None, track: int | None = None
) -> tuple[list[Cue], str]:
    """Return the captions of a span, counted from its start, and their language if they have one only, else "".

    track: number of the audio track; None for all. Inside the open tenant_scope.
    """
    rows = index.transcript(video, Narrowing(start_ms=start_ms, end_ms=end_ms)).order_by("start_ms", "end_ms")
    if track is not None:
        rows = rows.filter(track=track)
    found = list(rows.values_list("start_ms", "end_ms", "text", "words", "language"))
    lines = [Line(start, end, text, tuple(map(tuple, words))) for start, end, text, words, _ in found]
    languages = {language for *_, language in found}
    cues = sorted(cues_of(lines), key=lambda cue: cue.start_ms)
    return list(within(cues, start_ms, end_ms)), languages.pop() if len(languages) == 1 else ""

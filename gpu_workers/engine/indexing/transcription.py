"""Listen to the audio tracks of a span of a recording, and write down what is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpu_workers.engine.ekg import Span, TranscriptLine, unit
from gpu_workers.engine.indexing.audio import SAMPLE_RATE, read_audio
from gpu_workers.engine.indexing.audio_tracks import AudioTrack
from gpu_workers.engine.indexing.same_sound import is_same_sound
from gpu_workers.engine.indexing.source import Source
from gpu_workers.engine.models.roles import Meter, TextEmbedder, Transcriber

LISTENING_MARGIN_MS = 2_000
"""Time around a span in which it is listened to as well, so that no word is cut at the borders."""
_SAME_MS = 500
"""Maximum distance between the beginnings of a line that two microphones hear."""


def transcribe_span(
    source: Source, span: Span, transcriber: Transcriber, embedder: TextEmbedder, *, meter: Meter, language: str
) -> tuple[TranscriptLine, ...]:
    """Return the speech of all tracks in span, in order of time, embedded.

    A track that sounds like an earlier track is not listened to again, and a line that two tracks have at the same time
    is kept once. language: ISO 639-1 code of the speech, "" to detect it; a track in another language is detected.
    """
    listened = Span(max(0, span.start_ms - LISTENING_MARGIN_MS), span.end_ms + LISTENING_MARGIN_MS)
    sounds: list[NDArray[np.float32]] = []
    spoken: list[TranscriptLine] = []
    for track in _tracks(source, span):
        samples = _sound(source, listened, track.number)
        if not samples.size or any(is_same_sound(samples, other) for other in sounds):
            continue
        sounds.append(samples)
        known = language if track.language in ("", language) else ""
        lines = transcriber.transcribe(samples, offset_ms=listened.start_ms, meter=meter, language=known)
        for line in (_inside(line, span) for line in lines):
            if line is not None and not _is_repeated(line, spoken):
                spoken.append(replace(line, track=track.number))
    if not spoken:
        return ()
    spoken.sort(key=lambda line: (line.span.start_ms, line.track))
    vectors = embedder.embed([line.text for line in spoken], meter=meter)
    return tuple(replace(line, embedding=unit(vector)) for line, vector in zip(spoken, vectors, strict=True))


def _tracks(source: Source, span: Span) -> list[AudioTrack]:
    """Return the tracks to listen to in span: each number once."""
    by_number = {track.number: track for piece, _ in source.within(span) for track in piece.tracks}
    return [by_number[number] for number in sorted(by_number)]


def _sound(source: Source, span: Span, number: int) -> NDArray[np.float32]:
    """Return samples of a track in span over all its pieces: silence for a piece without it, nothing after its end."""
    parts: list[NDArray[np.float32]] = []
    have = 0
    for piece, part in source.within(span):
        if all(track.number != number for track in piece.tracks):
            continue
        samples = read_audio(piece.url, part, track=number, clock=piece.placed_clock)
        at = (part.start_ms - span.start_ms) * SAMPLE_RATE // 1000
        samples = samples[: (part.end_ms - span.start_ms) * SAMPLE_RATE // 1000 - at]
        if samples.size:
            parts += [np.zeros(max(0, at - have), dtype=np.float32), samples]
            have = at + samples.size
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def _is_repeated(line: TranscriptLine, earlier: Iterable[TranscriptLine]) -> bool:
    """Whether another track has the line at the same time, as two microphones in one room do."""
    return any(
        abs(one.span.start_ms - line.span.start_ms) <= _SAME_MS and _letters(one.text) == _letters(line.text)
        for one in earlier
    )


def _letters(text: str) -> Sequence[str]:
    return [letter for letter in text.casefold() if letter.isalnum()]


def _inside(line: TranscriptLine, span: Span) -> TranscriptLine | None:
    """Return the words of line with their middle in span; a line without word times is kept or left out as a whole."""
    words = tuple(word for word in line.words if span.contains((word[0] + word[1]) // 2))
    if not words and (line.words or not span.contains((line.span.start_ms + line.span.end_ms) // 2)):
        return None
    begin, end = (words[0][0], words[-1][1]) if len(words) < len(line.words) else (line.span.start_ms, line.span.end_ms)
    begin = min(max(begin, span.start_ms), span.end_ms - 1)
    text = line.text if len(words) == len(line.words) else " ".join(word for _, _, word in words)
    return replace(line, span=Span(begin, min(max(end, begin + 1), span.end_ms)), text=text, words=words)

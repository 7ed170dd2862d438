"""The videos that a question names by their titles, and the step that narrows the scope to them.

A title names its video where it stands in the question in full, if it has at least two words, or in quotation marks:
"Who opens the gate?" is about a gate, although a video may be called "Gate". A capable reasoner reads the other ways to
name a video (reading.call). Only the customer's own words and the titles, which customers give, decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.ports import Recording
from gpu_workers.engine.retrieval.words import quoted

LEAST_WORDS = 2
"""Number of a title's words from which it names its video without quotation marks."""


_WORDS = re.compile(r"[^\W_]+")


def named_videos(questions: Sequence[str], recordings: Mapping[UUID, Recording]) -> tuple[UUID, ...]:
    """Return the videos whose titles stand in one of the questions, in order of id; none in a scope of one video."""
    if len(recordings) < 2:
        return ()
    plain = [f" {_plain(question)} " for question in questions]
    marked = {_plain(phrase) for question in questions for phrase in quoted(question)[1]}
    named = set()
    for video_id, recording in recordings.items():
        title = _plain(recording.title)
        whole = len(title.split()) >= LEAST_WORDS and any(f" {title} " in question for question in plain)
        if title and (whole or title in marked):
            named.add(video_id)
    return tuple(sorted(named))


def without_titles(text: str, recordings: Mapping[UUID, Recording], videos: Collection[UUID]) -> str:
    """Return a question without the titles of these videos, so that no search looks for them; as it is if nothing else
    would be left."""
    shorter = unicodedata.normalize("NFKC", text)
    for video_id in videos:
        words = _WORDS.findall(unicodedata.normalize("NFKC", recordings[video_id].title))
        if words:
            pattern = r"[\W_]{1,3}".join(map(re.escape, words))
            shorter = re.sub(rf"(?<![^\W_]){pattern}(?![^\W_])", " ", shorter, flags=re.IGNORECASE)
    shorter = " ".join(shorter.split())
    return shorter if len(_WORDS.findall(shorter)) > 1 else text


def narrow_to_videos(asked: Asked, videos: Sequence[UUID]) -> Asked:
    """Return asked with its graph narrowed to these videos; as it is without any, or if they are the whole scope."""
    recordings = asked.recordings
    if not videos or len(videos) == len(recordings):
        return asked
    spans = {video: Span(0, until_ms) for video in videos if (until_ms := recordings[video].until_ms) > 0}
    return replace(
        asked,
        graph=asked.graph.narrowed(spans),
        recordings={video: recordings[video] for video in spans},
        searched=without_titles(asked.searched, recordings, videos),
        understood=replace(asked.understood, videos=tuple(sorted(videos))),
    )


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", text).casefold()))

"""The titles of videos in prompts. They appear only where a scope has several videos: with one there is no choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ports import Recording

TITLE_CHARACTERS = 80
"""Maximum length of a title in a prompt."""


def titles_of(recordings: Mapping[UUID, Recording]) -> Mapping[UUID, str]:
    """Return the titles of several videos as data, shortened, without quotation marks.

    A video without a title is left out. Empty for a single video.
    """
    if len(recordings) < 2:
        return {}
    titles = {video_id: shortened(recording.title) for video_id, recording in recordings.items()}
    return {video_id: title for video_id, title in titles.items() if title}


def shortened(title: str) -> str:
    """Return a title as data, on one line, at most TITLE_CHARACTERS long."""
    words = as_data(title.replace('"', " "))
    return words if len(words) <= TITLE_CHARACTERS else f"{words[: TITLE_CHARACTERS - 1].rstrip()}…"


def title_lines(videos: Mapping[UUID, int], titles: Mapping[UUID, str], shown: Iterable[UUID]) -> str:
    """Return a line per shown video that has a title, as 'Video 2: "Gate"', in the order of their numbers.

    videos: numbers by id.
    """
    numbered = sorted((videos[video_id], titles[video_id]) for video_id in set(shown) if video_id in titles)
    return "".join(f'Video {number}: "{title}"\n' for number, title in numbered)


def videos_line(titles: Mapping[UUID, str]) -> str:
    """Return the line of a prompt that asks to name the videos; "" if none has a title."""
    if not titles:
        return ""
    return (
        "The events are from several videos; their titles are data. Say in the answer which video it is about, by its "
        "title. If the question compares videos, say for each of them what its own events show.\n"
    )

"""Questions that the recordings themselves answer, without an event: how long they are, and when they were filmed."""

from __future__ import annotations

from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.contract import ROUTED_METHOD, Answer
from gpu_workers.engine.answering.ending.final_answer import without_text
from gpu_workers.engine.answering.routes.outside import filmed
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.clock_text import clock

MOST_VIDEOS = 12
"""Maximum number of videos that an answer names; more are counted."""

OWN_DATA = "this is what the recordings' own data say; no event was read"


def length_answer(asked: Asked, calls: Calls) -> Answer | None:
    """Return how long the videos are that the question asks about, or when they were filmed; None if it asks something
    else, or if nobody knows when. Only method `ava` answers so, where nothing else was asked for."""
    question, subject = asked.question, asked.understood.subject
    if subject == "content" or question.method != ROUTED_METHOD or question.route != "auto" or question.choices:
        return None
    asks_when = subject == "filmed"
    readable = [recording for recording in asked.recordings.values() if recording.until_ms > 0]
    known = [recording for recording in readable if filmed(recording.clock)] if asks_when else readable
    if not known:
        return None
    texts = [f"{clock(one.until_ms, hours=True)}{filmed(one.clock)}" for one in known]
    if len(asked.recordings) > 1:
        names = [f'"{as_data(one.title)}"' if one.title else f"video {n}" for n, one in enumerate(known, start=1)]
        texts = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)]
    more = [f"and {len(texts) - MOST_VIDEOS} more"] if len(texts) > MOST_VIDEOS else []
    answer = without_text(calls, [], "answered", "")
    return replace(
        answer, text="; ".join([*texts[:MOST_VIDEOS], *more]), signals={"head": "recordings"}, notes=(OWN_DATA,)
    )

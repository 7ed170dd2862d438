"""Pictures in full in place of thumbnails, as many as the window of the looking model holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import CHECK_TOKENS, LABEL_TOKENS, Calls, needed_checker
from gpu_workers.engine.models.pictures import jpeg_tokens
from gpu_workers.engine.models.roles import FrameEvidence
from gpu_workers.engine.ports import StoredFrame
from gpu_workers.engine.retrieval.frames import evenly

MOST_IN_FULL = 16
"""Maximum number of pictures in full of a frame check: each is read from the video's source."""

LEAST_IN_FULL = 4
"""Minimum number of pictures in full that the window must hold; else more thumbnails show more."""

PROMPT_TOKENS = 1_500
"""Tokens of a check's own words with the question and its choices, an upper estimate."""


def in_full(
    calls: Calls, evidence: Sequence[FrameEvidence], frames: Sequence[StoredFrame]
) -> tuple[FrameEvidence, ...]:
    """Return evidence with pictures in full, where there are some."""
    pictures = calls.closer(frames)
    return tuple(replace(shown, jpeg=picture or shown.jpeg) for shown, picture in zip(evidence, pictures, strict=True))


def closer_look(
    asked: Asked, calls: Calls, evidence: tuple[FrameEvidence, ...], frames: Sequence[StoredFrame]
) -> tuple[FrameEvidence, ...]:
    """Return fewer frames, evenly chosen, in full; evidence as it is for a checker that does not look at pictures, or
    if too few of them fit its window."""
    checker = needed_checker(asked.models)
    if not checker.sees or not frames:
        return evidence
    middle = len(frames) // 2
    (first,) = calls.closer([frames[middle]])
    if first is None:
        return evidence
    room = checker.capabilities.context_tokens - CHECK_TOKENS - PROMPT_TOKENS
    fitting = room // (jpeg_tokens(first, patch=checker.capabilities.picture_patch) + LABEL_TOKENS)
    count = min(MOST_IN_FULL, fitting, checker.max_frames)
    if count < min(LEAST_IN_FULL, len(frames)):
        return evidence
    chosen = evenly(len(frames), count)
    others = [index for index in chosen if index != middle]
    pictures = {middle: first, **dict(zip(others, calls.closer([frames[index] for index in others]), strict=True))}
    return tuple(replace(evidence[index], jpeg=pictures[index] or evidence[index].jpeg) for index in chosen)

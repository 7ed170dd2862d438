"""The rule of VideoAgent with memory (arXiv 2403.11481) for tracks of one object, by CLIP and DINOv2 features of crops.

indexing.objects does not use it. It needs the mean CLIP and DINOv2 vectors of a track's crops, and no detector here
makes them; its constants mean nothing for the colours and classifier features that are compared here, whose thresholds
were measured (docs/lab/quality.md). The rule stands here, pure and tested, for a describer whose appearance vectors are
of those two models, and so that the published scores can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

CLIP_WEIGHT, CLIP_STEEPNESS, CLIP_MIDDLE = 0.15, 20.0, 0.925
DINO_WEIGHT, DINO_STEEPNESS, DINO_MIDDLE = 0.85, 4.1, 0.5
"""Section 3.1: 0.15 * sigmoid(20 (c - 0.925)) + 0.85 * sigmoid(4.1 (d - 0.5))."""

LEAST_WITH_ALL, LEAST_WITH_ONE = 0.5, 0.62
"""Minimum score of a track and every member of a group, and of it and one of them (the authors' code)."""


def same_object_score(clip: float, dino: float, *, raw_dino: bool = False) -> float:
    """Return the score that two tracks are one object, above 0 and below 0.876.

    clip, dino: cosines of their mean CLIP and DINOv2 vectors. raw_dino: take the second as it is, as the authors' code
    does. Equal tracks do not reach 1, so thresholds are of this scale.
    """
    second = dino if raw_dino else _sigmoid(DINO_STEEPNESS * (dino - DINO_MIDDLE))
    return CLIP_WEIGHT * _sigmoid(CLIP_STEEPNESS * (clip - CLIP_MIDDLE)) + DINO_WEIGHT * second


def group_tracks(frames: Sequence[Collection[int]], score: Callable[[int, int], float]) -> list[list[int]]:
    """Group tracks into objects, greedily in the order given; return the groups as lists of indices.

    frames: for each track the times at which it is seen. score: of two tracks, by their indices. A track joins the
    group in which its best score is highest, if it scores LEAST_WITH_ALL with every member and LEAST_WITH_ONE with one,
    and shares a frame with none: what is seen twice in a picture is two things, however similar.
    """
    groups: list[list[int]] = []
    for track, seen in enumerate(frames):
        fitting: list[tuple[float, int]] = []
        for place, group in enumerate(groups):
            scores = [score(member, track) for member in group]
            apart = all(set(seen).isdisjoint(frames[member]) for member in group)
            if apart and min(scores) >= LEAST_WITH_ALL and max(scores) >= LEAST_WITH_ONE:
                fitting.append((-max(scores), place))
        if fitting:
            groups[min(fitting)[1]].append(track)
        else:
            groups.append([track])
    return groups


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))

"""The answering methods that customers can choose, as data: a leaf, which the API imports without their code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_workers.engine.answering.contract import Artifact, Effort

TypicalCalls = Mapping[Effort, tuple[int, int]]
"""Fewest and most model calls of a typical question, by effort. Embeddings and the checks of citations are left out."""


@dataclass(frozen=True, slots=True)
class MethodCard:
    """A method that customers can choose.

    version changes whenever the method may answer differently. description: what it does, in one line for them. needs:
    what it is made for; without some of it it still answers, and Answer.degraded says so.
    """

    name: str
    version: str
    description: str
    needs: frozenset[Artifact]
    typical_calls: TypicalCalls


_CARDS = (
    MethodCard(
        "ava",
        "8",
        "Searches events, entities and frames, walks a tree of searches and weighs the answers drawn in it.",
        frozenset({"events", "frames"}),
        {"low": (1, 2), "medium": (2, 9), "high": (4, 30), "paper": (18, 22)},
    ),
    MethodCard(
        "uniform",
        "3",
        "Looks at frames spread evenly over the video and answers once: a baseline without a search.",
        frozenset({"checker", "frames"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "vector",
        "2",
        "Looks at the frames nearest to the question and answers once: a baseline without a tree.",
        frozenset({"checker", "frames"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "caption_rag",
        "3",
        "Reads the events nearest to the question and answers once: the cheapest way.",
        frozenset({"events"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "dvd_lite",
        "3",
        "Reads what the video is about, searches clips by their text, and looks at frames where that is not enough.",
        frozenset({"checker", "events", "frames", "topics"}),
        {"low": (2, 7), "medium": (2, 14), "high": (2, 21), "paper": (2, 20)},
    ),
    MethodCard(
        "videoagent",
        "3",
        "Glances at a few frames, answers, doubts the answer, and looks for what is missing in between.",
        frozenset({"events", "frames"}),
        {"low": (2, 5), "medium": (2, 8), "high": (4, 19), "paper": (2, 7)},
    ),
    MethodCard(
        "avataar",
        "3",
        "Reads the summary of the whole video, decides what to search, answers from the best frames, and thinks again.",
        frozenset({"checker", "events", "frames", "topics", "transcript"}),
        {"low": (2, 3), "medium": (2, 9), "high": (2, 15), "paper": (2, 15)},
    ),
    MethodCard(
        "avp_lite",
        "3",
        "Plans where to look, looks at frames anywhere in the video, and goes on until what it saw is enough.",
        frozenset({"checker", "events", "frames", "topics"}),
        {"low": (4, 7), "medium": (4, 19), "high": (4, 31), "paper": (3, 18)},
    ),
    MethodCard(
        "videoagent_mem",
        "5",
        "Reads descriptions by time, finds segments, looks at frames, and asks the memory of tracked objects.",
        frozenset({"checker", "events", "frames", "objects", "topics"}),
        {"low": (3, 7), "medium": (3, 14), "high": (3, 20), "paper": (2, 26)},
    ),
    MethodCard(
        "ravu",
        "4",
        "Writes a short program over people, things, places and times, runs it on the index and looks at the result.",
        frozenset({"checker", "events", "frames", "objects"}),
        {"low": (2, 4), "medium": (4, 8), "high": (4, 8), "paper": (3, 8)},
    ),
)

CATALOGUE: Mapping[str, MethodCard] = {card.name: card for card in _CARDS}
"""The methods by name, in the order in which they are offered."""

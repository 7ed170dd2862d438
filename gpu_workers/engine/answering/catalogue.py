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
        "11",
        "Searches events, entities and frames, walks a tree of searches and weighs the answers drawn in it.",
        frozenset({"events", "frames"}),
        {"low": (1, 2), "medium": (2, 9), "high": (4, 30), "paper": (17, 21)},
    ),
    MethodCard(
        "uniform",
        "5",
        "Looks at frames spread evenly over the video and answers once: a baseline without a search.",
        frozenset({"checker", "frames"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "vector",
        "4",
        "Looks at the frames nearest to the question and answers once: a baseline without a tree.",
        frozenset({"checker", "frames"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "caption_rag",
        "5",
        "Reads the events nearest to the question and answers once: the cheapest way.",
        frozenset({"events"}),
        {"low": (1, 1), "medium": (1, 1), "high": (1, 1), "paper": (1, 1)},
    ),
    MethodCard(
        "dvd_lite",
        "6",
        "Reads what the video is about, searches clips by their text, and looks at frames where that is not enough.",
        frozenset({"checker", "events", "frames", "topics"}),
        {"low": (2, 7), "medium": (2, 14), "high": (2, 21), "paper": (2, 20)},
    ),
    MethodCard(
        "videoagent",
        "5",
        "Glances at a few frames, answers, doubts the answer, and looks for what is missing in between.",
        frozenset({"events", "frames"}),
        {"low": (2, 5), "medium": (2, 8), "high": (4, 19), "paper": (2, 7)},
    ),
    MethodCard(
        "avataar",
        "6",
        "Reads the summary of the whole video, decides what to search, answers from the best frames, and thinks again.",
        frozenset({"checker", "events", "frames", "topics", "transcript"}),
        {"low": (2, 3), "medium": (2, 9), "high": (2, 15), "paper": (2, 15)},
    ),
    MethodCard(
        "avp_lite",
        "6",
        "Plans where to look, looks at frames anywhere in the video, and goes on until what it saw is enough.",
        frozenset({"checker", "events", "frames", "topics"}),
        {"low": (4, 7), "medium": (4, 19), "high": (4, 31), "paper": (3, 18)},
    ),
    MethodCard(
        "videoagent_mem",
        "10",
        "Reads descriptions by time, finds segments, looks at frames, and asks the memory of tracked objects.",
        frozenset({"checker", "events", "frames", "objects", "topics"}),
        {"low": (3, 7), "medium": (3, 14), "high": (3, 20), "paper": (2, 26)},
    ),
    MethodCard(
        "ravu",
        "8",
        "Writes a short program over people, things, places and times, runs it on the index and looks at the result.",
        frozenset({"checker", "events", "frames", "objects"}),
        {"low": (2, 4), "medium": (4, 8), "high": (4, 8), "paper": (3, 8)},
    ),
)

CATALOGUE: Mapping[str, MethodCard] = {card.name: card for card in _CARDS}
"""The methods by name, in the order in which they are offered."""


# --- how far each method goes, by effort -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VideoAgentSettings:
    """VideoAgent (arXiv 2403.10517). rounds: T. first_frames: N0. items: maximum moments that a round asks for.
    ends: whether the first frames include the first and the last one. observes: whether captions are made by a look
    with the question. reflects_last: whether the last round is reflected on."""

    rounds: int
    first_frames: int
    items: int
    ends: bool = False
    observes: bool = False
    reflects_last: bool = True


@dataclass(frozen=True, slots=True)
class AvataarSettings:
    """AVATAAR (arXiv 2511.15578). rethinks: x. functions: maximum function calls of one plan; with 0 nothing is planned
    before the retrieval. lines: n of eq. 14."""

    rethinks: int
    functions: int
    lines: int


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """VideoAgent with memory (arXiv 2403.11481). steps: of the loop. inner_steps: of the object agent. window: maximum
    chunks of one caption retrieval. objects: whether the memory of objects is among the tools."""

    steps: int
    inner_steps: int
    window: int
    objects: bool = True


@dataclass(frozen=True, slots=True)
class RavuSettings:
    """RAVU (arXiv 2505.03173). program_steps: maximum steps of a program. reranks: whether a localisation is ranked
    again by the reasoner. frames: maximum frames that the answer looks at. checks_relations: whether the frames of a
    written relation are looked at before it is used."""

    program_steps: int
    reranks: bool
    frames: int
    checks_relations: bool = False


@dataclass(frozen=True, slots=True)
class DvdSettings:
    """Deep Video Discovery (arXiv 2505.18079). steps: of the loop. top_k: events that a search returns unless it asks
    for fewer. frames: maximum frames of one inspection. browses_first: whether the global browse stands before the
    first step, which costs no call."""

    steps: int
    top_k: int
    frames: int
    browses_first: bool = True


@dataclass(frozen=True, slots=True)
class AvpSettings:
    """Active Video Perception (arXiv 2512.05774). rounds: of plan, observe, reflect. looks: maximum looks of a plan."""

    rounds: int
    looks: int


MethodSettings = VideoAgentSettings | AvataarSettings | MemorySettings | RavuSettings | DvdSettings | AvpSettings

VIDEOAGENT: Mapping[Effort, VideoAgentSettings] = {
    "low": VideoAgentSettings(2, 5, 2),
    "medium": VideoAgentSettings(3, 5, 3),
    "high": VideoAgentSettings(4, 8, 4, observes=True),
    "paper": VideoAgentSettings(3, 5, 6, ends=True, reflects_last=False),
}
AVATAAR: Mapping[Effort, AvataarSettings] = {
    "low": AvataarSettings(0, 2, 5),
    "medium": AvataarSettings(1, 3, 5),
    "high": AvataarSettings(3, 3, 8),
    "paper": AvataarSettings(3, 3, 5),
}
VIDEOAGENT_MEM: Mapping[Effort, MemorySettings] = {
    "low": MemorySettings(4, 2, 15),
    "medium": MemorySettings(8, 4, 15),
    "high": MemorySettings(12, 4, 15),
    "paper": MemorySettings(15, 15, 10),
}
RAVU: Mapping[Effort, RavuSettings] = {
    "low": RavuSettings(6, False, 5),
    "medium": RavuSettings(8, True, 8),
    "high": RavuSettings(12, True, 10, checks_relations=True),
    "paper": RavuSettings(12, True, 10),
}
DVD_LITE: Mapping[Effort, DvdSettings] = {
    "low": DvdSettings(4, 8, 16),
    "medium": DvdSettings(8, 16, 50),
    "high": DvdSettings(15, 16, 50),
    "paper": DvdSettings(15, 16, 50, browses_first=False),
}
AVP_LITE: Mapping[Effort, AvpSettings] = {
    "low": AvpSettings(1, 4),
    "medium": AvpSettings(3, 4),
    "high": AvpSettings(5, 4),
    "paper": AvpSettings(3, 4),
}

METHOD_SETTINGS: Mapping[str, Mapping[Effort, MethodSettings]] = {
    "videoagent": VIDEOAGENT,
    "avataar": AVATAAR,
    "videoagent_mem": VIDEOAGENT_MEM,
    "ravu": RAVU,
    "dvd_lite": DVD_LITE,
    "avp_lite": AVP_LITE,
}
"""Settings by method and effort. `ava` and the baselines have theirs in presets."""

"""How far each method goes, by effort: all constants of the methods but `ava` in one table.

Column `paper` follows each method's publication; the others are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_workers.engine.answering.contract import Effort


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
    """AVATAAR (arXiv 2511.15578). rethinks: x. functions: maximum function calls of one plan. lines: n of eq. 14."""

    rethinks: int
    functions: int
    lines: int


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """VideoAgent with memory (arXiv 2403.11481). steps: of the loop. inner_steps: of the object agent. window: maximum
    chunks of one caption retrieval."""

    steps: int
    inner_steps: int
    window: int


@dataclass(frozen=True, slots=True)
class RavuSettings:
    """RAVU (arXiv 2505.03173). program_steps: maximum steps of a program. reranks: whether a localisation is ranked
    again by the reasoner. frames: maximum frames that the answer looks at."""

    program_steps: int
    reranks: bool
    frames: int


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
    "high": RavuSettings(12, True, 10),
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

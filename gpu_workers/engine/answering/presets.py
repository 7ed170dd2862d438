"""Every switch of a question in groups, and what each effort sets them to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from gpu_workers.engine.answering.contract import CheckMode, Effort
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

CheckRule = Literal["off", "on_doubt", "on_disagreement"]
LookMode = Literal["frames", "inspect"]


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How far and how wide the search tree grows (AVA, section 5.2)."""

    max_depth: int
    """Depth of the tree; 1 is the root's own answer."""
    adaptive: bool = True
    """Whether the search stops as soon as the consensus reaches gate."""
    gate: float = 0.6
    """Consistency score S from which an answer is no longer in doubt."""
    level_width: int | None = 2
    """Maximum number of actions per level, most expected new information first; None takes all of them."""
    requery: bool = True
    """Whether RQ is among the actions. F and B cost no model call of their own."""
    requery_tokens: int = 2_000
    """Maximum tokens of the events that RQ reads; each event is cut to its part."""
    requery_per_view: bool = True
    """Whether RQ writes a query for each view, and what is missing; else keywords alone (AVA, section 5.2)."""
    event_cap: int = 16
    """Maximum length of an event list (AVA, section 5.2)."""
    drop_worst: float = 0.2
    """Share of the event list that is dropped before F and B (AVA, section 5.2)."""
    reuse: bool = True
    """Whether equal event sets are answered once."""


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """How a node's answer is sampled and voted on (AVA, section 5.3)."""

    n: int
    """Number of samples per node: n of eq. 4."""
    early_majority: bool = True
    """Whether a node first asks for as many samples as can settle the vote."""
    temperature: float = 0.6
    """Temperature of several samples; the paper samples between 0.5 and 0.7 (section 5.3)."""
    trade_off: float = 0.3
    """Lambda of eq. 6; 0.3 was best (AVA, section 7.4.3)."""
    rescale: bool = True
    """Whether traces score (F1 - baseline) / (1 - baseline), clipped to 0..1, instead of raw F1."""
    abstain: bool = True
    """Whether an answer may be that the events do not suffice."""
    lowest_answer: float = 0.2
    """Score S below which an answer does not outvote abstention."""


@dataclass(frozen=True, slots=True)
class LookSettings:
    """When and how the frames of nodes in doubt are looked at again."""

    check: CheckRule = "on_doubt"
    """When frames are looked at."""
    mode: LookMode = "frames"
    """In one look at the suspects' frames (action CA), or by inspection: planned looks in rounds (action IN)."""
    check_samples: int = 4
    """Number of samples of a frame check or a reflection."""
    inspect_rounds: int = 3
    """Maximum number of rounds of an inspection."""
    inspect_gate: float = 0.5
    """Minimum confidence, in what an inspection saw, to end it with an answer; not calibrated."""


@dataclass(frozen=True, slots=True)
class SupportSettings:
    """How the events' support of each choice counts (choices.support)."""

    weight: float = 0.0
    """Share of the support in a choice's total, next to S; 0 leaves it out."""
    judge_tokens: int = 0
    """Maximum tokens of the events that the reasoner reads to judge each choice; 0 does not ask."""


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """What an answer's prompt holds, and how much may be written."""

    context_tokens: int = 6_000
    """Maximum tokens of the events in one prompt."""
    sa_ratio: float = 0.75
    """Share of the event list that an answer sees, rounded up, never under one event."""
    reasoning_words: int = 120
    """Number of words that a reasoning trace is asked to have at most."""
    answer_tokens: int = 512
    """Maximum tokens of one sample."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How one question is searched and answered. No two groups have a field of one name (see changed())."""

    effort: Effort
    tree: TreeSettings
    samples: SampleSettings
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    look: LookSettings = field(default_factory=LookSettings)
    support: SupportSettings = field(default_factory=SupportSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    in_flight: int = 16
    """Maximum number of model calls at once."""
    verify_citations: bool = False
    """Whether the reasoner is asked about each citation, on top of the text comparison."""
    verify_frames: bool = False
    """Whether the checker looks at the cited frames of each claim, where it sees pictures."""


_GROUPS = ("tree", "samples", "look", "support", "prompt")


def changed(settings: SearchSettings, **values: Any) -> SearchSettings:
    """Return settings with new values of fields, each field in the group that has it.

    Fields of retrieval are not among them. Raises TypeError if there is no such field.
    """
    groups: dict[str, Any] = {}
    for name in _GROUPS:
        group = getattr(settings, name)
        own = {one.name: values.pop(one.name) for one in fields(group) if one.name in values}
        if own:
            groups[name] = replace(group, **own)
    return replace(settings, **groups, **values)


_OURS = SearchSettings("medium", TreeSettings(max_depth=2), SampleSettings(n=4))

_GPU: dict[Effort, SearchSettings] = {
    "low": changed(
        _OURS,
        effort="low",
        n=3,
        max_depth=1,
        check="off",
        context_tokens=3_000,
        retrieval=RetrievalSettings(rewriting=False),
    ),
    "medium": _OURS,
    "high": changed(
        _OURS,
        effort="high",
        n=8,
        max_depth=3,
        level_width=6,
        context_tokens=12_000,
        verify_citations=True,
        verify_frames=True,
    ),
    "paper": SearchSettings(
        "paper",
        TreeSettings(max_depth=3, adaptive=False, level_width=None, requery_per_view=False, reuse=False),
        SampleSettings(n=8, early_majority=False, rescale=False, abstain=False),
        RetrievalSettings(events=5, graph_events=0, transcript=0, context=0.0, fusion="borda", weights={}),
        LookSettings(check="on_disagreement"),
        prompt=PromptSettings(context_tokens=24_000, sa_ratio=1.0),
        verify_frames=True,
    ),
}

_EMBEDDED_LIMITS: Mapping[str, Any] = {
    "context_tokens": 1_000,
    "requery_tokens": 600,
    "reasoning_words": 40,
    "answer_tokens": 224,
    "in_flight": 2,
    "weight": 0.9,
    "judge_tokens": 500,
}
"""Limits for a 1.5B model on two cores, which reads 60 to 90 and writes 15 to 30 tokens a second. It reads long lists
so badly that the events' own support of a choice counts more than its vote (docs/evaluation.md)."""


def settings_for(effort: Effort, *, models_profile: str) -> SearchSettings:
    """The settings of an effort on a model profile ("embedded" or a GPU one).

    On the embedded profile contexts and traces are short. There medium asks the reasoner one prompt per question, and
    a second only if its samples disagree; it neither queries again nor checks frames, which high and paper do.
    Effort `paper` keeps the paper's tree, only with shorter texts.
    """
    settings = _GPU[effort]
    if models_profile != "embedded":
        return settings
    settings = changed(settings, **_EMBEDDED_LIMITS)
    if effort == "paper":
        settings = changed(settings, weight=0.0)
    if effort == "low":
        return changed(settings, n=1, context_tokens=700, judge_tokens=0)
    if effort == "medium":
        return changed(
            settings,
            n=3,
            gate=0.5,
            requery=False,
            level_width=1,
            retrieval=replace(settings.retrieval, rewriting=False),
            # Reading out what was measured on 24 frames takes the small model longer than the answer it should help.
            check="off",
        )
    return changed(settings, check_samples=1)


def checking(settings: SearchSettings, mode: CheckMode) -> SearchSettings:
    """Return settings as a question asks to be checked. A way of looking that is asked for by name is also used by an
    effort that would not look at all."""
    if mode == "auto":
        return settings
    if mode == "off":
        return changed(settings, check="off")
    rule = "on_doubt" if settings.look.check == "off" else settings.look.check
    return replace(settings, look=replace(settings.look, mode=mode, check=rule))

"""Every setting of a question in groups, and the values that each effort gives them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from gpu_workers.engine.answering.contract import CheckMode, Effort
from gpu_workers.engine.models.calibration import Calibration
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

CheckRule = Literal["off", "on_doubt", "on_disagreement"]
LookMode = Literal["frames", "inspect"]


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How far and how wide the search tree grows (AVA, section 5.2)."""

    max_depth: int
    """Maximum depth of the tree; 1 is the root's own answer."""
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
    """Whether a sample may abstain because the events do not suffice."""
    lowest_answer: float = 0.2
    """Score S below which an answer does not outvote abstention."""


@dataclass(frozen=True, slots=True)
class LookSettings:
    """When and how the frames of nodes in doubt are looked at again."""

    check: CheckRule = "on_doubt"
    """Rule for when frames are looked at."""
    mode: LookMode = "frames"
    """Way of looking: once at the suspects' frames (action CA), or in planned rounds, by inspection (action IN)."""
    check_samples: int = 4
    """Number of samples of a frame check or a reflection."""
    inspect_rounds: int = 3
    """Maximum number of rounds of an inspection."""
    inspect_gate: float = 0.5
    """Minimum confidence of an inspection's findings to end it with an answer; not calibrated."""


@dataclass(frozen=True, slots=True)
class SupportSettings:
    """Weight of the events' support of each choice (choices.support)."""

    weight: float = 0.0
    """Share of the support in a choice's total, with S for the rest; 0 leaves it out."""
    judge_tokens: int = 0
    """Maximum tokens of the events that the reasoner reads to judge each choice; with 0 it is not asked."""


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """Contents of an answer's prompt, and maximum length of the answer."""

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
        group_values = {member.name: values.pop(member.name) for member in fields(group) if member.name in values}
        if group_values:
            groups[name] = replace(group, **group_values)
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


def settings_for(effort: Effort, calibration: Calibration) -> SearchSettings:
    """Return the settings of an effort with models of this calibration.

    Support of choices counts where its weights were fitted, except in effort `paper`. A reasoner with limits gets short
    contexts and traces. Medium then asks it one prompt per question, and a second only if its samples disagree; it
    neither queries again nor checks frames, which high and paper do. Effort `paper` keeps the paper's tree, only with
    shorter texts.
    """
    settings = _GPU[effort]
    if (support := calibration.support) is not None:
        settings = changed(
            settings,
            weight=0.0 if effort == "paper" else support.share.value,
            judge_tokens=0 if effort == "low" else support.judge_tokens.value,
        )
    limits = calibration.limits.value
    if limits is None:
        return settings
    settings = changed(
        settings,
        context_tokens=limits.context_tokens,
        requery_tokens=limits.requery_tokens,
        reasoning_words=limits.reasoning_words,
        answer_tokens=limits.answer_tokens,
        in_flight=limits.in_flight,
    )
    if effort == "low":
        return changed(settings, n=1, context_tokens=limits.low_context_tokens)
    if effort == "medium":
        return changed(
            settings,
            n=3,
            gate=0.5,
            requery=False,
            level_width=1,
            retrieval=replace(settings.retrieval, rewriting=False),
            # Reading the measurements of 24 frames takes the small model longer than the answer itself.
            check="off",
        )
    return changed(settings, check_samples=1)


def checking(settings: SearchSettings, mode: CheckMode) -> SearchSettings:
    """Return settings with the check that a question asks for. A way of looking that the question names is also used by
    an effort that would not look at all."""
    if mode == "auto":
        return settings
    if mode == "off":
        return changed(settings, check="off")
    rule = "on_doubt" if settings.look.check == "off" else settings.look.check
    return replace(settings, look=replace(settings.look, mode=mode, check=rule))

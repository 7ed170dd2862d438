"""What an effort buys: every switch of a question in one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from gpu_workers.engine.answering.contract import CheckMode, Effort
from gpu_workers.engine.models.calibration import Calibration
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

CheckRule = Literal["off", "on_doubt", "on_disagreement"]
Look = Literal["frames", "inspect"]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How one question is searched and answered.

    samples: n of eq. 4. early_majority: first ask for as many samples as can settle the vote.
    max_depth: of the tree; 1 is the root's own answer. adaptive: stop as soon as the consensus reaches gate.
    requery: whether RQ is among the actions; F and B cost no model call of their own. requery_tokens: of the events
    that RQ reads, each of them cut to its part. requery_per_view: RQ writes a query for each view, and what is missing;
    else keywords alone (AVA, section 5.2).
    level_width: actions per level, most expected new information first; None takes all of them.
    event_cap: longest event list (AVA, section 5.2). drop_worst: share dropped before F and B.
    sa_ratio: share of the list an answer sees, rounded up, never under one event.
    reuse: answer equal event sets once. lowest_answer: a node under it does not outvote abstention.
    context_tokens: of the events in one prompt. check: when frames are looked at; look: in one look at the suspects'
    frames (action CA), or by inspection (IN): planned looks in at most inspect_rounds rounds, which end when what was
    seen is sufficient with at least inspect_gate of confidence.
    rescale: scores traces by (F1 - baseline) / (1 - baseline), clipped to 0..1, instead of raw F1.
    support_weight: share of the events' support of a choice beside S (choice_support); 0 leaves it out. judge_tokens:
    of the events that the reasoner reads to say of each choice whether it is right; 0 does not ask.
    verify_citations: ask the reasoner about each citation, on top of the text comparison.
    verify_frames: let the checker look at the cited frames of each claim, where it sees pictures.
    """

    effort: Effort
    samples: int
    max_depth: int
    retrieval: RetrievalSettings
    early_majority: bool = True
    adaptive: bool = True
    gate: float = 0.6
    requery: bool = True
    requery_tokens: int = 2_000
    requery_per_view: bool = True
    level_width: int | None = 2
    event_cap: int = 16
    drop_worst: float = 0.2
    sa_ratio: float = 0.75
    reuse: bool = True
    abstain: bool = True
    lowest_answer: float = 0.2
    check: CheckRule = "on_doubt"
    look: Look = "frames"
    inspect_rounds: int = 3
    inspect_gate: float = 0.5
    check_samples: int = 4
    rescale: bool = True
    trade_off: float = 0.3
    """Lambda of eq. 6; 0.3 was best (AVA, section 7.4.3)."""
    temperature: float = 0.6
    """The paper samples between 0.5 and 0.7 (section 5.3)."""
    context_tokens: int = 6_000
    reasoning_words: int = 120
    answer_tokens: int = 512
    in_flight: int = 16
    support_weight: float = 0.0
    judge_tokens: int = 0
    verify_citations: bool = False
    verify_frames: bool = False


_OURS = SearchSettings("medium", samples=4, max_depth=2, retrieval=RetrievalSettings())

_GPU: dict[Effort, SearchSettings] = {
    "low": replace(
        _OURS,
        effort="low",
        samples=3,
        max_depth=1,
        check="off",
        context_tokens=3_000,
        retrieval=RetrievalSettings(rewriting=False),
    ),
    "medium": _OURS,
    "high": replace(
        _OURS,
        effort="high",
        samples=8,
        max_depth=3,
        level_width=6,
        context_tokens=12_000,
        verify_citations=True,
        verify_frames=True,
    ),
    "paper": replace(
        _OURS,
        effort="paper",
        samples=8,
        max_depth=3,
        early_majority=False,
        adaptive=False,
        level_width=None,
        sa_ratio=1.0,
        reuse=False,
        abstain=False,
        check="on_disagreement",
        verify_frames=True,
        rescale=False,
        context_tokens=24_000,
        requery_per_view=False,
        retrieval=RetrievalSettings(events=5, graph_events=0, transcript=0, context=0.0, fusion="borda", weights={}),
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
        settings = replace(
            settings,
            support_weight=0.0 if effort == "paper" else support.share.value,
            judge_tokens=0 if effort == "low" else support.judge_tokens.value,
        )
    limits = calibration.limits.value
    if limits is None:
        return settings
    settings = replace(
        settings,
        context_tokens=limits.context_tokens,
        requery_tokens=limits.requery_tokens,
        reasoning_words=limits.reasoning_words,
        answer_tokens=limits.answer_tokens,
        in_flight=limits.in_flight,
    )
    if effort == "low":
        return replace(settings, samples=1, context_tokens=limits.low_context_tokens)
    if effort == "medium":
        return replace(
            settings,
            samples=3,
            gate=0.5,
            requery=False,
            level_width=1,
            retrieval=replace(settings.retrieval, rewriting=False),
            # Reading out what was measured on 24 frames takes the small model longer than the answer it should help.
            check="off",
        )
    return replace(settings, check_samples=1)


def checking(settings: SearchSettings, mode: CheckMode) -> SearchSettings:
    """settings as a question asks to be checked. A way of looking, asked for by name, is also used by an effort that
    would not look at all."""
    if mode == "auto":
        return settings
    if mode == "off":
        return replace(settings, check="off")
    return replace(settings, look=mode, check="on_doubt" if settings.check == "off" else settings.check)

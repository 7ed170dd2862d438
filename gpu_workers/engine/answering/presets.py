"""Every setting of a question in groups, and the values that each effort gives them.

What an effort does with a question follows from what the models can do: the reasoner's window and what its server
returns, whether it was measured to be small, and whether a model looks at pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS, MethodSettings
from gpu_workers.engine.answering.contract import CheckMode, Effort
from gpu_workers.engine.models.calibration import Calibration
from gpu_workers.engine.models.roles import AnswerModels, ChatCapabilities
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

CheckRule = Literal["off", "on_doubt", "on_disagreement"]
LookMode = Literal["frames", "inspect"]
Own = TypeVar("Own", bound=MethodSettings)

Traces = Literal["f1", "both_ways"]
"""How two traces are compared: by F1 (AVA, eq. 5), or by the mean of precision and recall. The authors' code takes the
precision of each pair in both orders, which is the same mean (AVA/operate.py, calculate_sa_score)."""


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
    """Share of the event list that is dropped before F and B, as in the authors' code (AVA/tree_search.py). The paper
    drops events only where the list is longer than event_cap."""
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
    """Lambda of eq. 6; 0.3 was best with DeBERTa (AVA, section 7.4.3). Efforts other than `paper` take what was
    measured for the similarity model (Calibration.trade_off)."""
    rescale: bool = True
    """Whether traces score (F1 - baseline) / (1 - baseline), clipped to 0..1, instead of raw F1."""
    traces: Traces = "f1"
    """How two traces are compared (eq. 5)."""
    compatible: bool = True
    """Whether open answers that merely do not contradict each other may share a vote, which then counts less."""
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
    full_pictures: int = 0
    """Maximum number of pictures in full that a frame check looks at, as far as the checker's window takes them; with 0
    it looks at thumbnails."""


@dataclass(frozen=True, slots=True)
class SupportSettings:
    """Weight of the events' support of each choice (choices.support)."""

    weight: float = 0.0
    """Share of the support in a choice's total, with S for the rest; 0 leaves it out."""
    judge_tokens: int = 0
    """Maximum tokens of the events that the reasoner reads to judge each choice; with 0 it is not asked."""
    judge_events: int = 8
    """Number of these events (or all, if there are fewer) where whole_events do not fit: long events are cut then, each
    to its share of the tokens that an answer may read."""
    whole_events: int = 4
    """Minimum number of events that are judged by in full. The odds were measured over captions, of which 4 to 25
    fit."""
    replaces_search: bool = True
    """Whether a choice whose lead no vote can change is given without a search, and judged choices without votes."""


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """Contents of an answer's prompt, and maximum length of the answer."""

    context_tokens: int = 6_000
    """Maximum tokens of the events in one prompt."""
    least_events: int = 8
    """Minimum number of the events in one prompt, if there are as many: where fewer fit, each is cut to its share."""
    sa_ratio: float = 0.75
    """Share of the event list that an answer sees, rounded up, never under one event."""
    reasoning_words: int = 120
    """Number of words that a reasoning trace is asked to have at most."""
    answer_tokens: int = 512
    """Maximum tokens of one sample."""
    compose_tokens: int = 0
    """Maximum tokens of a composed answer; with 0 every answer is the sentence that the vote decided on."""
    revise: bool = True
    """Whether statements of an open answer that the evidence contradicts are corrected once, else removed."""


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
    citations: int = 5
    """Maximum number of events that an answer cites."""
    verify_citations: bool = False
    """Whether the reasoner judges in one call which statements their citations support or contradict, where no entailer
    is served. Without it words and cosine find support, and nothing is contradicted."""
    verify_frames: bool = False
    """Whether the checker looks at the cited frames of each claim, where it sees pictures."""
    entailment: bool = True
    """Whether an entailer, if one is served, decides which open answers are one and which passages support a claim."""
    own: MethodSettings | None = None
    """Settings of the question's method in place of those of the effort; None for the effort's."""


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


_OURS = SearchSettings(
    "medium",
    TreeSettings(max_depth=2),
    SampleSettings(n=4),
    prompt=PromptSettings(compose_tokens=1_000),
    verify_citations=True,
)

_PAPER = SearchSettings(
    "paper",
    TreeSettings(max_depth=3, adaptive=False, level_width=None, requery_per_view=False, drop_worst=0.0, reuse=False),
    SampleSettings(n=8, early_majority=False, rescale=False, compatible=False, abstain=False),
    RetrievalSettings(
        events=4, per_view=4, graph_events=0, transcript=0, context=0.0, fusion="borda", weights={}, rewriting=False,
        words=0, repeats=True,
    ),
    LookSettings(check="on_disagreement", check_samples=8, full_pictures=256),
    prompt=PromptSettings(context_tokens=24_000, least_events=0, sa_ratio=1.0, revise=False),
    verify_frames=True,
    entailment=False,
)  # fmt: skip
"""What the AVA paper says. docs/methods.md names the section of each number."""

_AUTHORS = replace(
    changed(
        _PAPER,
        drop_worst=0.2,
        requery_per_view=True,
        temperature=0.5,
        traces="both_ways",
        check_samples=4,
        sa_ratio=0.75,
    ),
    retrieval=replace(_PAPER.retrieval, events=5, per_view=0, rewriting=True),
)
"""What the authors' published code does (github.com/I-ESC/Project-Ava at 4a58382) where it differs from the paper.
docs/methods.md names the file of each number."""

_PRESETS: dict[Effort, SearchSettings] = {
    "low": changed(
        _OURS,
        effort="low",
        n=3,
        max_depth=1,
        check="off",
        context_tokens=3_000,
        compose_tokens=0,
        retrieval=RetrievalSettings(rewriting=False),
        verify_citations=False,
    ),
    "medium": _OURS,
    "high": changed(
        _OURS,
        effort="high",
        n=8,
        max_depth=3,
        level_width=6,
        context_tokens=12_000,
        verify_frames=True,
        full_pictures=16,
    ),
    "paper": _PAPER,
}


_WINDOW_SHARES: dict[Effort, float] = {"low": 0.125, "medium": 0.5, "high": 0.5}
"""Share of the reasoner's window that the events of one prompt may take, if this is more than the preset's tokens. The
number of events is bounded, so a long window makes room for long events. Effort `paper` keeps its own number."""

MOST_CONTEXT = 24_000
"""Maximum tokens of events by a share of the window, since all of them are paid for: as many as effort `paper` has."""

RERANKED = 50
"""Number of the best events that a reranker reads."""

TYPICAL = ChatCapabilities(context_tokens=32_768)
"""A reasoner whose server does what vLLM does."""


def settings_with(effort: Effort, models: AnswerModels) -> SearchSettings:
    """Return the settings of an effort with these models. A reranker gets as many events as it can put in order, except
    in effort `paper`."""
    settings = settings_for(effort, models.calibration, models.reasoner.capabilities, eyes=models.eyes)
    if models.reranker is None or effort == "paper":
        return settings
    return replace(settings, retrieval=replace(settings.retrieval, events=RERANKED, rerank=RERANKED))


def settings_of_authors(models: AnswerModels) -> SearchSettings:
    """Return the settings of the authors' published code, for evaluation: no effort of a question gives them."""
    return _with_models(_AUTHORS, models.calibration, models.reasoner.capabilities, eyes=models.eyes)


def settings_for(
    effort: Effort, calibration: Calibration, capabilities: ChatCapabilities = TYPICAL, *, eyes: bool = True
) -> SearchSettings:
    """Return the settings of an effort.

    capabilities: the reasoner's. eyes: whether a model looks at pictures.

    A reasoner that was measured to be small (calibration.limits) gets short contexts and traces. Medium then asks it
    one prompt per question, and a second only if its samples disagree; it does not query again, and it checks frames
    only with eyes. It verifies no citations. Its choices are judged by its odds and by their support, where weights
    were fitted to it; that never replaces the tree of efforts `high` and `paper`. Any other reasoner gets the whole
    method, with events up to a share of its window. Effort `paper` keeps the paper's tree with any reasoner, only with
    shorter texts for a small one.
    """
    settings = _PRESETS[effort]
    if effort != "paper":
        settings = changed(settings, trade_off=calibration.trade_off.value)
    return _with_models(settings, calibration, capabilities, eyes=eyes)


def _with_models(
    settings: SearchSettings, calibration: Calibration, capabilities: ChatCapabilities, *, eyes: bool
) -> SearchSettings:
    effort, limits = settings.effort, calibration.limits.value
    if limits is None:
        return _of_a_strong_reasoner(settings, capabilities)
    if (support := calibration.support) is not None:
        settings = changed(
            settings,
            weight=0.0 if effort == "paper" else support.share.value,
            judge_tokens=support.judge_tokens.value if effort != "low" and capabilities.log_probabilities else 0,
            replaces_search=effort in ("low", "medium"),
        )
    settings = changed(
        settings,
        context_tokens=limits.context_tokens,
        least_events=0,
        requery_tokens=limits.requery_tokens,
        reasoning_words=limits.reasoning_words,
        answer_tokens=limits.answer_tokens,
        compose_tokens=min(settings.prompt.compose_tokens, 2 * limits.answer_tokens),
        in_flight=limits.in_flight,
        # Its verdicts on a list of statements are hardly better than chance.
        verify_citations=False,
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
            check="on_doubt" if eyes else "off",
        )
    return settings if effort == "paper" else changed(settings, check_samples=1)


def _of_a_strong_reasoner(settings: SearchSettings, capabilities: ChatCapabilities) -> SearchSettings:
    if settings.effort == "paper":
        return settings
    share = min(MOST_CONTEXT, int(_WINDOW_SHARES[settings.effort] * capabilities.context_tokens))
    settings = changed(settings, context_tokens=max(settings.prompt.context_tokens, share))
    if settings.effort == "medium" and capabilities.samples:
        # One request has room for all samples: a second one for the last sample would double the wait in doubt.
        settings = changed(settings, early_majority=False)
    return settings


def checking(settings: SearchSettings, mode: CheckMode) -> SearchSettings:
    """Return settings with the check that a question asks for. A way of looking that the question names is also used by
    an effort that would not look at all."""
    if mode == "auto":
        return settings
    if mode == "off":
        return changed(settings, check="off")
    rule = "on_doubt" if settings.look.check == "off" else settings.look.check
    return replace(settings, look=replace(settings.look, mode=mode, check=rule))


def settings_of_answer(settings: SearchSettings, method: str) -> dict[str, Any]:
    """Return the settings that an answer was made with, JSON-serialisable: those of the search, and under "method" the
    method's own, if it has some."""
    stored = asdict(replace(settings, own=None)) | {"retrieval": asdict(settings.retrieval)}
    stored["retrieval"]["weights"] = dict(settings.retrieval.weights)
    del stored["own"]
    presets: Mapping[Any, MethodSettings] = METHOD_SETTINGS.get(method, {})
    return stored | ({"method": asdict(own_settings(settings, presets))} if presets else {})


def own_settings(settings: SearchSettings, presets: Mapping[Effort, Own]) -> Own:
    """Return the settings of a method: those of the question if they are of this method, else the effort's."""
    preset = presets[settings.effort]
    return settings.own if isinstance(settings.own, type(preset)) else preset

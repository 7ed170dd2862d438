"""Everything that was fitted to a model: the numbers, the data behind each and the command that fits or checks it.

The tables are keyed by the exact names that the model bindings give (models.bindings). A model without an entry gets
initial values: no limits, choices decided by votes alone, and thresholds that nobody measured for it.
`Calibration.unmeasured` lists these values, and every answer carries the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Generic, TypeVar

EMBEDDED_REASONER = "qwen2.5-coder-1.5b"
"""Name under which the local stack serves its default reasoner (Q4_K_M weights, llama.cpp)."""

SMALL_REASONERS = ("qwen2.5-coder-0.5b", "smollm2")
"""Names of the other reasoners that the local stack can serve, on the same two cores."""

EMBEDDED_TEXT_EMBEDDER = "all-MiniLM-L6-v2"
EMBEDDED_SIMILARITY = "bertscore-minilm-6"
SERVED_SIMILARITY = "bertscore-sentence-transformers/all-MiniLM-L6-v2"
"""The same weights behind a server of token embeddings: their last layer is layer 6."""

DEBERTA_SIMILARITY = "bertscore-microsoft/deberta-xlarge-mnli-40"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fit(Generic[T]):
    """A value and its source.

    data: what the value was fitted to. command: what fits or checks it again, from the repository root. Both are ""
    for an initial value, which nobody measured.
    """

    value: T
    data: str = ""
    command: str = ""

    @property
    def measured(self) -> bool:
        return bool(self.data and self.command)


@dataclass(frozen=True, slots=True)
class ReasonerLimits:
    """Upper limits for a slow and small reasoner; the fields are those of answering.presets.SearchSettings.

    low_context_tokens: context_tokens of effort `low`.
    """

    context_tokens: int
    low_context_tokens: int
    requery_tokens: int
    reasoning_words: int
    answer_tokens: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """Weight of each part of a choice's support in the softmax over choices (answering.choices.support)."""

    similarity: float
    words: float
    terms: float
    odds: float


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of a logistic regression of right answers on an answer's signals (answering.confidence.Signals)."""

    bias: float
    score: float = 0.0
    margin: float = 0.0
    similarity: float = 0.0
    support: float = 0.0
    supported: float = 0.0
    contradicted: float = 0.0

    def weights(self) -> dict[str, float]:
        """Return the coefficients by the names of the signals."""
        return {name: value for name, value in asdict(self).items() if name != "bias"}


@dataclass(frozen=True, slots=True)
class ChoiceSupport:
    """How far the events' support of a choice may be trusted, for one reasoner with one text embedder.

    brief_weights: of choices that are compared together with their question. share: weight of a choice's share of the
    support, 0 to 1; its votes have the rest. judge_tokens: tokens of events that the reasoner reads to judge
    a choice. temperature: divides the reasoner's log-odds, which are larger in larger models; the weights belong to
    odds at this temperature. confidence: of an answer that has support."""

    weights: Fit[SupportWeights]
    brief_weights: Fit[SupportWeights]
    share: Fit[float]
    judge_tokens: Fit[int]
    temperature: Fit[float]
    confidence: Fit[Coefficients]


@dataclass(frozen=True, slots=True)
class SimilarityThresholds:
    """Thresholds on rescaled BERTScore F1 of one similarity model.

    merge: minimum score of any two chunks of an event. same_meaning: minimum score of two open answers that say the
    same. compatible_meaning: the same for broad answers, which may describe different parts of one thing.
    """

    merge: Fit[float]
    same_meaning: Fit[float]
    compatible_meaning: Fit[float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted numbers of the models that one binding holds.

    reasoner, similarity, text_embedder: the names of these models; reasoner is "" for index models. same_sense: minimum
    cosine of a claim and a passage at which the passage supports the claim. limits: None for a reasoner that
    reads the contexts of every effort in full. trade_off: lambda of AVA's eq. 6 for answers that this similarity
    compares. support: None if the votes alone decide about choices. confidences: the coefficients of answers that were
    not drawn by support, by the head that drew them (Answer.signals).
    """

    reasoner: str
    similarity: str
    text_embedder: str
    thresholds: SimilarityThresholds
    same_sense: Fit[float]
    limits: Fit[ReasonerLimits | None]
    trade_off: Fit[float]
    support: ChoiceSupport | None
    confidences: Mapping[str, Fit[Coefficients]] = field(default_factory=dict)

    def confidence_of(self, head: str) -> Fit[Coefficients] | None:
        """Return the measured coefficients of answers of a head; None if nothing was measured."""
        by_support = self.support.confidence if self.support is not None and head == "support" else None
        fit = by_support or self.confidences.get(head)
        return fit if fit is not None and fit.measured else None

    @property
    def small(self) -> bool:
        """Whether the reasoner is a slow and small one: it gets short contexts, and is asked for less."""
        return self.limits.value is not None

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Return, in words, the values under an answer that were not fitted to these models; empty if all were."""
        lines = []
        if not self.limits.measured:
            lines.append(f"limits of reasoner {self.reasoner}")
        if self.support is None:
            lines.append(f"support of choices by {self.reasoner} with {self.text_embedder}: votes decide")
        if not (self.thresholds.same_meaning.measured and self.thresholds.compatible_meaning.measured):
            lines.append(f"same meaning by {self.similarity}")
        if not self.trade_off.measured:
            lines.append(f"trade-off of agreement and thought by {self.similarity}")
        if not self.same_sense.measured:
            lines.append(f"same sense by {self.text_embedder}")
        return tuple(lines)


# --- measured ------------------------------------------------------------------------------------------------------

_MEANING_PAIRS = "pairs of answers in tests/engine/answering/test_same_meaning.py"
_MEANING_CHECK = "python -m pytest tests/engine/answering/test_same_meaning.py"

_MINILM = SimilarityThresholds(
    # 92 % of 53 adjacent pairs of one video score above it, and 13 % of 1,653 pairs of two videos; most of those
    # are the same sentence that nothing was detected.
    merge=Fit(
        0.65,
        "the observer's descriptions of nine short videos",
        "python -m bench.merge_threshold VIDEO VIDEO ...",
    ),
    # Answers that differ score up to 0.75 and paraphrases 0.43 to 0.88. Two answers that are wrongly joined make an
    # agreement that nobody gave; two that are wrongly kept apart only cost a vote.
    same_meaning=Fit(0.76, _MEANING_PAIRS, _MEANING_CHECK),
    # Pairs of broad answers about one scene score 0.45 to 0.68, about two scenes up to 0.47. Short answers of this
    # similarity are often rivals (a cat, a dog: 0.71).
    compatible_meaning=Fit(0.55, _MEANING_PAIRS, _MEANING_CHECK),
)

SIMILARITIES: Mapping[str, SimilarityThresholds] = {EMBEDDED_SIMILARITY: _MINILM, SERVED_SIMILARITY: _MINILM}
"""Thresholds by the similarity's name."""

# Every lambda from 0 to 1 gives the same 24 answers, so that the paper's value stays.
_MINILM_TRADE_OFF = Fit(
    0.3,
    "EgoSchema, development half, the first 24 questions of seed 0 by arm ava_no_support",
    "python -m bench.trade_off REPORT.json",
)

TRADE_OFFS: Mapping[str, Fit[float]] = {
    DEBERTA_SIMILARITY: Fit(
        0.3,
        "the subset of LVBench of AVA, section 7.4.3, as its authors publish it",
        "python -m bench.trade_off TRACES.ndjson",
    ),
    EMBEDDED_SIMILARITY: _MINILM_TRADE_OFF,
    SERVED_SIMILARITY: _MINILM_TRADE_OFF,
}
"""Calibration.trade_off by the similarity's name."""

SAME_SENSE: Mapping[str, Fit[float]] = {
    # Passages that say otherwise score up to 0.33, passages that say the same in other words 0.34 to 0.67.
    EMBEDDED_TEXT_EMBEDDER: Fit(
        0.42,
        "pairs of claim and passage in tests/engine/answering/test_text_support.py",
        "python -m pytest tests/engine/answering/test_text_support.py",
    ),
}
"""Calibration.same_sense by the text embedder's name."""

_SMALL_LIMITS = ReasonerLimits(
    context_tokens=1_000,
    low_context_tokens=700,
    requery_tokens=600,
    reasoning_words=40,
    answer_tokens=224,
    in_flight=2,
)

_SHARED_LIMITS: Fit[ReasonerLimits | None] = Fit(_SMALL_LIMITS)

LIMITS: Mapping[str, Fit[ReasonerLimits | None]] = {
    # On two cores it reads 60 to 90 and writes 15 to 30 tokens a second, and it reads long lists badly: of 60
    # captions it finds the right choice of five in 32 %.
    EMBEDDED_REASONER: Fit(
        _SMALL_LIMITS,
        "EgoSchema, development half, the first 60 questions of seed 0",
        "make eval SET=egoschema DATA=FOLDER ARM=uniform_captions LIMIT=60",
    ),
    **dict.fromkeys(SMALL_REASONERS, _SHARED_LIMITS),
}
"""Limits by the reasoner's name. The local stack's smaller reasoners share those of the default one, unmeasured."""

SUPPORTS: Mapping[tuple[str, str], ChoiceSupport] = {
    (EMBEDDED_REASONER, EMBEDDED_TEXT_EMBEDDER): ChoiceSupport(
        weights=Fit(
            SupportWeights(similarity=4.31, words=1.015, terms=20.94, odds=1.492),
            "EgoSchema, development half, the 244 questions whose choices are not brief",
            "python -m bench.evaluation.fit_support egoschema DATA",
        ),
        brief_weights=Fit(
            SupportWeights(similarity=8.26, words=0.173, terms=5.87, odds=1.537),
            "NExT-QA, development half, the first 110 questions of seed 0",
            "python -m bench.evaluation.fit_support nextqa DATA --limit 110",
        ),
        # With more weight the votes made more answers wrong than right (docs/lab/evaluation.md).
        share=Fit(
            0.9,
            "EgoSchema, development half",
            "make eval SET=egoschema DATA=FOLDER ARM=ava",
        ),
        # The odds over 500 tokens are those over 1,500 (a correlation of 0.95) for a third of the reading.
        judge_tokens=Fit(
            500,
            "EgoSchema, development half, 154 questions",
            "python -m bench.evaluation.fit_support egoschema DATA --judge-tokens 1500",
        ),
        # The weight of the odds was fitted with it.
        temperature=Fit(
            1.0,
            "EgoSchema, development half, the 244 questions whose choices are not brief",
            "python -m bench.evaluation.fit_support egoschema DATA",
        ),
        confidence=Fit(
            Coefficients(bias=-2.88, score=0.0, margin=0.0, similarity=0.0, support=5.70),
            "the report of arm ava on EgoSchema, development half",
            "python -m bench.evaluation.calibrate REPORT --signals support",
        ),
    ),
}
"""Support of choices by the names of reasoner and text embedder: the odds and the cosines are weighed together."""

# --- initial -------------------------------------------------------------------------------------------------------

_INITIAL_THRESHOLDS = SimilarityThresholds(
    # AVA, section 4.2: 0.65 of raw F1, which is 0.275 with the baseline of deberta-xlarge-mnli, 0.517.
    merge=Fit(0.275),
    same_meaning=Fit(0.55),
    compatible_meaning=Fit(0.55),
)
_INITIAL_SENSE = Fit(0.75)
_INITIAL_TRADE_OFF = Fit(0.3)
_NO_LIMITS: Fit[ReasonerLimits | None] = Fit(None)


def calibration_of(*, reasoner: str = "", similarity: str, text_embedder: str) -> Calibration:
    """Return what was fitted to the models of these names, and initial values for the others."""
    return Calibration(
        reasoner=reasoner,
        similarity=similarity,
        text_embedder=text_embedder,
        thresholds=SIMILARITIES.get(similarity, _INITIAL_THRESHOLDS),
        same_sense=SAME_SENSE.get(text_embedder, _INITIAL_SENSE),
        limits=LIMITS.get(reasoner, _NO_LIMITS),
        trade_off=TRADE_OFFS.get(similarity, _INITIAL_TRADE_OFF),
        support=SUPPORTS.get((reasoner, text_embedder)),
    )


UNMEASURED = calibration_of(similarity="", text_embedder="")
"""Calibration of models that nothing was fitted to."""

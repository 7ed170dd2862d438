from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.arm_charge import ArmCharge
    from ..models.arm_confidence import ArmConfidence
    from ..models.arm_figures_by_kind import ArmFiguresByKind
    from ..models.arm_figures_degraded import ArmFiguresDegraded
    from ..models.arm_figures_graded_by import ArmFiguresGradedBy
    from ..models.milliseconds import Milliseconds
    from ..models.share import Share


T = TypeVar("T", bound="ArmFigures")


@_attrs_define
class ArmFigures:
    """Figures of one arm over the items that every arm was asked.

    Attributes:
        label (str): Label of the arm.
        n (int): Items that every arm replied to.
        answered (int): Items with an answer.
        abstained (int): Items without an answer, by the method's decision or at a limit.
        refused (int): Items that the model declined.
        failed (int): Items that failed.
        labeled (int): Items with a grade in every arm.
        right (int): Right items among the labeled.
        accuracy (Share): A share of items with its 95 % Wilson interval.
        accuracy_of_answered (Share): A share of items with its 95 % Wilson interval.
        by_kind (ArmFiguresByKind): Accuracy by your kinds of questions.
        evidence_hit (Share): A share of items with its 95 % Wilson interval.
        citations (int): Citations of all answers.
        citations_supported (int): Citations that support the claims that cite them.
        charge (ArmCharge): What the answers of an arm are charged, without grading, as exact decimals in the currency
            of the charge.
        calls (int): Number of model calls.
        prompt_tokens (int): Tokens that were sent to models, cached ones included.
        cached_tokens (int): Tokens of the prompts that the server had cached, each answer's rounded down to thousands.
        completion_tokens (int): Tokens that models wrote.
        cached_share (float | None): Cached share of the prompt tokens, 0 to 1.
        frames (int): Frames that the answers looked at.
        engine_ms (Milliseconds): Durations of questions, in milliseconds; null without any.
        llm_ms (Milliseconds): Durations of questions, in milliseconds; null without any.
        confidence (ArmConfidence | None): Value of the confidence. Null where the heads are not those of the first arm.
        degraded (ArmFiguresDegraded): Questions by the code of what the method had to do without.
        graded_by (ArmFiguresGradedBy): Questions by who graded: choice, exact, judge, feedback.
        heads (list[str]): Ways in which the answers were drawn from what was shown.
        versions (list[str]): Versions of the method.
        prompts (list[str]): Digests of the service's prompts.
    """

    label: str
    n: int
    answered: int
    abstained: int
    refused: int
    failed: int
    labeled: int
    right: int
    accuracy: Share
    accuracy_of_answered: Share
    by_kind: ArmFiguresByKind
    evidence_hit: Share
    citations: int
    citations_supported: int
    charge: ArmCharge
    calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cached_share: float | None
    frames: int
    engine_ms: Milliseconds
    llm_ms: Milliseconds
    confidence: ArmConfidence | None
    degraded: ArmFiguresDegraded
    graded_by: ArmFiguresGradedBy
    heads: list[str]
    versions: list[str]
    prompts: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.arm_confidence import ArmConfidence  # noqa: PLC0415

        label = self.label

        n = self.n

        answered = self.answered

        abstained = self.abstained

        refused = self.refused

        failed = self.failed

        labeled = self.labeled

        right = self.right

        accuracy = self.accuracy.to_dict()

        accuracy_of_answered = self.accuracy_of_answered.to_dict()

        by_kind = self.by_kind.to_dict()

        evidence_hit = self.evidence_hit.to_dict()

        citations = self.citations

        citations_supported = self.citations_supported

        charge = self.charge.to_dict()

        calls = self.calls

        prompt_tokens = self.prompt_tokens

        cached_tokens = self.cached_tokens

        completion_tokens = self.completion_tokens

        cached_share: float | None
        cached_share = self.cached_share

        frames = self.frames

        engine_ms = self.engine_ms.to_dict()

        llm_ms = self.llm_ms.to_dict()

        confidence: dict[str, Any] | None
        if isinstance(self.confidence, ArmConfidence):
            confidence = self.confidence.to_dict()
        else:
            confidence = self.confidence

        degraded = self.degraded.to_dict()

        graded_by = self.graded_by.to_dict()

        heads = self.heads

        versions = self.versions

        prompts = self.prompts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "label": label,
                "n": n,
                "answered": answered,
                "abstained": abstained,
                "refused": refused,
                "failed": failed,
                "labeled": labeled,
                "right": right,
                "accuracy": accuracy,
                "accuracy_of_answered": accuracy_of_answered,
                "by_kind": by_kind,
                "evidence_hit": evidence_hit,
                "citations": citations,
                "citations_supported": citations_supported,
                "charge": charge,
                "calls": calls,
                "prompt_tokens": prompt_tokens,
                "cached_tokens": cached_tokens,
                "completion_tokens": completion_tokens,
                "cached_share": cached_share,
                "frames": frames,
                "engine_ms": engine_ms,
                "llm_ms": llm_ms,
                "confidence": confidence,
                "degraded": degraded,
                "graded_by": graded_by,
                "heads": heads,
                "versions": versions,
                "prompts": prompts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.arm_charge import ArmCharge  # noqa: PLC0415
        from ..models.arm_confidence import ArmConfidence  # noqa: PLC0415
        from ..models.arm_figures_by_kind import ArmFiguresByKind  # noqa: PLC0415
        from ..models.arm_figures_degraded import ArmFiguresDegraded  # noqa: PLC0415
        from ..models.arm_figures_graded_by import ArmFiguresGradedBy  # noqa: PLC0415
        from ..models.milliseconds import Milliseconds  # noqa: PLC0415
        from ..models.share import Share  # noqa: PLC0415

        d = dict(src_dict)
        label = d.pop("label")

        n = d.pop("n")

        answered = d.pop("answered")

        abstained = d.pop("abstained")

        refused = d.pop("refused")

        failed = d.pop("failed")

        labeled = d.pop("labeled")

        right = d.pop("right")

        accuracy = Share.from_dict(d.pop("accuracy"))

        accuracy_of_answered = Share.from_dict(d.pop("accuracy_of_answered"))

        by_kind = ArmFiguresByKind.from_dict(d.pop("by_kind"))

        evidence_hit = Share.from_dict(d.pop("evidence_hit"))

        citations = d.pop("citations")

        citations_supported = d.pop("citations_supported")

        charge = ArmCharge.from_dict(d.pop("charge"))

        calls = d.pop("calls")

        prompt_tokens = d.pop("prompt_tokens")

        cached_tokens = d.pop("cached_tokens")

        completion_tokens = d.pop("completion_tokens")

        def _parse_cached_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        cached_share = _parse_cached_share(d.pop("cached_share"))

        frames = d.pop("frames")

        engine_ms = Milliseconds.from_dict(d.pop("engine_ms"))

        llm_ms = Milliseconds.from_dict(d.pop("llm_ms"))

        def _parse_confidence(data: object) -> ArmConfidence | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                confidence_type_0 = ArmConfidence.from_dict(data)

                return confidence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ArmConfidence | None, data)

        confidence = _parse_confidence(d.pop("confidence"))

        degraded = ArmFiguresDegraded.from_dict(d.pop("degraded"))

        graded_by = ArmFiguresGradedBy.from_dict(d.pop("graded_by"))

        heads = cast(list[str], d.pop("heads"))

        versions = cast(list[str], d.pop("versions"))

        prompts = cast(list[str], d.pop("prompts"))

        arm_figures = cls(
            label=label,
            n=n,
            answered=answered,
            abstained=abstained,
            refused=refused,
            failed=failed,
            labeled=labeled,
            right=right,
            accuracy=accuracy,
            accuracy_of_answered=accuracy_of_answered,
            by_kind=by_kind,
            evidence_hit=evidence_hit,
            citations=citations,
            citations_supported=citations_supported,
            charge=charge,
            calls=calls,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_tokens,
            completion_tokens=completion_tokens,
            cached_share=cached_share,
            frames=frames,
            engine_ms=engine_ms,
            llm_ms=llm_ms,
            confidence=confidence,
            degraded=degraded,
            graded_by=graded_by,
            heads=heads,
            versions=versions,
            prompts=prompts,
        )

        arm_figures.additional_properties = d
        return arm_figures

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

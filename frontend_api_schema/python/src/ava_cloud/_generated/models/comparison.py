from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.charge import Charge
    from ..models.comparison_arm import ComparisonArm
    from ..models.comparison_counts import ComparisonCounts
    from ..models.comparison_metadata import ComparisonMetadata
    from ..models.comparison_report import ComparisonReport
    from ..models.pinned_video import PinnedVideo
    from ..models.question_budget import QuestionBudget


T = TypeVar("T", bound="Comparison")


@_attrs_define
class Comparison:
    """A comparison: its arms, and how far it is.

    Attributes:
        id (str): Id of the comparison.
        object_ (str): Always `comparison`. Default: 'comparison'.
        status (str): `running` until no question is open, `grading` while a judge reads the answers. `completed` says
            that no question is open. Read `counts` to learn how many have an answer. Known values: `running`, `grading`,
            `completed`, `canceled`. Others may follow.
        finish_detail (None | str): Code of why the comparison ended early or lacks grades, such as `comparison_budget`.
        name (str): Your own name of the comparison.
        arms (list[ComparisonArm]): The arms, in your order.
        videos (list[PinnedVideo]): The videos, with the index that every arm reads.
        seed (int): Seed of the sampling, and of the order of the arms.
        repeats (int): How often each arm is asked each question.
        budget (QuestionBudget): Limits of one question. A limit that is left out does not apply.
        max_total_charge (None | str): Charge of all answers above which open questions are canceled; null without a
            limit.
        grading (str): How answers are graded. Known values: `choice`, `exact`, `judge`. Others may follow.
        external_id (str): Your own id of the comparison.
        metadata (ComparisonMetadata): Your own labels of the comparison.
        counts (ComparisonCounts): Number of questions by status: items times arms times repeats.
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        created_at (datetime.datetime): When the comparison was made.
        completed_at (datetime.datetime | None): When the last outcome or grade was there.
        grading_charge (str | Unset): What the judge is charged so far, which is no arm's charge; only for a single
            comparison.
        report (ComparisonReport | Unset): Figures of a comparison. An item that one arm could not ask leaves all arms;
            a repeated item counts once.
    """

    id: str
    status: str
    finish_detail: None | str
    name: str
    arms: list[ComparisonArm]
    videos: list[PinnedVideo]
    seed: int
    repeats: int
    budget: QuestionBudget
    max_total_charge: None | str
    grading: str
    external_id: str
    metadata: ComparisonMetadata
    counts: ComparisonCounts
    charge: Charge
    created_at: datetime.datetime
    completed_at: datetime.datetime | None
    object_: str = "comparison"
    grading_charge: str | Unset = UNSET
    report: ComparisonReport | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        status = self.status

        finish_detail: None | str
        finish_detail = self.finish_detail

        name = self.name

        arms = []
        for arms_item_data in self.arms:
            arms_item = arms_item_data.to_dict()
            arms.append(arms_item)

        videos = []
        for videos_item_data in self.videos:
            videos_item = videos_item_data.to_dict()
            videos.append(videos_item)

        seed = self.seed

        repeats = self.repeats

        budget = self.budget.to_dict()

        max_total_charge: None | str
        max_total_charge = self.max_total_charge

        grading = self.grading

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        counts = self.counts.to_dict()

        charge = self.charge.to_dict()

        created_at = self.created_at.isoformat()

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        grading_charge = self.grading_charge

        report: dict[str, Any] | Unset = UNSET
        if not isinstance(self.report, Unset):
            report = self.report.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "finish_detail": finish_detail,
                "name": name,
                "arms": arms,
                "videos": videos,
                "seed": seed,
                "repeats": repeats,
                "budget": budget,
                "max_total_charge": max_total_charge,
                "grading": grading,
                "external_id": external_id,
                "metadata": metadata,
                "counts": counts,
                "charge": charge,
                "created_at": created_at,
                "completed_at": completed_at,
            }
        )
        if grading_charge is not UNSET:
            field_dict["grading_charge"] = grading_charge
        if report is not UNSET:
            field_dict["report"] = report

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge import Charge  # noqa: PLC0415
        from ..models.comparison_arm import ComparisonArm  # noqa: PLC0415
        from ..models.comparison_counts import ComparisonCounts  # noqa: PLC0415
        from ..models.comparison_metadata import ComparisonMetadata  # noqa: PLC0415
        from ..models.comparison_report import ComparisonReport  # noqa: PLC0415
        from ..models.pinned_video import PinnedVideo  # noqa: PLC0415
        from ..models.question_budget import QuestionBudget  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        def _parse_finish_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        finish_detail = _parse_finish_detail(d.pop("finish_detail"))

        name = d.pop("name")

        arms = []
        _arms = d.pop("arms")
        for arms_item_data in _arms:
            arms_item = ComparisonArm.from_dict(arms_item_data)

            arms.append(arms_item)

        videos = []
        _videos = d.pop("videos")
        for videos_item_data in _videos:
            videos_item = PinnedVideo.from_dict(videos_item_data)

            videos.append(videos_item)

        seed = d.pop("seed")

        repeats = d.pop("repeats")

        budget = QuestionBudget.from_dict(d.pop("budget"))

        def _parse_max_total_charge(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        max_total_charge = _parse_max_total_charge(d.pop("max_total_charge"))

        grading = d.pop("grading")

        external_id = d.pop("external_id")

        metadata = ComparisonMetadata.from_dict(d.pop("metadata"))

        counts = ComparisonCounts.from_dict(d.pop("counts"))

        charge = Charge.from_dict(d.pop("charge"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        grading_charge = d.pop("grading_charge", UNSET)

        _report = d.pop("report", UNSET)
        report: ComparisonReport | Unset
        if isinstance(_report, Unset):
            report = UNSET
        else:
            report = ComparisonReport.from_dict(_report)

        comparison = cls(
            id=id,
            object_=object_,
            status=status,
            finish_detail=finish_detail,
            name=name,
            arms=arms,
            videos=videos,
            seed=seed,
            repeats=repeats,
            budget=budget,
            max_total_charge=max_total_charge,
            grading=grading,
            external_id=external_id,
            metadata=metadata,
            counts=counts,
            charge=charge,
            created_at=created_at,
            completed_at=completed_at,
            grading_charge=grading_charge,
            report=report,
        )

        comparison.additional_properties = d
        return comparison

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

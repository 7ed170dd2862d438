from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.batch_counts import BatchCounts
    from ..models.batch_usage import BatchUsage
    from ..models.charge import Charge
    from ..models.question_batch_finish_reasons import QuestionBatchFinishReasons
    from ..models.question_batch_metadata import QuestionBatchMetadata


T = TypeVar("T", bound="QuestionBatch")


@_attrs_define
class QuestionBatch:
    """A batch with the counts of its questions.

    Attributes:
        id (str): Id of the batch.
        object_ (str): Always `question_batch`. Default: 'question_batch'.
        status (str): `completed` means that no question is open. Read `counts` to learn how many have an answer. Known
            values: `running`, `completed`, `canceled`. Others may follow.
        external_id (str): Your own id of the batch.
        metadata (QuestionBatchMetadata): Your own labels of the batch.
        counts (BatchCounts): Number of questions by status.
        finish_reasons (QuestionBatchFinishReasons): Number of questions by finish reason.
        usage (BatchUsage): What the answers of a batch consumed so far.
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        created_at (datetime.datetime): When the batch was asked.
        completed_at (datetime.datetime | None): When the last question got its outcome.
    """

    id: str
    status: str
    external_id: str
    metadata: QuestionBatchMetadata
    counts: BatchCounts
    finish_reasons: QuestionBatchFinishReasons
    usage: BatchUsage
    charge: Charge
    created_at: datetime.datetime
    completed_at: datetime.datetime | None
    object_: str = "question_batch"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        status = self.status

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        counts = self.counts.to_dict()

        finish_reasons = self.finish_reasons.to_dict()

        usage = self.usage.to_dict()

        charge = self.charge.to_dict()

        created_at = self.created_at.isoformat()

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "external_id": external_id,
                "metadata": metadata,
                "counts": counts,
                "finish_reasons": finish_reasons,
                "usage": usage,
                "charge": charge,
                "created_at": created_at,
                "completed_at": completed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.batch_counts import BatchCounts  # noqa: PLC0415
        from ..models.batch_usage import BatchUsage  # noqa: PLC0415
        from ..models.charge import Charge  # noqa: PLC0415
        from ..models.question_batch_finish_reasons import QuestionBatchFinishReasons  # noqa: PLC0415
        from ..models.question_batch_metadata import QuestionBatchMetadata  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        external_id = d.pop("external_id")

        metadata = QuestionBatchMetadata.from_dict(d.pop("metadata"))

        counts = BatchCounts.from_dict(d.pop("counts"))

        finish_reasons = QuestionBatchFinishReasons.from_dict(d.pop("finish_reasons"))

        usage = BatchUsage.from_dict(d.pop("usage"))

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

        question_batch = cls(
            id=id,
            object_=object_,
            status=status,
            external_id=external_id,
            metadata=metadata,
            counts=counts,
            finish_reasons=finish_reasons,
            usage=usage,
            charge=charge,
            created_at=created_at,
            completed_at=completed_at,
        )

        question_batch.additional_properties = d
        return question_batch

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

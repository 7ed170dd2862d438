from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ComparisonCounts")


@_attrs_define
class ComparisonCounts:
    """Number of questions by status: items times arms times repeats.

    Attributes:
        total (int): Questions of the comparison.
        queued (int): Questions that wait.
        running (int): Questions that are worked on.
        succeeded (int): Questions that have an answer.
        failed (int): Questions that failed.
        canceled (int): Questions that were canceled.
        items_left_out (int): Items that are in no arm's figures, because a video was deleted before every arm was
            asked.
    """

    total: int
    queued: int
    running: int
    succeeded: int
    failed: int
    canceled: int
    items_left_out: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        total = self.total

        queued = self.queued

        running = self.running

        succeeded = self.succeeded

        failed = self.failed

        canceled = self.canceled

        items_left_out = self.items_left_out

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "total": total,
                "queued": queued,
                "running": running,
                "succeeded": succeeded,
                "failed": failed,
                "canceled": canceled,
                "items_left_out": items_left_out,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total = d.pop("total")

        queued = d.pop("queued")

        running = d.pop("running")

        succeeded = d.pop("succeeded")

        failed = d.pop("failed")

        canceled = d.pop("canceled")

        items_left_out = d.pop("items_left_out")

        comparison_counts = cls(
            total=total,
            queued=queued,
            running=running,
            succeeded=succeeded,
            failed=failed,
            canceled=canceled,
            items_left_out=items_left_out,
        )

        comparison_counts.additional_properties = d
        return comparison_counts

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

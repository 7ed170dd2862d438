from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.kind_arm import KindArm
    from ..models.share import Share


T = TypeVar("T", bound="KindRule")


@_attrs_define
class KindRule:
    """The best arm of each kind as a rule. Each item is graded by a rule that was made from the other items.

    Attributes:
        arms (list[KindArm]): Best arm of each kind, in the order of the kinds.
        accuracy (Share): A share of items with its 95 % Wilson interval.
        single (Share): A share of items with its 95 % Wilson interval.
    """

    arms: list[KindArm]
    accuracy: Share
    single: Share
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        arms = []
        for arms_item_data in self.arms:
            arms_item = arms_item_data.to_dict()
            arms.append(arms_item)

        accuracy = self.accuracy.to_dict()

        single = self.single.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "arms": arms,
                "accuracy": accuracy,
                "single": single,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.kind_arm import KindArm  # noqa: PLC0415
        from ..models.share import Share  # noqa: PLC0415

        d = dict(src_dict)
        arms = []
        _arms = d.pop("arms")
        for arms_item_data in _arms:
            arms_item = KindArm.from_dict(arms_item_data)

            arms.append(arms_item)

        accuracy = Share.from_dict(d.pop("accuracy"))

        single = Share.from_dict(d.pop("single"))

        kind_rule = cls(
            arms=arms,
            accuracy=accuracy,
            single=single,
        )

        kind_rule.additional_properties = d
        return kind_rule

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

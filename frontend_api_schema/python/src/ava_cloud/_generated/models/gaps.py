from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.gaps_codes import GapsCodes


T = TypeVar("T", bound="Gaps")


@_attrs_define
class Gaps:
    """What could not be described, and why.

    Attributes:
        count (int): Number of chunks.
        ms (int): Duration of these chunks.
        codes (GapsCodes): Number of chunks by the code of their gap.
    """

    count: int
    ms: int
    codes: GapsCodes
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        ms = self.ms

        codes = self.codes.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count": count,
                "ms": ms,
                "codes": codes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.gaps_codes import GapsCodes  # noqa: PLC0415

        d = dict(src_dict)
        count = d.pop("count")

        ms = d.pop("ms")

        codes = GapsCodes.from_dict(d.pop("codes"))

        gaps = cls(
            count=count,
            ms=ms,
            codes=codes,
        )

        gaps.additional_properties = d
        return gaps

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

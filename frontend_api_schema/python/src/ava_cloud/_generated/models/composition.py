from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.composition_part import CompositionPart


T = TypeVar("T", bound="Composition")


@_attrs_define
class Composition:
    """The answer in parts.

    Attributes:
        shape (str): Form of the answer. Known values: `list`, `steps`, `table`, `count`, `summary`. Others may follow.
        columns (list[str]): Headings of a table; empty for other shapes.
        parts (list[CompositionPart]): The parts in the order of the text.
    """

    shape: str
    columns: list[str]
    parts: list[CompositionPart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        shape = self.shape

        columns = self.columns

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "shape": shape,
                "columns": columns,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.composition_part import CompositionPart  # noqa: PLC0415

        d = dict(src_dict)
        shape = d.pop("shape")

        columns = cast(list[str], d.pop("columns"))

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = CompositionPart.from_dict(parts_item_data)

            parts.append(parts_item)

        composition = cls(
            shape=shape,
            columns=columns,
            parts=parts,
        )

        composition.additional_properties = d
        return composition

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

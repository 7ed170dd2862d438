from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.understood_span import UnderstoodSpan


T = TypeVar("T", bound="UnderstoodTime")


@_attrs_define
class UnderstoodTime:
    """The time that a question names.

    Attributes:
        words (str): The words that name it.
        meaning (str): The same in plain words, with the resolved times.
        order (str): `after`, `before` or `during` an event, or `between` two; empty without one.
        anchor (str): The words of that event; empty without one.
        chosen_by (str): What read the time: a parser of `figures`, or a `model`. Known values: `caller`, `examples`,
            `figures`, `model`, `default`. Others may follow.
        spans (list[UnderstoodSpan]): What was read of each video, several stretches if the question names several
            times; empty if no video has the time.
    """

    words: str
    meaning: str
    order: str
    anchor: str
    chosen_by: str
    spans: list[UnderstoodSpan]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        words = self.words

        meaning = self.meaning

        order = self.order

        anchor = self.anchor

        chosen_by = self.chosen_by

        spans = []
        for spans_item_data in self.spans:
            spans_item = spans_item_data.to_dict()
            spans.append(spans_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "words": words,
                "meaning": meaning,
                "order": order,
                "anchor": anchor,
                "chosen_by": chosen_by,
                "spans": spans,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.understood_span import UnderstoodSpan  # noqa: PLC0415

        d = dict(src_dict)
        words = d.pop("words")

        meaning = d.pop("meaning")

        order = d.pop("order")

        anchor = d.pop("anchor")

        chosen_by = d.pop("chosen_by")

        spans = []
        _spans = d.pop("spans")
        for spans_item_data in _spans:
            spans_item = UnderstoodSpan.from_dict(spans_item_data)

            spans.append(spans_item)

        understood_time = cls(
            words=words,
            meaning=meaning,
            order=order,
            anchor=anchor,
            chosen_by=chosen_by,
            spans=spans,
        )

        understood_time.additional_properties = d
        return understood_time

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

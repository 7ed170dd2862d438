from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.text_range import TextRange


T = TypeVar("T", bound="Highlight")


@_attrs_define
class Highlight:
    """A text that shows what was searched for, as plain text with the parts that match.

    Attributes:
        kind (str): What the text is: the event's summary, a spoken line, writing on screen, the name of an entity, the
            title of a topic, or the look of a tracked object. Known values: `summary`, `speech`, `writing`, `name`,
            `title`, `object`. Others may follow.
        text (str): Plain text. Escape it before you show it on a page.
        ranges (list[TextRange]): The parts that match, in order, without overlap.
        start_ms (int | None): When the line begins, or the writing is shown; null for other texts.
        end_ms (int | None): End of that time.
        item_id (None | str): Id of the entity or object that has the name; null for other texts.
    """

    kind: str
    text: str
    ranges: list[TextRange]
    start_ms: int | None
    end_ms: int | None
    item_id: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        text = self.text

        ranges = []
        for ranges_item_data in self.ranges:
            ranges_item = ranges_item_data.to_dict()
            ranges.append(ranges_item)

        start_ms: int | None
        start_ms = self.start_ms

        end_ms: int | None
        end_ms = self.end_ms

        item_id: None | str
        item_id = self.item_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "text": text,
                "ranges": ranges,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "item_id": item_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.text_range import TextRange  # noqa: PLC0415

        d = dict(src_dict)
        kind = d.pop("kind")

        text = d.pop("text")

        ranges = []
        _ranges = d.pop("ranges")
        for ranges_item_data in _ranges:
            ranges_item = TextRange.from_dict(ranges_item_data)

            ranges.append(ranges_item)

        def _parse_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        start_ms = _parse_start_ms(d.pop("start_ms"))

        def _parse_end_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        end_ms = _parse_end_ms(d.pop("end_ms"))

        def _parse_item_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        item_id = _parse_item_id(d.pop("item_id"))

        highlight = cls(
            kind=kind,
            text=text,
            ranges=ranges,
            start_ms=start_ms,
            end_ms=end_ms,
            item_id=item_id,
        )

        highlight.additional_properties = d
        return highlight

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

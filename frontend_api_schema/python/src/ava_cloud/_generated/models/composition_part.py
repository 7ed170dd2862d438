from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CompositionPart")


@_attrs_define
class CompositionPart:
    """A part of an answer: an item, a step, a row, a place or a sentence.

    Attributes:
        text (str): The words of the part.
        cells (list[str]): Cells of a table's row, one for each column; empty otherwise.
        claim (int): Index into the question's `claims`, from 0.
    """

    text: str
    cells: list[str]
    claim: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        cells = self.cells

        claim = self.claim

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "text": text,
                "cells": cells,
                "claim": claim,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        cells = cast(list[str], d.pop("cells"))

        claim = d.pop("claim")

        composition_part = cls(
            text=text,
            cells=cells,
            claim=claim,
        )

        composition_part.additional_properties = d
        return composition_part

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

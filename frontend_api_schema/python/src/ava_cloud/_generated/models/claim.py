from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Claim")


@_attrs_define
class Claim:
    """A statement of the answer.

    Attributes:
        text (str): The statement.
        status (str): Whether the cited evidence supports the statement. A `contradicted` statement is left out of the
            answer's text, except in effort `paper` and for a choice. Known values: `supported`, `contradicted`,
            `unverified`. Others may follow.
        evidence (list[int]): Indices into the question's `evidence`, from 0.
    """

    text: str
    status: str
    evidence: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        status = self.status

        evidence = self.evidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "text": text,
                "status": status,
                "evidence": evidence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        status = d.pop("status")

        evidence = cast(list[int], d.pop("evidence"))

        claim = cls(
            text=text,
            status=status,
            evidence=evidence,
        )

        claim.additional_properties = d
        return claim

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

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ErasureCertificate")


@_attrs_define
class ErasureCertificate:
    """What was counted after the erasure.

    Attributes:
        asked_at (str): When the erasure was asked for.
        erased_at (str): When nothing was left.
        objects (int): Objects in storage that are left.
        unfinished_uploads (int): Uploads in storage that nobody completed.
        rows (int): Rows that are left, over all tables.
        vectors (int): Rows with a vector that are left.
        vertices (int): Vertices of the graph that are left.
        edges (int): Edges of the graph that are left.
        people (int): Accounts of people who were members of this tenant alone, and identities of its provider, that are
            left.
    """

    asked_at: str
    erased_at: str
    objects: int
    unfinished_uploads: int
    rows: int
    vectors: int
    vertices: int
    edges: int
    people: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        asked_at = self.asked_at

        erased_at = self.erased_at

        objects = self.objects

        unfinished_uploads = self.unfinished_uploads

        rows = self.rows

        vectors = self.vectors

        vertices = self.vertices

        edges = self.edges

        people = self.people

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "asked_at": asked_at,
                "erased_at": erased_at,
                "objects": objects,
                "unfinished_uploads": unfinished_uploads,
                "rows": rows,
                "vectors": vectors,
                "vertices": vertices,
                "edges": edges,
                "people": people,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        asked_at = d.pop("asked_at")

        erased_at = d.pop("erased_at")

        objects = d.pop("objects")

        unfinished_uploads = d.pop("unfinished_uploads")

        rows = d.pop("rows")

        vectors = d.pop("vectors")

        vertices = d.pop("vertices")

        edges = d.pop("edges")

        people = d.pop("people")

        erasure_certificate = cls(
            asked_at=asked_at,
            erased_at=erased_at,
            objects=objects,
            unfinished_uploads=unfinished_uploads,
            rows=rows,
            vectors=vectors,
            vertices=vertices,
            edges=edges,
            people=people,
        )

        erasure_certificate.additional_properties = d
        return erasure_certificate

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

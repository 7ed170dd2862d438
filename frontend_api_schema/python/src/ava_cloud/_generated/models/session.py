from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.session_metadata import SessionMetadata


T = TypeVar("T", bound="Session")


@_attrs_define
class Session:
    """A conversation: questions about one scope that are asked one after another.

    Attributes:
        id (str): Id of the session.
        object_ (str): Always `session`. Default: 'session'.
        video_ids (list[str]): Videos of the scope as requested; empty for a collection.
        collection_id (None | str): Collection of the scope, if it has one.
        start_ms (int | None): Begin of the span that is read in each video.
        end_ms (int | None): End of the span that is read in each video.
        turns (int): Number of questions asked in the session.
        external_id (str): Your own id of the session.
        metadata (SessionMetadata): Your own labels of the session.
        created_at (datetime.datetime): When the session was created.
    """

    id: str
    video_ids: list[str]
    collection_id: None | str
    start_ms: int | None
    end_ms: int | None
    turns: int
    external_id: str
    metadata: SessionMetadata
    created_at: datetime.datetime
    object_: str = "session"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        video_ids = self.video_ids

        collection_id: None | str
        collection_id = self.collection_id

        start_ms: int | None
        start_ms = self.start_ms

        end_ms: int | None
        end_ms = self.end_ms

        turns = self.turns

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        created_at = self.created_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "video_ids": video_ids,
                "collection_id": collection_id,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "turns": turns,
                "external_id": external_id,
                "metadata": metadata,
                "created_at": created_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_metadata import SessionMetadata  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        video_ids = cast(list[str], d.pop("video_ids"))

        def _parse_collection_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        collection_id = _parse_collection_id(d.pop("collection_id"))

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

        turns = d.pop("turns")

        external_id = d.pop("external_id")

        metadata = SessionMetadata.from_dict(d.pop("metadata"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        session = cls(
            id=id,
            object_=object_,
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            turns=turns,
            external_id=external_id,
            metadata=metadata,
            created_at=created_at,
        )

        session.additional_properties = d
        return session

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

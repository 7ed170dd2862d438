from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.session_request_metadata import SessionRequestMetadata


T = TypeVar("T", bound="SessionRequest")


@_attrs_define
class SessionRequest:
    """The scope that the questions of a session share.

    Attributes:
        video_ids (list[str] | Unset): Videos to read. Give either these or a collection.
        collection_id (str | Unset): Collection to read, with the videos that it has now.
        start_ms (int | None | Unset): Begin of the span to read in each video, in milliseconds. By default the video's
            begin.
        end_ms (int | None | Unset): End of the span to read in each video, in milliseconds. By default the video's end.
        external_id (str | Unset): Your own id of the session.
        metadata (SessionRequestMetadata | Unset): Your own labels of the session.
    """

    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    external_id: str | Unset = UNSET
    metadata: SessionRequestMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collection_id = self.collection_id

        start_ms: int | None | Unset
        if isinstance(self.start_ms, Unset):
            start_ms = UNSET
        else:
            start_ms = self.start_ms

        end_ms: int | None | Unset
        if isinstance(self.end_ms, Unset):
            end_ms = UNSET
        else:
            end_ms = self.end_ms

        external_id = self.external_id

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.session_request_metadata import SessionRequestMetadata  # noqa: PLC0415

        d = dict(src_dict)
        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collection_id = d.pop("collection_id", UNSET)

        def _parse_start_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        start_ms = _parse_start_ms(d.pop("start_ms", UNSET))

        def _parse_end_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        end_ms = _parse_end_ms(d.pop("end_ms", UNSET))

        external_id = d.pop("external_id", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: SessionRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = SessionRequestMetadata.from_dict(_metadata)

        session_request = cls(
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            external_id=external_id,
            metadata=metadata,
        )

        session_request.additional_properties = d
        return session_request

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

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.received_part import ReceivedPart
    from ..models.upload_metadata import UploadMetadata


T = TypeVar("T", bound="Upload")


@_attrs_define
class Upload:
    """An upload without its parts, as it is listed.

    Attributes:
        id (str):
        object_ (str):
        status (str): Known values: `open`, `completed`, `aborted`, `expired`. Others may follow.
        filename (str):
        content_type (str):
        size_bytes (int):
        sha256 (str): SHA-256 that was announced, in hex.
        part_size (int): Bytes of every part except the last.
        part_count (int):
        video_id (None | str):
        collection_id (None | str):
        external_id (str):
        metadata (UploadMetadata):
        created_at (datetime.datetime):
        created_by (None | str): The key (`key_…`) or the person (`per_…`) that began the upload.
        expires_at (datetime.datetime):
        completed_at (datetime.datetime | None):
        received_parts (list[ReceivedPart]):
        missing_parts (list[int]):
    """

    id: str
    object_: str
    status: str
    filename: str
    content_type: str
    size_bytes: int
    sha256: str
    part_size: int
    part_count: int
    video_id: None | str
    collection_id: None | str
    external_id: str
    metadata: UploadMetadata
    created_at: datetime.datetime
    created_by: None | str
    expires_at: datetime.datetime
    completed_at: datetime.datetime | None
    received_parts: list[ReceivedPart]
    missing_parts: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        status = self.status

        filename = self.filename

        content_type = self.content_type

        size_bytes = self.size_bytes

        sha256 = self.sha256

        part_size = self.part_size

        part_count = self.part_count

        video_id: None | str
        video_id = self.video_id

        collection_id: None | str
        collection_id = self.collection_id

        external_id = self.external_id

        metadata = self.metadata.to_dict()

        created_at = self.created_at.isoformat()

        created_by: None | str
        created_by = self.created_by

        expires_at = self.expires_at.isoformat()

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        received_parts = []
        for received_parts_item_data in self.received_parts:
            received_parts_item = received_parts_item_data.to_dict()
            received_parts.append(received_parts_item)

        missing_parts = self.missing_parts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "filename": filename,
                "content_type": content_type,
                "size_bytes": size_bytes,
                "sha256": sha256,
                "part_size": part_size,
                "part_count": part_count,
                "video_id": video_id,
                "collection_id": collection_id,
                "external_id": external_id,
                "metadata": metadata,
                "created_at": created_at,
                "created_by": created_by,
                "expires_at": expires_at,
                "completed_at": completed_at,
                "received_parts": received_parts,
                "missing_parts": missing_parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.received_part import ReceivedPart  # noqa: PLC0415
        from ..models.upload_metadata import UploadMetadata  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        filename = d.pop("filename")

        content_type = d.pop("content_type")

        size_bytes = d.pop("size_bytes")

        sha256 = d.pop("sha256")

        part_size = d.pop("part_size")

        part_count = d.pop("part_count")

        def _parse_video_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        video_id = _parse_video_id(d.pop("video_id"))

        def _parse_collection_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        collection_id = _parse_collection_id(d.pop("collection_id"))

        external_id = d.pop("external_id")

        metadata = UploadMetadata.from_dict(d.pop("metadata"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_created_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        created_by = _parse_created_by(d.pop("created_by"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        received_parts = []
        _received_parts = d.pop("received_parts")
        for received_parts_item_data in _received_parts:
            received_parts_item = ReceivedPart.from_dict(received_parts_item_data)

            received_parts.append(received_parts_item)

        missing_parts = cast(list[int], d.pop("missing_parts"))

        upload = cls(
            id=id,
            object_=object_,
            status=status,
            filename=filename,
            content_type=content_type,
            size_bytes=size_bytes,
            sha256=sha256,
            part_size=part_size,
            part_count=part_count,
            video_id=video_id,
            collection_id=collection_id,
            external_id=external_id,
            metadata=metadata,
            created_at=created_at,
            created_by=created_by,
            expires_at=expires_at,
            completed_at=completed_at,
            received_parts=received_parts,
            missing_parts=missing_parts,
        )

        upload.additional_properties = d
        return upload

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

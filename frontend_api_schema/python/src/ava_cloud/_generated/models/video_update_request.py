from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.video_update_request_metadata import VideoUpdateRequestMetadata


T = TypeVar("T", bound="VideoUpdateRequest")


@_attrs_define
class VideoUpdateRequest:
    """
    Attributes:
        title (str | Unset):
        collection_id (None | str | Unset):
        language (str | Unset): Language that is spoken, for what is transcribed from now on. Empty: it is detected.
        audio (str | Unset): Audio tracks to listen to: `all` (the default), or numbers and languages separated by
            commas, such as `2` or `de,en`. If no track matches, the service listens to all. `probe.audio_tracks` shows the
            result.
        external_id (str | Unset):
        metadata (VideoUpdateRequestMetadata | Unset):
        recorded_at (datetime.datetime | None | Unset): When the recording began: an ISO date and time with an offset
            such as `+02:00` or `Z`, or without one if `time_zone` says where.
        time_zone (str | Unset): IANA name of the time zone in which you speak about the recording, such as
            `Europe/Berlin`.
    """

    title: str | Unset = UNSET
    collection_id: None | str | Unset = UNSET
    language: str | Unset = UNSET
    audio: str | Unset = UNSET
    external_id: str | Unset = UNSET
    metadata: VideoUpdateRequestMetadata | Unset = UNSET
    recorded_at: datetime.datetime | None | Unset = UNSET
    time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        collection_id: None | str | Unset
        if isinstance(self.collection_id, Unset):
            collection_id = UNSET
        else:
            collection_id = self.collection_id

        language = self.language

        audio = self.audio

        external_id = self.external_id

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        recorded_at: None | str | Unset
        if isinstance(self.recorded_at, Unset):
            recorded_at = UNSET
        elif isinstance(self.recorded_at, datetime.datetime):
            recorded_at = self.recorded_at.isoformat()
        else:
            recorded_at = self.recorded_at

        time_zone = self.time_zone

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if title is not UNSET:
            field_dict["title"] = title
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if language is not UNSET:
            field_dict["language"] = language
        if audio is not UNSET:
            field_dict["audio"] = audio
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at
        if time_zone is not UNSET:
            field_dict["time_zone"] = time_zone

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.video_update_request_metadata import VideoUpdateRequestMetadata  # noqa: PLC0415

        d = dict(src_dict)
        title = d.pop("title", UNSET)

        def _parse_collection_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        collection_id = _parse_collection_id(d.pop("collection_id", UNSET))

        language = d.pop("language", UNSET)

        audio = d.pop("audio", UNSET)

        external_id = d.pop("external_id", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: VideoUpdateRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = VideoUpdateRequestMetadata.from_dict(_metadata)

        def _parse_recorded_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                recorded_at_type_0 = datetime.datetime.fromisoformat(data)

                return recorded_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at", UNSET))

        time_zone = d.pop("time_zone", UNSET)

        video_update_request = cls(
            title=title,
            collection_id=collection_id,
            language=language,
            audio=audio,
            external_id=external_id,
            metadata=metadata,
            recorded_at=recorded_at,
            time_zone=time_zone,
        )

        video_update_request.additional_properties = d
        return video_update_request

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

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.profile import Profile, check_profile
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.segments_source_request import SegmentsSourceRequest
    from ..models.upload_source_request import UploadSourceRequest
    from ..models.url_source_request import UrlSourceRequest
    from ..models.video_request_metadata import VideoRequestMetadata


T = TypeVar("T", bound="VideoRequest")


@_attrs_define
class VideoRequest:
    """
    Attributes:
        source (SegmentsSourceRequest | UploadSourceRequest | UrlSourceRequest): Where the recording comes from: an
            upload, a URL of the whole file, or segments that are appended.
        title (str | Unset): Not allowed when the source is an upload.
        profile (Profile | Unset):
        collection_id (None | str | Unset):
        language (str | Unset): Language that is spoken, by its ISO 639-1 code. By default it is detected in the first
            speech.
        audio (str | Unset): Audio tracks to listen to: `all` (the default), or numbers and languages separated by
            commas, such as `2` or `de,en`. If no track matches, the service listens to all. `probe.audio_tracks` shows the
            result.
        external_id (str | Unset):
        duration_ms (int | Unset): Duration of the recording, if you know it. So many minutes of your plan and budget
            are reserved until it is measured. By default the duration is assumed by the size.
        metadata (VideoRequestMetadata | Unset):
        recorded_at (datetime.datetime | Unset): When the recording began: an ISO date and time with an offset such as
            `+02:00` or `Z`, or without one if `time_zone` says where.
        time_zone (str | Unset): IANA name of the time zone in which you speak about the recording, such as
            `Europe/Berlin`.
    """

    source: SegmentsSourceRequest | UploadSourceRequest | UrlSourceRequest
    title: str | Unset = UNSET
    profile: Profile | Unset = UNSET
    collection_id: None | str | Unset = UNSET
    language: str | Unset = UNSET
    audio: str | Unset = UNSET
    external_id: str | Unset = UNSET
    duration_ms: int | Unset = UNSET
    metadata: VideoRequestMetadata | Unset = UNSET
    recorded_at: datetime.datetime | Unset = UNSET
    time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.upload_source_request import UploadSourceRequest  # noqa: PLC0415
        from ..models.url_source_request import UrlSourceRequest  # noqa: PLC0415

        source: dict[str, Any]
        if isinstance(self.source, UploadSourceRequest):
            source = self.source.to_dict()
        elif isinstance(self.source, UrlSourceRequest):
            source = self.source.to_dict()
        else:
            source = self.source.to_dict()

        title = self.title

        profile: str | Unset = UNSET
        if not isinstance(self.profile, Unset):
            profile = self.profile

        collection_id: None | str | Unset
        if isinstance(self.collection_id, Unset):
            collection_id = UNSET
        else:
            collection_id = self.collection_id

        language = self.language

        audio = self.audio

        external_id = self.external_id

        duration_ms = self.duration_ms

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        recorded_at: str | Unset = UNSET
        if not isinstance(self.recorded_at, Unset):
            recorded_at = self.recorded_at.isoformat()

        time_zone = self.time_zone

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
            }
        )
        if title is not UNSET:
            field_dict["title"] = title
        if profile is not UNSET:
            field_dict["profile"] = profile
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if language is not UNSET:
            field_dict["language"] = language
        if audio is not UNSET:
            field_dict["audio"] = audio
        if external_id is not UNSET:
            field_dict["external_id"] = external_id
        if duration_ms is not UNSET:
            field_dict["duration_ms"] = duration_ms
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at
        if time_zone is not UNSET:
            field_dict["time_zone"] = time_zone

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.segments_source_request import SegmentsSourceRequest  # noqa: PLC0415
        from ..models.upload_source_request import UploadSourceRequest  # noqa: PLC0415
        from ..models.url_source_request import UrlSourceRequest  # noqa: PLC0415
        from ..models.video_request_metadata import VideoRequestMetadata  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_source(data: object) -> SegmentsSourceRequest | UploadSourceRequest | UrlSourceRequest:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_video_source_request_type_0 = UploadSourceRequest.from_dict(data)

                return componentsschemas_video_source_request_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_video_source_request_type_1 = UrlSourceRequest.from_dict(data)

                return componentsschemas_video_source_request_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_video_source_request_type_2 = SegmentsSourceRequest.from_dict(data)

            return componentsschemas_video_source_request_type_2

        source = _parse_source(d.pop("source"))

        title = d.pop("title", UNSET)

        _profile = d.pop("profile", UNSET)
        profile: Profile | Unset
        if isinstance(_profile, Unset):
            profile = UNSET
        else:
            profile = check_profile(_profile)

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

        duration_ms = d.pop("duration_ms", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: VideoRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = VideoRequestMetadata.from_dict(_metadata)

        _recorded_at = d.pop("recorded_at", UNSET)
        recorded_at: datetime.datetime | Unset
        if isinstance(_recorded_at, Unset):
            recorded_at = UNSET
        else:
            recorded_at = datetime.datetime.fromisoformat(_recorded_at)

        time_zone = d.pop("time_zone", UNSET)

        video_request = cls(
            source=source,
            title=title,
            profile=profile,
            collection_id=collection_id,
            language=language,
            audio=audio,
            external_id=external_id,
            duration_ms=duration_ms,
            metadata=metadata,
            recorded_at=recorded_at,
            time_zone=time_zone,
        )

        video_request.additional_properties = d
        return video_request

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

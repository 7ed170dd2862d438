from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.profile import Profile, check_profile
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.upload_request_metadata import UploadRequestMetadata


T = TypeVar("T", bound="UploadRequest")


@_attrs_define
class UploadRequest:
    """
    Attributes:
        filename (str):
        size_bytes (int):
        content_type (str):
        sha256 (str | Unset): SHA-256 of the whole file, in hex.
        part_checksums (bool | Unset): Sign every part with its SHA-256. Then part-urls and complete need the SHA-256 of
            every part. By default `false`.
        collection_id (None | str | Unset):
        profile (Profile | Unset):
        title (str | Unset): By default the file name.
        language (str | Unset): Language that is spoken, by its ISO 639-1 code. By default it is detected in the first
            speech.
        audio (str | Unset): Audio tracks to listen to: `all` (the default), or numbers and languages separated by
            commas, such as `2` or `de,en`. If no track matches, the service listens to all. `probe.audio_tracks` shows the
            result.
        external_id (str | Unset):
        duration_ms (int | Unset): Duration of the recording, if you know it. So many minutes of your plan and budget
            are reserved until it is measured. By default the duration is assumed by the size.
        metadata (UploadRequestMetadata | Unset):
        recorded_at (datetime.datetime | Unset): When the recording began: an ISO date and time with an offset such as
            `+02:00` or `Z`, or without one if `time_zone` says where.
        time_zone (str | Unset): IANA name of the time zone in which you speak about the recording, such as
            `Europe/Berlin`.
    """

    filename: str
    size_bytes: int
    content_type: str
    sha256: str | Unset = UNSET
    part_checksums: bool | Unset = UNSET
    collection_id: None | str | Unset = UNSET
    profile: Profile | Unset = UNSET
    title: str | Unset = UNSET
    language: str | Unset = UNSET
    audio: str | Unset = UNSET
    external_id: str | Unset = UNSET
    duration_ms: int | Unset = UNSET
    metadata: UploadRequestMetadata | Unset = UNSET
    recorded_at: datetime.datetime | Unset = UNSET
    time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        filename = self.filename

        size_bytes = self.size_bytes

        content_type = self.content_type

        sha256 = self.sha256

        part_checksums = self.part_checksums

        collection_id: None | str | Unset
        if isinstance(self.collection_id, Unset):
            collection_id = UNSET
        else:
            collection_id = self.collection_id

        profile: str | Unset = UNSET
        if not isinstance(self.profile, Unset):
            profile = self.profile

        title = self.title

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
                "filename": filename,
                "size_bytes": size_bytes,
                "content_type": content_type,
            }
        )
        if sha256 is not UNSET:
            field_dict["sha256"] = sha256
        if part_checksums is not UNSET:
            field_dict["part_checksums"] = part_checksums
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if profile is not UNSET:
            field_dict["profile"] = profile
        if title is not UNSET:
            field_dict["title"] = title
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
        from ..models.upload_request_metadata import UploadRequestMetadata  # noqa: PLC0415

        d = dict(src_dict)
        filename = d.pop("filename")

        size_bytes = d.pop("size_bytes")

        content_type = d.pop("content_type")

        sha256 = d.pop("sha256", UNSET)

        part_checksums = d.pop("part_checksums", UNSET)

        def _parse_collection_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        collection_id = _parse_collection_id(d.pop("collection_id", UNSET))

        _profile = d.pop("profile", UNSET)
        profile: Profile | Unset
        if isinstance(_profile, Unset):
            profile = UNSET
        else:
            profile = check_profile(_profile)

        title = d.pop("title", UNSET)

        language = d.pop("language", UNSET)

        audio = d.pop("audio", UNSET)

        external_id = d.pop("external_id", UNSET)

        duration_ms = d.pop("duration_ms", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: UploadRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = UploadRequestMetadata.from_dict(_metadata)

        _recorded_at = d.pop("recorded_at", UNSET)
        recorded_at: datetime.datetime | Unset
        if isinstance(_recorded_at, Unset):
            recorded_at = UNSET
        else:
            recorded_at = datetime.datetime.fromisoformat(_recorded_at)

        time_zone = d.pop("time_zone", UNSET)

        upload_request = cls(
            filename=filename,
            size_bytes=size_bytes,
            content_type=content_type,
            sha256=sha256,
            part_checksums=part_checksums,
            collection_id=collection_id,
            profile=profile,
            title=title,
            language=language,
            audio=audio,
            external_id=external_id,
            duration_ms=duration_ms,
            metadata=metadata,
            recorded_at=recorded_at,
            time_zone=time_zone,
        )

        upload_request.additional_properties = d
        return upload_request

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

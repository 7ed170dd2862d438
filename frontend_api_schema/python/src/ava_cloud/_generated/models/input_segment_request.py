from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.upload_source_request import UploadSourceRequest
    from ..models.url_source_request import UrlSourceRequest


T = TypeVar("T", bound="InputSegmentRequest")


@_attrs_define
class InputSegmentRequest:
    """
    Attributes:
        source (UploadSourceRequest | UrlSourceRequest): Where the segment comes from: an upload or a URL.
        duration_ms (int | Unset): Duration of the recording, if you know it. So many minutes of your plan and budget
            are reserved until it is measured. By default the duration is assumed by the size.
        recorded_at (datetime.datetime | Unset): When the recording began: an ISO date and time with an offset such as
            `+02:00` or `Z`, or without one if `time_zone` says where.
        time_zone (str | Unset): IANA name of the time zone of `recorded_at`; by default the video's. The video takes it
            over if it has none.
    """

    source: UploadSourceRequest | UrlSourceRequest
    duration_ms: int | Unset = UNSET
    recorded_at: datetime.datetime | Unset = UNSET
    time_zone: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.upload_source_request import UploadSourceRequest  # noqa: PLC0415

        source: dict[str, Any]
        if isinstance(self.source, UploadSourceRequest):
            source = self.source.to_dict()
        else:
            source = self.source.to_dict()

        duration_ms = self.duration_ms

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
        if duration_ms is not UNSET:
            field_dict["duration_ms"] = duration_ms
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at
        if time_zone is not UNSET:
            field_dict["time_zone"] = time_zone

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.upload_source_request import UploadSourceRequest  # noqa: PLC0415
        from ..models.url_source_request import UrlSourceRequest  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_source(data: object) -> UploadSourceRequest | UrlSourceRequest:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_input_segment_source_request_type_0 = UploadSourceRequest.from_dict(data)

                return componentsschemas_input_segment_source_request_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_input_segment_source_request_type_1 = UrlSourceRequest.from_dict(data)

            return componentsschemas_input_segment_source_request_type_1

        source = _parse_source(d.pop("source"))

        duration_ms = d.pop("duration_ms", UNSET)

        _recorded_at = d.pop("recorded_at", UNSET)
        recorded_at: datetime.datetime | Unset
        if isinstance(_recorded_at, Unset):
            recorded_at = UNSET
        else:
            recorded_at = datetime.datetime.fromisoformat(_recorded_at)

        time_zone = d.pop("time_zone", UNSET)

        input_segment_request = cls(
            source=source,
            duration_ms=duration_ms,
            recorded_at=recorded_at,
            time_zone=time_zone,
        )

        input_segment_request.additional_properties = d
        return input_segment_request

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
